"""Whether the new labels disagree with what the earlier ones said of the groups.

A group is said to have changed if two things hold: its new labels would have been a surprise, and
what they say of it by themselves differs from what was known by more than matters.

A surprise is a bet that was won: how many times as probable the labels are if the group changed
as if it did not. Nothing changed, then the bet ever wins a factor of k, at whatever label one
looks, with a probability of at most 1 / k; so one may look after every label.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, filled_groups, group_share
from worker.core.posterior.moments import moments
from worker.core.posterior.pairwise import Region, regions_of
from worker.core.posterior.summary import marginal
from worker.core.prior.rising import log_rising, rising

Floats = NDArray[np.float64]

LEVEL = 0.05  # of ever a false flag, over all looks, all groups and the pool together
_SHARES = 2  # half of the level is for the groups, half for the pool
# What the bet is laid on, each as likely: accuracies moved by so much, in logits; or such a share
# of what was right is wrong now, however sure the classifier was of it.
_SHIFTS, _LAPSES = np.array([-1.5, -0.5, 0.5, 1.5]), np.array([0.15, 0.4])
_LEAST_RATE = 1e-9
SURE = 0.95  # of a difference that matters
_Z = float(special.ndtri(0.975))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What the new labels say of every group, and of the pool, beside the earlier ones.

    p: (G,) how surprising the new labels are: the probability of ever such a bet, or a better one,
        if nothing changed, is no greater; 1 without new labels. adjusted: (G,) so that none of all
        groups is ever at or below alpha with a probability of more than alpha (Holm), in the half
        of the level that is the groups'. below, within, above: (G,) probabilities that the value is
        lower by more than epsilon, about equal, or higher; nan for groups without new or without
        earlier labels. changed: (G,).
    difference: (G, 3) mean and 95% interval of how much higher the value is; nan likewise.
    whole_p, whole, whole_difference: the same of all groups together; whole_p is adjusted for the
        groups' half. whole_changed: whether the pool is flagged.
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
        Ville (1939): the factor is a martingale where labels come as the earlier ones foretell, on
        average over the truths that these leave plausible; Shafer, "Testing by betting" (2021). 1
        over it is a p-value at any time; Holm (1979) over the groups.
    """
    then, now = thens[0], nows[0]
    asked = np.zeros(now.n_groups, dtype=bool)
    asked[np.unique(now.group[now.right + now.wrong > 0])] = True
    asked &= has_then
    below, within, above = (np.full(now.n_groups, np.nan) for _ in range(3))
    for g in np.flatnonzero(asked).tolist():
        distributions = [marginal(now, g), marginal(then, g)]
        below[g], within[g], above[g] = regions_of(distributions, [(0, 1)], epsilon)[0]
    told = np.flatnonzero(asked[now.group] & (now.right + now.wrong > 0))
    p, adjusted = np.ones((2, now.n_groups))
    p[asked] = _p_values(_by_group(_chances(then, now, told), then))[asked]
    adjusted[has_then] = np.minimum(_SHARES * holm(p[has_then]), 1.0)
    is_sure = np.nan_to_num(np.fmax(below, above)) >= SURE
    changed = asked & (adjusted <= LEVEL) & is_sure
    logs = [_of_all(_chances(b, now, told), b) for b in _equally(thens)]
    whole_p = min(_SHARES * float(_p_values(special.logsumexp(logs, axis=0))), 1.0)
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
    """(n,) p-values adjusted: any false one is at or below alpha with a probability <= alpha.

    >>> holm(np.array([0.01, 0.04, 0.5])).round(4).tolist()
    [0.03, 0.08, 0.5]
    """
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _chances(then: Belief, now: Belief, told: NDArray[np.intp]) -> Floats:
    """(S, G, V) log probabilities of the new labels by component: unchanged, then by each bet.

    Args:
        told: the cells whose labels count.
    """
    a, b = then.alpha[told], then.beta[told]
    total = a + b
    right, wrong = rising(now.right[told]), rising(now.wrong[told])
    was = np.clip(a / total, _LEAST_RATE, 1 - _LEAST_RATE)
    logit = special.logit(was)
    rates = [was, *(special.expit(logit + by) for by in _SHIFTS), *(was * (1 - x) for x in _LAPSES)]
    chances = np.zeros((len(rates), then.n_groups, a.shape[1]))
    whatever = log_rising(total, rising(now.right[told] + now.wrong[told]))[0]
    for rate, chance in zip(rates, chances, strict=True):
        logs = log_rising(total * rate, right)[0] + log_rising(total * (1 - rate), wrong)[0]
        np.add.at(chance, then.group[told], logs - whatever)
    return chances


def _by_group(chances: Floats, then: Belief) -> Floats:
    """(S, G) log probabilities of each group's labels."""
    logs: Floats = special.logsumexp(chances + np.log(then.mixture), axis=2)
    return logs


def _of_all(chances: Floats, then: Belief) -> Floats:
    """(S,) log probabilities of all labels."""
    if then.metric.pooled:  # one component for all groups
        return _by_group(chances.sum(axis=1, keepdims=True), then)[:, 0]
    total: Floats = _by_group(chances, then).sum(axis=1)
    return total


def _p_values(logs: Floats) -> Floats:
    """(...,) 1 over the factor that the bets win, at most 1, of log probabilities (S, ...)."""
    won = special.logsumexp(logs[1:], axis=0) - np.log(len(logs) - 1) - logs[0]
    p: Floats = np.exp(-np.maximum(won, 0.0))
    return p


def _difference(thens: Sequence[Belief], nows: Sequence[Belief]) -> tuple[float, float]:
    """Mean and standard deviation of how the groups' values, weighted by their shares, differ."""
    was, is_now = _total(thens), _total(nows)
    return is_now[0] - was[0], (is_now[1] + was[1]) ** 0.5


def _beyond(mean: float, sd: float, epsilon: float) -> Region:
    """Where a difference of a normal distribution lies."""
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
