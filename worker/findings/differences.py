"""How far apart the values of a few groups are: what the posterior says of each difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.intervals import equal_tailed, held_ends
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.metrics import RATIOS
from worker.core.posterior.summary import draws, mean
from worker.core.stopping.verdict import Verdict
from worker.formats import counted
from worker.metrics import METRICS
from worker.plan.models_part import DEFAULT_EPSILON
from worker.plan.stop_part import RopeRule

Floats = NDArray[np.float64]

MOST = 6  # differences


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The value of `first` less that of `second`, both indices of groups.

    mean, low to high: of the difference (of ratios the median), with its 95% interval. below,
    within, above: the probabilities of the region of practical equivalence, and of either side of
    it. drawn: (2,000,) the difference in each posterior draw.
    """

    first: int
    second: int
    mean: float
    low: float
    high: float
    below: float
    within: float
    above: float
    drawn: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Some differences, and which these are. epsilon: up to which two values count as equal."""

    epsilon: float
    text: str
    of: tuple[Difference, ...]


def differences_of(
    assessment: Assessment, belief: Belief, verdict: Verdict, most: int = MOST
) -> Differences | None:
    """The pairs that are compared, the least sure first; else the first group beside the next ones.

    None where no two values stand beside each other, where all are known exactly, and of a cost
    that is not compared, of which nobody said how much matters.
    """
    if belief.soft_labels is not None or belief.metric.pooled or belief.parts:
        return None
    question = assessment.question
    is_compared = question.task == "compare"
    if not is_compared and METRICS[assessment.plan.question.metric].range is None:
        return None
    drawn = draws(belief)
    if is_compared:
        every = sorted(range(len(verdict.pairs)), key=lambda n: verdict.pairs[n].confidence)
        told = [verdict.pairs[n] for n in every[:most]]
        pairs = [(pair.g1, pair.g2) for pair in told]
        found = np.array([(pair.p_below, pair.p_within, pair.p_above) for pair in told])
        epsilon, text = question.epsilon, _least_sure(len(pairs), len(every))
    else:
        ordered = _ordered(assessment, belief, verdict)
        if len(ordered) < 2:
            return None
        first, *others = ordered
        pairs = [(first, g) for g in others[:most]]
        is_of_models = assessment.best_model is not None
        epsilon = question.tolerance or (DEFAULT_EPSILON if is_of_models else RopeRule().epsilon)
        found = _regions(drawn, pairs, epsilon)
        text = _next(assessment, first, len(pairs), len(others))
    apart = drawn[:, [g for g, _ in pairs]] - drawn[:, [g for _, g in pairs]]
    if not np.ptp(apart, axis=0).any():
        return None
    ends, value = _intervals(belief, drawn, pairs), mean(belief)
    middle = (
        np.median(apart, axis=0)
        if belief.metric.kind in RATIOS
        else [value[a] - value[b] for a, b in pairs]
    )
    of = []
    for n, (a, b) in enumerate(pairs):
        (low, high), (below, within, above) = ends[n].tolist(), found[n].tolist()
        mid = float(middle[n])
        of.append(Difference(a, b, mid, low, high, below, within, above, apart[:, n]))
    return Differences(epsilon, text, tuple(of))


def _intervals(belief: Belief, drawn: Floats, pairs: list[tuple[int, int]]) -> Floats:
    """(P, 2) equal-tailed, also if either value is the end that its own interval reaches.

    Else the difference to a group without an error so far would be surer than that group is.
    """
    first, second = np.array(pairs).T
    every = [(drawn[:, first], drawn[:, second])]
    if belief.accuracies is None:
        for end in held_ends(belief).T:
            of_first, of_second = np.broadcast_to(end, drawn.shape)[:, first], end[None, second]
            every += [(of_first, drawn[:, second]), (drawn[:, first], of_second)]
    bounds = np.stack([equal_tailed(a - b) for a, b in every])
    return np.stack([np.nanmin(bounds[..., 0], 0), np.nanmax(bounds[..., 1], 0)], axis=1)


def _ordered(assessment: Assessment, belief: Belief, verdict: Verdict) -> list[int]:
    """The groups with items, from the end that is asked about; of models as they are ranked.

    Of an estimate the largest first: whichever seems the lowest where labels go to all alike stands
    out by chance, too.
    """
    if assessment.best_model is not None:
        return list(verdict.ranking)
    value, size = mean(belief), group_size(belief)
    key = {"lowest": value, "highest": -value}[assessment.question.which]
    order = np.argsort(-size if assessment.question.task == "estimate" else key, kind="stable")
    return [int(g) for g in order if size[g]]


def _regions(drawn: Floats, pairs: list[tuple[int, int]], epsilon: float) -> Floats:
    """(P, 3) the shares of the draws below, within and above, whatever the groups share."""
    first, second = np.array(pairs).T
    apart = drawn[:, first] - drawn[:, second]
    below, above = apart < -epsilon - SLACK, apart > epsilon + SLACK
    return np.stack([of.mean(axis=0) for of in (below, ~below & ~above, above)], axis=1)


def _least_sure(n: int, of: int) -> str:
    if n == of:
        return f"{counted(of, 'pair')} in question, the least sure first."
    return f"The {n} least sure of {of:,} pairs in question."


def _next(assessment: Assessment, first: int, n: int, of: int) -> str:
    what = "model" if assessment.best_model is not None else "group"
    is_by_size = assessment.question.task == "estimate"
    place = f"the largest {what}" if is_by_size else "the first of all as they are ordered above"
    text = f"{assessment.group_names[first]}, {place}, beside "
    if n == of:
        return f"{text}{'the other one' if n == 1 else f'each of the {n} others'}."
    return f"{text}the {n} {what}s that come next; {counted(of - n, f'further {what}')} left out."
