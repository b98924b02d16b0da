"""What is known of the single entries of a confusion matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, cells_of, filled_groups, group_size, unlabelled
from worker.core.posterior.counts import beta_binomials
from worker.core.posterior.drawing import N_DRAWS, draw_entries
from worker.core.posterior.intervals import interval
from worker.core.posterior.parts import Part, part_of

Floats = NDArray[np.float64]

_COUNTED = 500  # items; of more, a share is taken for continuous
_BLOCK = 1 << 20  # numbers held at once
_ROUNDING = 1e-13


def confusion_interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 1 + L, 2) equal-tailed intervals of the share of right answers and of each kind of error.

    Of the right answers as `interval`. A kind's number among the unlabelled items is taken for
    beta-binomial (of more than 500 items, or endless ones, for Beta) with its own exact mean and
    variance. With one cell and one component a group and a Dirichlet for all classes, it is just
    that; else it is a mixture of sums of such, and the intervals were found to hold their level to
    within 2 percentage points. No draws, which for 100 classes would be a hundred million, but for
    labels in doubt, where there is no other way.

    Raises:
        ValueError: the belief does not count kinds of errors, or `level` is not inside (0, 1).
    """
    if b.errors is None:
        raise ValueError("kinds of errors are not counted here; pass `errors` to the belief.")
    if b.variants:
        tail = (1 - level) / 2
        drawn = draw_entries(b, np.random.default_rng(N_DRAWS), N_DRAWS)
        return np.moveaxis(np.quantile(drawn, [tail, 1 - tail], axis=0), 0, 2)
    bounds = np.full((b.n_groups, 1 + b.errors.counts.shape[1], 2), np.nan)
    bounds[:, 0] = interval(b, level)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    filled = filled_groups(b)
    if not filled.size:
        return bounds
    part = part_of(b, filled, slice(0, b.group.size))
    for i, g in enumerate(filled.tolist()):
        cells, size = cells_of(b, g), int(group_size(b)[g])
        if not size:
            continue
        share, variance = _to_come(b, part, part.weight[i], cells)
        if b.population == "infinite":
            bounds[g, 1:] = _of_share(share, variance, tails)
            continue
        n_items = int(unlabelled(b)[cells].sum())
        if n_items > _COUNTED:
            to_come = np.rint(n_items * _of_share(share, variance, tails))
        else:
            to_come = _of_count(n_items, share, variance, tails)
        bounds[g, 1:] = (b.errors.counts[cells].sum(axis=0)[:, None] + to_come) / size
    return bounds


def _to_come(b: Belief, part: Part, weight: Floats, cells: slice) -> tuple[Floats, Floats]:
    """(L,) mean and variance of each kind's share of the items to come; of all, in endless groups.

    Of each entry what `worker.core.posterior.confusion` has of their sum.
    """
    assert b.errors is not None, "checked by the caller"
    mass, spread = part.mass[cells], part.spread[cells]
    wrong = mass * (1 - part.rho[cells])
    behind = b.errors.counts[cells] + b.errors.prior[cells]
    strength = behind.sum(axis=1, keepdims=True)
    kinds = behind / strength
    squared = spread + wrong**2
    if b.population == "finite":
        squared = squared + strength * wrong
    within = kinds**2 * (spread @ weight)[:, None]
    within += kinds * (1 - kinds) * (squared @ weight)[:, None] / (strength + 1)
    of_component = wrong.T @ kinds  # (U, L)
    mean = weight @ of_component
    variance = within.sum(axis=0) + weight @ (of_component - mean) ** 2
    n_items = max(float(mass.sum()), 1.0)
    return mean / n_items, variance / n_items**2


def _of_share(share: Floats, variance: Floats, tails: Floats) -> Floats:
    """(L, 2) quantiles of the Beta with this mean and variance."""
    is_open = variance > 0
    p, v = np.where(is_open, share, 0.5), np.where(is_open, variance, 0.1)
    strength = np.maximum(p * (1 - p) / v - 1, 1e-6)
    found = special.betaincinv((p * strength)[:, None], ((1 - p) * strength)[:, None], tails)
    bounds: Floats = np.where(is_open[:, None], found, share[:, None])
    return bounds


def _of_count(n_items: int, share: Floats, variance: Floats, tails: Floats) -> Floats:
    """(L, 2) quantiles of the beta-binomial with this mean and variance of its share."""
    counts = np.zeros((share.size, 2))
    is_open = np.flatnonzero(variance > 0)  # else there will be none of this kind
    p, v = share[is_open], variance[is_open]
    # a single item has no overdispersion
    excess = (n_items * v / (p * (1 - p)) - 1) / max(n_items - 1, 1)
    strength = 1 / np.clip(excess, 1e-9, 1 - 1e-9) - 1
    step = max(1, _BLOCK // (n_items + 1))
    for at in range(0, is_open.size, step):
        some = slice(at, at + step)
        a, c = p[some] * strength[some], (1 - p[some]) * strength[some]
        below = np.cumsum(beta_binomials(np.array([n_items]), a, c), axis=0)
        for side, tail in enumerate(tails.tolist()):
            counts[is_open[some], side] = (below < tail - _ROUNDING).sum(axis=0)
    return counts
