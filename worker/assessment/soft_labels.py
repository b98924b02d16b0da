"""From the votes of a tally to a belief about a measure, and to the items' votes for reports.

For the task `evaluate`: there is no right class. What is known of an item is how often each class
came, under the rule `frequencies`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.assessment.kind import Ints, OneModel
from worker.assessment.outcomes import metric_of
from worker.assessment.resolving import until
from worker.core.posterior.belief import Belief
from worker.core.posterior.counts import BoundedCache
from worker.core.questions.question import Question
from worker.core.soft_labels.design import Design, design_of, expected_measure
from worker.core.soft_labels.known import DistanceMeasure, Known, VoteCounts, known, measured_by
from worker.evaluator.frequencies import Frequencies, from_counts
from worker.evaluator.measures import FLOOR, MEASURES, Floats
from worker.plan import Plan
from worker.pool import Pool
from worker.store.rules import frequencies
from worker.store.tally import read_tally_key

_STREAM = 6  # of the plan's seed
_MISFIT_OF_DIVERGENCE = 0.25
# A belief takes some tenths of a second, and a turn asks for the same one several times.
_known = BoundedCache(1 << 23)


@dataclass(frozen=True, slots=True, eq=False)
class SoftLabels(OneModel):
    """Votes of which none is right or wrong.

    distance: the measure. design: the cells before the first vote.
    """

    distance: DistanceMeasure
    design: Design

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        return _belief(tally, self.plan, self.pool, self.distance, self.design, seed)

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        return self.believe(until(tally, stage), seed)

    def items_measured(self, votes: Votes) -> Floats:
        """(R, n) equally likely measures of each item with votes, as the belief has them."""
        measured = measured_by(self.distance, votes.vote_counts, (self.plan.seed, _STREAM))
        drawn: Floats = self.distance.highest * measured.drawn
        return drawn


def soft_labels(plan: Plan, pool: Pool) -> SoftLabels:
    """What the task `evaluate` makes of a plan and its pool."""
    assert plan.evaluate is not None, "asked for the task evaluate"
    distance = distance_measure(plan.evaluate.measure)
    probability = pool.probability
    assert probability is not None, "a pool for the task evaluate has them"

    def share(human: Floats, predicted: Floats) -> Floats:
        return distance.of(human, predicted) / distance.highest

    expected = expected_measure(probability, pool.cell_start, pool.cell_size, share)
    design = design_of(expected, pool.cell_group, pool.cell_size)
    question = Question("estimate", which="highest")  # a distance: the greater, the worse
    first = _belief({}, plan, pool, distance, design, plan.seed)
    return SoftLabels(plan, pool, question, first, distance, design)


def distance_measure(measure: str) -> DistanceMeasure:
    """A measure of items by its name, and the greatest value that it can have."""
    found = MEASURES[measure]
    if found.high is not None:
        return DistanceMeasure(found.of, found.high)
    # a divergence hangs on classes that nobody chose among some votes: on what the prior says
    return DistanceMeasure(found.of, float(np.log2(1 / FLOOR)), misfit=_MISFIT_OF_DIVERGENCE)


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """The items with votes, in the order of their rows.

    row, cell: (n,). counts: (n, K). predicted: (n, K), rows sum to 1.
    """

    row: Ints
    cell: Ints
    counts: Ints
    predicted: Floats

    @property
    def vote_counts(self) -> VoteCounts:
        """What the belief takes of them."""
        return VoteCounts(self.counts, self.predicted, self.cell)

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """(n,) whether no class has more votes than the predicted one."""
        first = self.predicted.argmax(axis=1)
        most: NDArray[np.bool_] = self.counts[np.arange(len(first)), first] == self.counts.max(
            axis=1
        )
        return most


def votes_of_tally(tally: Mapping[str, int], pool: Pool) -> Votes:
    """Read the votes out of a tally whose labels are those of the rule `frequencies`.

    Votes for no class of the pool are left out; the labelling configuration has none.
    """
    code = {name: k for k, name in enumerate(pool.classes)}
    found = []
    for key in tally:
        of = read_tally_key(key)
        row, said = frequencies(of.label)
        given = [(code[name], n) for name, n in said.items() if name in code]
        if given:
            found.append((row, of.cell, given))
    found.sort(key=lambda one: one[0])
    counts = np.zeros((len(found), len(code)), dtype=np.int64)
    for at, (_, _, given) in enumerate(found):
        for k, n in given:
            counts[at, k] = n
    rows: Ints = np.array([one[0] for one in found], dtype=np.int64)
    cells: Ints = np.array([one[1] for one in found], dtype=np.int64)
    assert pool.probability is not None, "a pool for the task evaluate has them"
    predicted: Floats = pool.probability[rows].astype(np.float64)
    predicted /= predicted.sum(axis=1, keepdims=True)
    return Votes(rows, cells, counts, predicted)


def collected(tally: Mapping[str, int], pool: Pool) -> Frequencies:
    """What people said so far of the items of a live assessment.

    Raises:
        EvaluatorError: nobody voted yet.
    """
    votes = votes_of_tally(tally, pool)
    ids = tuple(pool.item_ids[int(row)].as_py() for row in votes.row)
    return from_counts(ids, votes.counts.astype(np.float64), pool.classes)


def _belief(
    tally: Mapping[str, int],
    plan: Plan,
    pool: Pool,
    distance: DistanceMeasure,
    design: Design,
    seed: int,
) -> Belief:
    """The belief about the measure of every group."""
    votes = votes_of_tally(tally, pool)
    n_groups = len(pool.group_names)
    key = "soft labels", pool.hash, seed, plan.metric, frozenset(tally)
    told: Known | None = _known.get(key)
    if told is None:
        told = known(
            votes.vote_counts, design, pool.cell_group, n_groups, distance, (seed, _STREAM)
        )
        _known.put(key, told, told.values.size + 60 * len(tally) + design.columns.size)
    right = np.bincount(votes.cell[votes.agrees], minlength=pool.n_cells)
    one = np.ones(pool.n_cells)
    return Belief(
        group=pool.cell_group,
        size=pool.cell_size,
        right=right,
        wrong=np.bincount(votes.cell, minlength=pool.n_cells) - right,
        alpha=one,
        beta=one,
        n_groups=n_groups,
        metric=metric_of(plan),
        soft_labels=told,
    )
