"""Confusion matrices: a vector of shares for every group, which can only be estimated."""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Cells, filled_groups
from worker.core.posterior.linear import linear, linear_drop, speaks_for
from worker.core.posterior.parts import Part, centred_means, part_of, sums

Floats = NDArray[np.float64]


def confusion(b: Belief, part: Part, cells: Cells, rate: Floats) -> tuple[Floats, Floats]:
    """Confusion: the summed variance of all entries (g, U), and its drop (c,).

    The right answers' entry as in the accuracy, and the sums over the kinds of errors of what
    `_linear` and `_linear_drop` give for a value that is 1 for one kind and 0 for all else.
    """
    assert b.errors is not None, "checked when the belief was made"
    counts = b.errors.counts[cells]
    behind = counts + b.errors.prior[cells]
    strength = behind.sum(axis=1, keepdims=True)
    kinds = behind / strength
    certain = (kinds**2).sum(axis=1, keepdims=True)  # 1 if only one kind can be
    rho, size = part.rho, part.size[:, None]
    ones = np.ones_like(strength)

    mean, variance = linear(b, part, cells, ones, None)
    wrong = part.mass * (1 - rho)
    squared = part.spread + wrong**2
    if b.population == "finite":
        squared = squared + strength * wrong
    entries = part.spread * certain + (1 - certain) * squared / (strength + 1)
    variance = variance + sums(part, entries) / size**2

    # how the kinds' shares differ between the components: (g, U, L)
    known = counts if b.population == "finite" else np.zeros_like(counts)
    shares = sums(part, known[:, None, :] + wrong[:, :, None] * kinds[:, None, :])
    shares = shares / size[:, :, None]
    centred = shares - (part.weight[:, :, None] * shares).sum(axis=1, keepdims=True)
    variance = variance + (centred**2).sum(axis=2)

    drop = linear_drop(part, ones, None, centred_means(part, mean), rate)
    weight = part.weight[part.of]
    reach = part.gain / part.size[part.of, None]
    p_right, p_wrong = np.maximum(rate, 1e-300), np.maximum(1 - rate, 1e-300)
    moved = (weight * rho * (1 - rho) * reach).sum(axis=1, keepdims=True)
    if_right = np.einsum("cu,cul->cl", weight * rho, centred[part.of]) - kinds * moved
    if_wrong = np.einsum("cu,cul->cl", weight * (1 - rho), centred[part.of]) + kinds * moved
    drop = drop + (if_right**2).sum(axis=1) / p_right + (if_wrong**2).sum(axis=1) / p_wrong
    own = (weight * (1 - rho) * speaks_for(part, strength)).sum(axis=1) / part.size[part.of]
    return variance, drop + (1 - certain[:, 0]) * own**2 / p_wrong


def confusion_mean(b: Belief) -> Floats:
    """(G, 1 + L) posterior means of the share of right answers and of each kind of error.

    Raises:
        ValueError: the belief does not count kinds of errors.
    """
    if b.errors is None:
        raise ValueError("kinds of errors are not counted here; pass `errors` to the belief.")
    shares = np.full((b.n_groups, 1 + b.errors.counts.shape[1]), np.nan)
    filled = filled_groups(b)
    if not filled.size:
        return shares
    cells = slice(0, b.group.size)
    part = part_of(b, filled, cells)
    counts, prior = b.errors.counts, b.errors.prior
    kinds = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
    rate = (part.weight[part.of] * part.rho).sum(axis=1, keepdims=True)
    is_finite = b.population == "finite"
    right = part.mass * rate + part.known[:, None]
    wrong = part.mass * (1 - rate) * kinds + (counts if is_finite else 0)
    shares[filled] = sums(part, np.concatenate([right, wrong], axis=1)) / part.size[:, None]
    return shares
