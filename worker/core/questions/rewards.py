"""What one more label is expected to bring."""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, group_share, group_size, unlabelled
from worker.core.posterior.calibration import errors_expected
from worker.core.posterior.intervals import whole
from worker.core.posterior.joint import joint_loadings
from worker.core.posterior.metrics import AFFINE
from worker.core.posterior.mixing import mixed
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import variance

Floats = NDArray[np.float64]

_LEAST_SPREAD = 1e-6  # of a label, that no division goes astray
_LEAST = 1e-300  # of a variance


def question_drop(b: Belief) -> Floats:
    """(C,) how far a label in each cell is expected to lower the squared error that is estimated.

    See `squared_error`.

    Source:
        The reward for groupwise accuracy of Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1;
        here under the predictive, for every metric.
    """
    drop = moments(b).drop
    if b.metric.pooled:
        return drop
    share = group_share(b)
    return share[b.group] * drop + _drop_elsewhere(b, share)


def _drop_elsewhere(b: Belief, share: Floats) -> Floats | float:
    """(C,) what a label tells of the other groups, by what all of them share.

    A label y moves the expectations by Cov(y, common) / Var(y): of the value of group h, whose
    expectation moves by L_h with what is shared, the variance falls by (L_h . D_c)^2 / Var(y),
    where the rate of cell c moves by D_c.
    """
    if b.shared is None:
        return 0.0
    known = moments(b)
    moved, rate = known.moved, known.rate_moved
    everywhere = np.vecdot(rate @ (moved.T @ (share[:, None] * moved)), rate)
    here = share[b.group] * np.vecdot(rate, moved.take(b.group, axis=0)) ** 2
    spread = np.maximum(known.rate * (1 - known.rate), _LEAST_SPREAD)
    return np.where(unlabelled(b) > 0, np.maximum(everywhere - here, 0.0) / spread, 0.0)


def estimate_worth(b: Belief) -> Floats:
    """(C,) what a label in each cell is worth to an estimate of the groups and of the whole pool.

    Both are published: so the share by which the groups' squared error is expected to fall, and
    that by which the variance of their weighted sum is; to first order the logarithm of the product
    of both errors. In a plain sum the pool's, which is far smaller, would have no say. Where groups
    share nothing, or the value is not affine in the right answers, `question_drop`.
    """
    drop = question_drop(b)
    if b.shared is None or b.metric.kind not in AFFINE:
        return drop
    return drop / max(squared_error(b), _LEAST) + _share_of_whole(b)


def _share_of_whole(b: Belief) -> Floats:
    """(C,) by what share a label is expected to lower the variance of the groups' weighted sum.

    By Cov(y, sum)^2 / Var(y). What y has in common with its own group's value, says the drop of
    that; with the others it is what all of them share.
    """
    known, share, load = moments(b), group_share(b), joint_loadings(b)
    moved = -known.moved if b.metric.kind == "bias" else known.moved  # with the right answers
    here = np.vecdot(known.rate_moved, moved.take(b.group, axis=0))
    elsewhere = known.rate_moved @ (share @ moved) - share[b.group] * here
    spread = np.maximum(known.rate * (1 - known.rate), _LEAST_SPREAD)
    together = share[b.group] * np.sqrt(known.drop * spread) + elsewhere
    weighted = share * np.sqrt(np.nan_to_num(known.variance))
    own = weighted**2 @ (1 - (load**2).sum(axis=1))
    total = max(own + ((weighted @ load) ** 2).sum(), _LEAST)
    return np.where(unlabelled(b) > 0, together**2 / spread / total, 0.0)


def squared_error(b: Belief) -> float:
    """The expected squared error of what is estimated: sum_g p_g Var(V_g) over groups with items.

    Where the groups' weighted sum is asked, that of the sum. Of the ECE of a pool it is the error
    of what `whole` says, and the larger one of two: that which the posterior expects, and that if
    the classifier is not calibrated. How probable a calibrated one is beforehand nobody knows; the
    expected error is linear in it, so it is no larger under any prior that has it less probable. By
    the posterior alone an ECE of .04 passes for that of a calibrated classifier, and for known,
    after some tens of labels.

    Source:
        Gamma-minimax: Berger, "Statistical Decision Theory and Bayesian Analysis" (1985), 4.7.
    """
    if b.metric.kind == "ece" and b.metric.pooled:
        said = whole(b)[0]
        return float(mixed(b, lambda of: errors_expected(of, said)).max())
    known = moments(b)
    if known.total is not None:
        return known.total[1]
    return float(np.nansum(group_share(b) * variance(b)))


def drawn_drop(b: Belief, theta: Floats) -> Floats:
    """(C,) drop of Var(group's accuracy) by a label in each cell, expected at drawn rates.

    With M unlabelled items, S labels and pseudo-counts, and mean rate mu in the cell, the finite
    population's beta-binomial variance of the cell's count is M mu (1 - mu)(S + M)/(S + 1); the
    Beta's, for the infinite one, mu (1 - mu)/(S + 1). The "drop" is negative where the likely
    outcome would be a surprise. With several components mu and S are their posterior means.

    Args:
        theta: (C,) drawn rates of right answers.

    Returns:
        (C,), squared accuracy; 0 for cells without unlabelled items.

    Raises:
        ValueError: `theta` does not have one entry a cell.

    Source:
        The reward for groupwise accuracy of Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1,
        without p_g; they know the infinite population and one cell a group only.
    """
    if np.shape(theta) != b.group.shape:
        raise ValueError(
            f"theta has shape {np.shape(theta)}, but the belief covers {b.group.size} cells; "
            "pass one drawn rate a cell."
        )
    known = moments(b)
    weight = known.weight[b.group]
    strength = (weight * (b.alpha + b.beta)).sum(axis=1) + b.right + b.wrong
    a = known.rate * strength
    c = strength - a
    left = unlabelled(b)
    expected = theta * _variance(b, left - 1, a + 1, c)
    expected += (1 - theta) * _variance(b, left - 1, a, c + 1)
    reach = 1 / np.maximum(group_size(b)[b.group], 1)
    if b.population == "infinite":
        reach = reach * b.size
    return np.where(left > 0, (_variance(b, left, a, c) - expected) * reach**2, 0.0)


def _variance(b: Belief, left: NDArray[np.int64], a: Floats, c: Floats) -> Floats:
    """(C,) variance of the cell's rate; of its number of right answers if the pool is finite."""
    strength = a + c
    rate_spread = a * c / (strength**2 * (strength + 1))
    if b.population == "infinite":
        return rate_spread
    return left * rate_spread * (strength + left)
