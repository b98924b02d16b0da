"""The parents of the groups in the report: superclasses with their classes, sites with theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.belief import Belief
from worker.core.between import between, labels_worth
from worker.core.curve import places, right_answers
from worker.core.posterior import draws, interval, mean
from worker.judgements.item_classes import Answered, answered
from worker.judgements.records import Record
from worker.report.contents import Apart, Family, Interval, Reliability
from worker.report.reliability import against_scores, inner_bounds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_SECTIONS = 12  # parents that have a section and a reliability diagram of their own
_MOST_APART = 60  # parents that it is told from how different they are: each takes 50 ms
_SEED = 401


def families(
    work: Assessment, belief: Belief, tally: Mapping[str, int], records: Sequence[Record]
) -> tuple[tuple[Family, ...], Apart | None]:
    """What is known of every parent's accuracy, whatever the metric, and how different they are.

    Parents are those of the plan's `pool.parents`, or the groups themselves where these are the
    sites, or parents (`question.level`). None without them, or where no answer is right.

    The accuracy is a sum over groups, so it comes from the regression behind the smooth curve (see
    `worker.report.reliability`), and from the groups' laws only where there are no scores. Where
    the parents are the groups, and it is accuracy that is asked for, it is that of the groups.
    """
    named = parents_of(work)
    if named is None or belief.judged is not None or work.pool.models is not None:
        return (), None
    names, of_group = named
    pool = work.pool
    known = answered(work, tally, records)
    group = np.repeat(pool.cell_group, pool.cell_size)
    parent = of_group[group]
    size = np.bincount(parent, minlength=len(names))
    filled = np.flatnonzero(size)
    is_as_grouped = names == pool.group_names and bool((of_group[filled] == filled).all())
    is_told = is_as_grouped and work.plan.metric == "accuracy"
    if is_told or not pool.has_scores:
        accuracy = _of_groups(belief, of_group, pool.group_size, len(names))
    else:
        score = pool.score.astype(np.float64)
        rng = np.random.default_rng(_SEED)
        right = right_answers(
            places(score), group, known.rows, known.is_right, rng, by=parent, tells=known.tells
        )
        accuracy = right / np.maximum(np.bincount(parent, minlength=right.shape[1]), 1)
    found = []
    if is_told:  # the very numbers of the section of all groups
        summed = np.column_stack([mean(belief), interval(belief)])
    else:
        ends = np.quantile(accuracy, [0.025, 0.975], axis=0)
        summed = np.column_stack([accuracy.mean(axis=0), *ends])
    for p in filled.tolist():
        is_mine = parent == p
        numbers = (round(x, 6) for x in summed[p].tolist())
        found.append(
            Family(
                name=names[p],
                items=int(size[p]),
                labelled=int(is_mine[known.rows].sum()),
                accuracy=Interval(*numbers),
                groups=tuple(np.flatnonzero((of_group == p) & (pool.group_size > 0)).tolist()),
                reliability=_own(work, is_mine, group, known)
                if pool.has_scores and len(names) <= MOST_SECTIONS
                else None,
            )
        )
    with_labels = np.intersect1d(filled, parent[known.rows])
    if with_labels.size < 2:
        return tuple(found), None
    some = with_labels[
        np.linspace(0, with_labels.size - 1, min(with_labels.size, _MOST_APART)).astype(int)
    ]
    own = [_labels_worth(work, parent == p, group, known) for p in some.tolist()]
    apart = between(*np.array(own).T)
    sd, new = (Interval(*(round(x, 6) for x in of)) for of in (apart.sd, apart.new))
    return tuple(found), Apart(sd, new)


def _labels_worth(
    work: Assessment, is_mine: Bools, group: Ints, known: Answered
) -> tuple[float, float]:
    """As many right and wrong labels as one parent's own ones are worth, for all of its items."""
    mine, group = known.among(is_mine), group[is_mine]
    score = work.pool.score.astype(np.float64)[is_mine]
    at = places(score if work.pool.has_scores else np.full(group.size, 0.5))
    by, told = np.zeros(group.size, dtype=np.int64), []
    for n in (mine.rows.size, 0):
        drawn = right_answers(
            at, group, mine.rows[:n], mine.is_right[:, :n], np.random.default_rng(_SEED),
            by=by, tells=mine.tells[:n],
        )  # fmt: skip
        told.append([drawn.mean() / group.size, drawn.var() / group.size**2])
    right, wrong = labels_worth(*np.array(told)[:, None])
    return float(right[0]), float(wrong[0])


def parents_of(work: Assessment) -> tuple[tuple[str, ...], Ints] | None:
    """The parents' names and (G,) which of them each group has; None if there are none."""
    pool, plan = work.pool, work.plan.pool
    if pool.parents is not None:
        return pool.parents.names, pool.parents.of_group
    if pool.has_children or (plan.sites is not None and plan.groups == plan.site):
        return pool.group_names, np.arange(len(pool.group_names))
    return None


def _of_groups(belief: Belief, of_group: Ints, group_size: Ints, n: int) -> Floats:
    drawn = np.nan_to_num(draws(belief)) * group_size
    is_in = (of_group[:, None] == np.arange(n)).astype(np.float64)
    accuracy: Floats = drawn @ is_in / np.maximum(group_size @ is_in, 1)
    return accuracy


def _own(work: Assessment, is_mine: Bools, group: Ints, known: Answered) -> Reliability:
    """The reliability of one parent's items, from its own labels alone."""
    score = work.pool.score.astype(np.float64)[is_mine]
    return against_scores(score, group[is_mine], inner_bounds(work), known.among(is_mine))
