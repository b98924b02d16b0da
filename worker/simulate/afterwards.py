"""Measures a plain run once it is over: for all points at once, instead of a belief for each.

What is chosen in a plain run (`worker.simulate.plainly`) follows from counts alone, and so does
what is measured: the rankings at a thousand points, and at which of some hundred looks the stop
rule can hold at all. Where it can, it is asked as ever (`worker.simulate.measuring`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.posterior.counts import beta_binomials
from worker.core.posterior.marginals import first_above, first_from
from worker.core.posterior.supposing import counted
from worker.core.questions.question import Question
from worker.core.questions.ranking import mrr
from worker.core.stopping.schedule import POINTS, n_looks_before
from worker.simulate.measuring import Log, Measures, log_steps, looks, only_set
from worker.simulate.plainly import is_plain, plainly

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 1 << 20  # numbers held at once
_N_PAIRS = 4  # of a group in the set and a rival, by which a look is ruled out
_DOUBT = 1e-6  # far above the rounding of a probability


@dataclass(frozen=True, slots=True)
class Course:
    """What a run labelled: (n,) the cell of every label in turn, and (n,) 0 if right, 1 if not."""

    cell: Ints
    wrong: Ints


def is_measured_afterwards(assessment: Assessment, measures: Measures) -> bool:
    """Whether `log_of` can take the run: a plain one of a finite population, to its end."""
    is_finite = assessment.first.population == "finite"
    return is_finite and not measures.only_stop and is_plain(assessment)


def log_of(
    assessment: Assessment,
    outcomes: Sequence[int],
    truth: Floats,
    measures: Measures,
    is_held: bool,
) -> Log:
    """The log of a whole run, as if every label had been taken into it in turn.

    Args:
        outcomes: (N,) of the items, cell after cell, in the order in which they are offered.
        truth: (G,) every group's value on the whole pool.
        is_held: as of `Log`.
    """
    course = _course(assessment, outcomes, measures.until)
    may_end = _open_looks(assessment, course, measures.until)
    log = Log(
        assessment,
        truth,
        measures,
        ranks=_ranks(assessment, course, truth, measures.until),
        asked_at=may_end,
        is_held=is_held,
    )
    points = sorted({*may_end, *measures.at, *_due(measures.until), measures.until})
    for some, counts in _counts_at(course, points, assessment.first.size.size):
        for n, tally in zip(some, counts, strict=True):
            log.take(n, partial(_believed, assessment.first, tally))
    return log


def _believed(first: Belief, tally: Ints) -> Belief:
    return counted(first, tally[:, 0], tally[:, 1])


def _course(assessment: Assessment, outcomes: Sequence[int], until: int) -> Course:
    taken = np.array([at for at, _ in islice(plainly(assessment, outcomes), until)])
    size = assessment.first.size
    return Course(
        np.repeat(np.arange(size.size), size)[taken],
        (np.array(outcomes)[taken] != 0).astype(np.int64),
    )


def _counts_at(
    course: Course, points: Sequence[int], n_cells: int
) -> Iterator[tuple[list[int], Ints]]:
    """Some of the points at a time, ascending, and (P, C, 2) right and wrong labels up to each."""
    so_far = np.zeros((n_cells, 2), dtype=np.int64)
    begin, step = 0, max(1, _BLOCK // (2 * n_cells))
    for at in range(0, len(points), step):
        some = list(points[at : at + step])
        label = np.arange(begin, some[-1])
        begin = some[-1]
        point = np.searchsorted(some, label + 1)
        entry = (point * n_cells + course.cell[label]) * 2 + course.wrong[label]
        counts = np.bincount(entry, minlength=2 * n_cells * len(some)).reshape(-1, n_cells, 2)
        counts[0] += so_far
        upto: Ints = counts.cumsum(axis=0)
        so_far = upto[-1]
        yield some, upto


def _rankings(first: Belief, counts: Ints, question: Question) -> NDArray[np.intp]:
    """(P, G) as `questions.ranking.ranking` of each tally, to the last bit of the means."""
    right, wrong = counts[:, :, 0], counts[:, :, 1]
    a = first.alpha[:, 0] + right
    rate = a / (a + first.beta[:, 0] + wrong)
    means = (right + (first.size - right - wrong) * rate) / first.size
    return np.argsort(means if question.which == "lowest" else -means, axis=1, kind="stable")


def _ranks(assessment: Assessment, course: Course, truth: Floats, until: int) -> list[float]:
    """The mean reciprocal rank at every step of the log."""
    first, q = assessment.first, assessment.question
    members, found = only_set(truth, q), []
    for _, counts in _counts_at(course, log_steps(until), first.size.size):
        orders = _rankings(first, counts, q)
        if members is None:
            found += [mrr(o, truth[None], q.top, q.which, q.tolerance)[0] for o in orders]
        else:
            at = np.nonzero(members[orders])[1].reshape(-1, q.top)
            found += (1 / (1 + at - np.arange(q.top))).mean(axis=1).tolist()
    return list(map(float, found))


def _open_looks(assessment: Assessment, course: Course, until: int) -> list[int]:
    """The looks at which the run may end.

    The rule must be able to hold there, and with several `stop.looks` at as many points of the
    schedule before, for the same set.
    """
    first, q, rule = assessment.first, assessment.question, assessment.rule
    every = list(looks(until, rule.budget))
    if (
        assessment.guard is not None  # then the posterior does not decide
        or rule.confidence is None
        or q.shortlist is not None  # of which any `top` would do
        or q.top >= first.n_groups
        or rule.target <= 1 - 1 / (2 * q.top)  # another set than the right one would do
    ):
        return every
    ends_at = min(assessment.pool.n_items, rule.budget or assessment.pool.n_items)
    n_before, unlimited = assessment.plan.stop.looks - 1, replace(rule, budget=None)
    due, enough = _due(until) if n_before else (), rule.confidence - _DOUBT
    chosen: dict[int, bytes] = {}  # where the rule may hold; at the schedule's points it does
    for some, counts in _counts_at(course, sorted({*every, *due}), first.size.size):
        order = _rankings(first, counts, q)
        may_hold = confidence_at_most(first, counts, order, q, enough) >= enough
        for i in np.flatnonzero(may_hold).tolist():
            if some[i] in due:
                verdict = assessment.ask(_believed(first, counts[i]), 1, unlimited)
                if verdict.reason != "answered":
                    continue
            chosen[some[i]] = np.sort(order[i, : q.top]).tobytes()

    def may_end(n: int) -> bool:
        if n >= ends_at:
            return True
        k = n_looks_before(n)
        sets = [chosen.get(point) for point in (n, *due[max(0, k - n_before) : k])]
        return None not in sets and len(sets) == n_before + 1 and len({*sets}) == 1

    return [n for n in every if may_end(n)]


def _due(until: int) -> tuple[int, ...]:
    """The points of the schedule."""
    return POINTS[: bisect_right(POINTS, until)]


def confidence_at_most(
    first: Belief, counts: Ints, order: NDArray[np.intp], q: Question, enough: float
) -> Floats:
    """(P,) bounds of `worker.core.questions.ranking.set_confidence` of each ranking's `top` groups.

    The set is right only if no group of it is beyond any rival. Of pairs without a group in common
    that is independent, so that their probabilities multiply: the last of the set with the first
    rival, the last but one with the second, and so on.

    Args:
        first: cells that are groups, with one Beta each, of a finite population; no labels.
        counts: (P, G, 2) right and wrong labels.
        order: (P, G) the groups, the most extreme first; more than `top`.
        enough: where a bound is lower already, no further pair is looked at.
    """
    most = np.ones(len(counts))
    for i in range(min(_N_PAIRS, q.top, first.n_groups - q.top)):
        still = np.flatnonzero(most >= enough)
        pair = order[still][:, [q.top - 1 - i, q.top + i]]
        tally = np.take_along_axis(counts[still], pair[:, :, None], axis=1)
        step = max(1, _BLOCK // (2 + int(first.size[pair].max(initial=0))))
        for at in range(0, still.size, step):
            some = slice(at, at + step)
            most[still[some]] *= _not_beyond(first, pair[some], tally[some], q)
    return most


def _not_beyond(first: Belief, pair: NDArray[np.intp], tally: Ints, q: Question) -> Floats:
    """(P,) P(the first group of a pair is not better than the second by more than tolerated)."""
    right, wrong, size = tally[:, :, 0], tally[:, :, 1], first.size[pair]
    left, a, c = size - right - wrong, first.alpha[pair, 0] + right, first.beta[pair, 0] + wrong
    mass, of_rival = (beta_binomials(left[:, j], a[:, j], c[:, j]) for j in (0, 1))
    at_least = np.zeros((len(pair), of_rival.shape[1] + 1))
    at_least[:, :-1] = np.cumsum(of_rival[:, ::-1], axis=1)[:, ::-1]
    value = (right[:, :1] + np.arange(mass.shape[1])) / size[:, :1]
    rival = right[:, 1:].astype(np.float64), size[:, 1:].astype(np.float64), 0.0
    is_lowest = q.which == "lowest"
    reach, by = (first_from, -q.tolerance) if is_lowest else (first_above, q.tolerance)
    at = np.clip(reach(value + by, *rival), 0, of_rival.shape[1])
    share: Floats = (mass * np.take_along_axis(at_least, at, axis=1)).sum(axis=1)
    return share if is_lowest else 1 - share
