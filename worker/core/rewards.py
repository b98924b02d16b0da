"""What one more label is expected to bring."""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior import Belief, cell_mean, cell_strength, group_size, unlabelled

Floats = NDArray[np.float64]


def variance_drop(b: Belief, theta: Floats | None = None) -> Floats:
    """How far a label in each cell is expected to lower the variance of its group's accuracy.

    With M unlabelled items, S labels and pseudo-counts, and mean rate mu in the cell, the finite
    population's beta-binomial variance of the cell's count, M mu (1 - mu)(S + M)/(S + 1), drops by
    mu (1 - mu) (S + M)^2/(S + 1)^2 under the predictive; over N_g^2 for the group's accuracy. The
    infinite population's Beta variance drops by Var/(S + 1).

    Args:
        theta: (C,) drawn rates of right answers, to take the expectation there and not under the
            predictive. The "drop" is then negative where the likely outcome would be a surprise.

    Returns:
        (C,), squared accuracy; 0 for cells without unlabelled items.

    Raises:
        ValueError: `theta` does not have one entry a cell.

    Source:
        The reward for groupwise accuracy of Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1,
        without p_g; they know the infinite population, one cell a group, and a drawn theta only.
    """
    left, strength, mu = unlabelled(b), cell_strength(b), cell_mean(b)
    reach = np.ones_like(mu)  # how the cell's rate weighs in its group's accuracy
    if b.population == "finite":
        reach = 1 / np.maximum(group_size(b)[b.group], 1)
    if theta is None:
        drop = mu * (1 - mu) / (strength + 1) ** 2
        if b.population == "finite":
            drop = drop * (strength + left) ** 2
    else:
        if np.shape(theta) != mu.shape:
            raise ValueError(
                f"theta has shape {np.shape(theta)}, but the belief covers {mu.size} cells; "
                "pass one drawn rate a cell."
            )
        a, c = b.alpha + b.right, b.beta + b.wrong
        expected = theta * _variance(b, left - 1, a + 1, c)
        expected += (1 - theta) * _variance(b, left - 1, a, c + 1)
        drop = _variance(b, left, a, c) - expected
    return np.where(left > 0, drop * reach**2, 0.0)


def _variance(b: Belief, left: NDArray[np.int64], a: Floats, c: Floats) -> Floats:
    """(C,) variance of the cell's rate; of its number of right answers if the pool is finite."""
    strength = a + c
    rate_spread = a * c / (strength**2 * (strength + 1))
    if b.population == "infinite":
        return rate_spread
    return left * rate_spread * (strength + left)
