"""Whether the new labels disagree with what the earlier ones said of the groups.

A group is said to have changed if two things hold: its new labels would have been a surprise, and
what they say of it by themselves differs from what was known by more than matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, Counts, cells_of, filled_groups, group_share
from worker.core.counts import mixed_law
from worker.core.moments import moments
from worker.core.pairwise import Region, regions_of
from worker.core.posterior import marginal

Floats = NDArray[np.float64]

LEVEL = 0.05  # of false flags, over all groups of an assessment
SURE = 0.95  # of a difference that matters
_Z = float(special.ndtri(0.975))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What the new labels say of every group, and of the pool, beside the earlier ones.

    p: (G,) how surprising the new labels are, two-sided; 1 without new labels. adjusted: (G,) for
        as many looks as there are groups with new labels (Holm). below, within, above: (G,)
        probabilities that the value is lower by more than epsilon, about equal, or higher; nan for
        groups without new or without earlier labels. changed: (G,).
    difference: (G, 3) mean and 95% interval of how much higher the value is; nan likewise.
    whole_p, whole, whole_difference: the same of all groups together. whole_changed: whether the
        pool is flagged.
    """

    p: Floats
    adjusted: Floats
    below: Floats
    within: Floats
    above: Floats
    changed: NDArray[np.bool_]
    difference: Floats
    whole_p: float
    whole: Region
    whole_difference: tuple[float, float, float]
    whole_changed: bool


def change(
    thens: Sequence[Belief], nows: Sequence[Belief], has_then: NDArray[np.bool_], epsilon: float
) -> Change:
    """Hold the new labels against the earlier ones.

    Args:
        thens: of this pool's cells, with the earlier labels in the prior at their full worth and no
            label of its own; more than one where what the groups have in common is uncertain: the
            first one for the groups, the others, equally plausible, for the pool.
        nows: of the same cells, with the new labels and without the earlier ones; likewise.
        has_then: (G,) groups with earlier labels.
        epsilon: a difference of the metric's value that does not matter, >= 0.

    Source:
        The predictive p-value of Box, "Sampling and Bayes' inference in scientific modelling"
        (1980), in its middle between P(X <= x) and P(X < x), which for counts is the fair one;
        Holm (1979) over the groups. The law of the new labels is exact for a group: a sum of
        beta-binomials, mixed over the nodes. For the whole pool it is a mixture of normal
        laws of the same moments, whose error is small from some tens of labels on.
    """
    then, now = thens[0], nows[0]
    n = now.right + now.wrong
    asked = np.zeros(now.n_groups, dtype=bool)
    asked[np.unique(now.group[n > 0])] = True
    asked &= has_then
    p, below, within, above = (np.full(now.n_groups, np.nan) for _ in range(4))
    p[:] = 1.0
    for g in np.flatnonzero(asked).tolist():
        own = cells_of(then, g)
        p[g] = _mid_p(_law(then, g, n[own]), float(now.right[own].sum()))
        laws = [marginal(now, g), marginal(then, g)]
        below[g], within[g], above[g] = regions_of(laws, [(0, 1)], epsilon)[0]
    adjusted = np.ones(now.n_groups)
    adjusted[asked] = holm(p[asked])
    is_sure = np.nan_to_num(np.fmax(below, above)) >= SURE
    changed = asked & (adjusted <= LEVEL) & is_sure
    told = asked[now.group] & (n > 0)
    whole_p = _of_all([_labels_to_come(b, n, told) for b in _equally(thens)], now.right[told].sum())
    was, is_now = moments(then), moments(now)
    centre = np.where(asked, is_now.mean - was.mean, np.nan)
    sd = np.sqrt(is_now.variance + was.variance)
    whole_centre, whole_sd = _difference(thens, nows)
    whole = _beyond(whole_centre, whole_sd, epsilon)
    half = _Z * whole_sd
    return Change(
        p=p,
        adjusted=adjusted,
        below=below,
        within=within,
        above=above,
        changed=changed,
        difference=np.stack([centre, centre - _Z * sd, centre + _Z * sd], axis=1),
        whole_p=whole_p,
        whole=whole,
        whole_difference=(whole_centre, whole_centre - half, whole_centre + half),
        whole_changed=bool(asked.any() and whole_p <= LEVEL and max(whole[0], whole[2]) >= SURE),
    )


def holm(p: Floats) -> Floats:
    """(n,) p-values adjusted so that at most a share `alpha` of all looks is ever below `alpha`.

    >>> holm(np.array([0.01, 0.04, 0.5])).round(4).tolist()
    [0.03, 0.08, 0.5]
    """
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _law(then: Belief, g: int, n: Counts) -> Floats:
    """The probabilities of 0, 1, ... right ones among so many labels in each cell of a group."""
    own = cells_of(then, g)
    labels = np.rint(n).astype(np.int64)
    weight = moments(then).weight[g]
    return mixed_law(labels, then.alpha[own], then.beta[own], weight).pmf


def _mid_p(mass: Floats, seen: float) -> float:
    x = round(seen)
    below, at = float(mass[:x].sum()), float(mass[x])
    return min(1.0, 2 * min(below + at / 2, 1 - below - at / 2))


def _labels_to_come(then: Belief, n: Counts, told: NDArray[np.bool_]) -> tuple[float, float]:
    """Mean and variance of the right ones among all new labels."""
    a, c = then.alpha[told], then.beta[told]
    total, labels = a + c, n[told][:, None]
    rate = a / total
    of, weight = then.group[told], moments(then).weight
    means = np.zeros((then.n_groups, a.shape[1]))
    spreads = np.zeros_like(means)
    np.add.at(means, of, labels * rate)
    np.add.at(spreads, of, labels * rate * (1 - rate) * (total + labels) / (total + 1))
    mean = (weight * means).sum(axis=1, keepdims=True)
    variance = (weight * (spreads + (means - mean) ** 2)).sum()
    return float(mean.sum()), float(variance)


def _of_all(laws: Sequence[tuple[float, float]], seen: float) -> float:
    """Two-sided p-value of a count under a mixture of normal laws."""
    below = [
        float(special.ndtr((seen - mean) / variance**0.5)) if variance > 0 else 0.5
        for mean, variance in laws
    ]
    share = float(np.mean(below))
    return 2 * min(share, 1 - share)


def _difference(thens: Sequence[Belief], nows: Sequence[Belief]) -> tuple[float, float]:
    """Mean and standard deviation of how the groups' values, weighted by their shares, differ."""
    was, is_now = _total(thens), _total(nows)
    return is_now[0] - was[0], (is_now[1] + was[1]) ** 0.5


def _beyond(mean: float, sd: float, epsilon: float) -> Region:
    """Where a difference of a normal law lies."""
    if sd <= 0:
        below, above = float(mean < -epsilon), float(mean > epsilon)
    else:
        below = float(special.ndtr((-epsilon - mean) / sd))
        above = float(special.ndtr((mean - epsilon) / sd))
    return below, 1 - below - above, above


def _total(beliefs: Sequence[Belief]) -> tuple[float, float]:
    """Mean and variance of the pool's value, where beliefs are equally plausible."""
    some = filled_groups(beliefs[0])
    share = group_share(beliefs[0])[some]
    found = [moments(b) for b in _equally(beliefs)]
    means = np.array([float(share @ m.mean[some]) for m in found])
    within = np.mean([float(share**2 @ m.variance[some]) for m in found])
    return float(means.mean()), float(means.var() + within)


def _equally(beliefs: Sequence[Belief]) -> Sequence[Belief]:
    """Those that are equally plausible: all but the first, which stands for the others if any."""
    return beliefs[1:] or beliefs
