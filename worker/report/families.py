"""Sites, or the groups' parents, in the report of a question about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.posterior.heterogeneity import heterogeneity, labels_worth
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.core.reliability.curve import right_answers, score_grid
from worker.findings.evidence import tells_whole
from worker.findings.item_classes import Answered, answered
from worker.report.contents import Apart, Family, Interval, Reliability
from worker.report.reliability import against_scores, inner_bounds, without_ece
from worker.store.records import Record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_SECTIONS = 12  # parents that have a section and a reliability diagram of their own
_MOST_APART = 60  # parents that it is told from how different they are: each takes 50 ms
_SEED = 401


def families(
    work: Assessment, belief: Belief, tally: Mapping[str, int], records: Sequence[Record]
) -> tuple[tuple[Family, ...], Apart | None]:
    """What is known of every site or parent that is asked about, and how different they are.

    Of their accuracy, and only where they are the groups (`groups: site`, `question.level:
    parents`). Sums over groups within them held in .86 of 60 runs of an estimate (one class in ten
    mostly wrong at every site): labels lie as the groups need them. Their own reliability comes
    from the regression behind the smooth curve (see `worker.report.reliability`).
    """
    pool, plan = work.pool, work.plan.pool
    is_asked = work.plan.question.level == "parents" or (
        plan.sites is not None and plan.groups == plan.site
    )
    if not is_asked or work.plan.metric != "accuracy":
        return (), None
    if belief.soft_labels is not None or pool.models is not None:
        return (), None
    is_whole = tells_whole(work, belief)
    known = answered(work, tally, records)
    group = np.repeat(pool.cell_group, pool.cell_size)
    filled = np.flatnonzero(pool.group_size)
    told = np.column_stack([mean(belief), interval(belief)])
    found = []
    for g in filled.tolist():
        is_mine = group == g
        found.append(
            Family(
                name=pool.group_names[g],
                items=int(pool.group_size[g]),
                labelled=int(is_mine[known.rows].sum()),
                accuracy=Interval(*(round(float(x), 6) for x in told[g])),
                reliability=_own(work, is_whole, is_mine, group, known)
                if pool.has_scores and len(pool.group_names) <= MOST_SECTIONS
                else None,
            )
        )
    with_labels = np.intersect1d(filled, group[known.rows])
    if with_labels.size < 2:
        return tuple(found), None
    some = with_labels[
        np.linspace(0, with_labels.size - 1, min(with_labels.size, _MOST_APART)).astype(int)
    ]
    own = [_labels_worth(work, group == g, group, known) for g in some.tolist()]
    apart = heterogeneity(*np.array(own).T)
    sd, new = (Interval(*(round(x, 6) for x in of)) for of in (apart.sd, apart.new))
    return tuple(found), Apart(sd, new)


def _labels_worth(
    work: Assessment, is_mine: Bools, group: Ints, known: Answered
) -> tuple[float, float]:
    """As many right and wrong labels as one parent's own ones are worth, for all of its items."""
    mine = known.among(is_mine)
    none = Answered(mine.rows[:0], mine.is_right[:, :0], mine.tells[:0])
    drawn = [_accuracies(work, is_mine, group, labels) for labels in (mine, none)]
    right, wrong = labels_worth(*np.array([[of.mean(), of.var()] for of in drawn])[:, None])
    return float(right[0]), float(wrong[0])


def _accuracies(work: Assessment, is_mine: Bools, group: Ints, known: Answered) -> Floats:
    """(n,) draws of one parent's accuracy, given labels of its items.

    Args:
        known: rows count among the parent's items.
    """
    group = group[is_mine]
    score = work.pool.score.astype(np.float64)[is_mine]
    at = score_grid(score if work.pool.has_scores else np.full(group.size, 0.5))
    by, rng = np.zeros(group.size, dtype=np.int64), np.random.default_rng(_SEED)
    right = right_answers(at, group, known.rows, known.is_right, rng, by=by, tells=known.tells)
    accuracy: Floats = right[:, 0] / group.size
    return accuracy


def _own(
    work: Assessment, is_whole: bool, is_mine: Bools, group: Ints, known: Answered
) -> Reliability:
    """The reliability of one parent's items, from its own labels alone."""
    score = work.pool.score.astype(np.float64)[is_mine]
    own = against_scores(score, group[is_mine], inner_bounds(work), known.among(is_mine))
    return own if is_whole and len(known.is_right) == 1 else without_ece(own)
