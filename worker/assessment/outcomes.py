"""From the classes that annotators give to the outcomes that the statistics count.

An outcome is 0 where the classifier is right, and 1, 2, ... for the kinds of errors that the metric
tells apart: a kind for each cost, or for each class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.metrics import Metric
from worker.core.posterior.views import outcome_of_block
from worker.core.stopping.schedule import fitted_at, stage
from worker.errors import AssayError
from worker.metrics import METRICS
from worker.metrics.kind import Cells, right_or_wrong, whatever_predicted
from worker.plan import Plan
from worker.pool import Pool
from worker.pool.models import blocks_of
from worker.store.tally import read_tally_key

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What every label means; K classes of the pool, L kinds of errors.

    kind: (K, K + 1) [predicted, label] the kind of error, without a meaning where the prediction is
        right; the last label stands for all that are no class of the pool. Where it does not
        depend on the prediction it is one row, seen K times: ten thousand classes would fill a
        gigabyte.
    n_kinds: L; 0 where only right and wrong are told apart.
    metric: with the values that follow from the kinds.
    share: (C, L) the classifier's probabilities for each kind, summed; None if there are none.
    n_classes: (C, L) how many classes a kind of error stands for; 0: it cannot be in the cell.
    has_entries: the metric must know which class a label is.
    positive: the class of which it is asked whether an item is of it: which other it is, is neither
        right nor wrong. None if it is asked for the very class.
    said: (T, M) the classes that M models predict, by the code that then stands for the prediction;
        outcomes are those of `worker.core.posterior.views.Layout`. None if there is one model.
    is_paired: the code that stands for the prediction is the number of the output's prompt; all
        outputs are taken for right.
    """

    classes: tuple[str, ...]
    kind: Ints
    n_kinds: int
    metric: Metric
    share: Floats | None
    n_classes: Ints
    has_entries: bool = False
    said: Ints | None = None
    positive: int | None = None
    is_paired: bool = False

    @property
    def possible(self) -> NDArray[np.bool_]:
        """(C, L) whether there is such a kind of error in the cell."""
        return self.n_classes > 0

    def of_each(self, predicted: Ints, label: Ints) -> Ints:
        """(N,) the outcomes of items; a label is the index of its class, K if it has none."""
        if self.said is not None:
            said = self.said[predicted]
            is_right = said == label[:, None]
            block = blocks_of(said)[np.arange(len(said)), is_right.argmax(axis=1)]
            return outcome_of_block(np.where(is_right.any(axis=1), block, -1))
        if self.positive is not None:
            is_wrong: Ints = (predicted == self.positive) ^ (label == self.positive)
            return is_wrong.astype(np.int64)
        if self.is_paired:
            predicted = np.zeros_like(predicted)
        kind = self.kind[predicted, np.minimum(label, len(self.classes))]
        outcome: Ints = np.where(predicted == label, 0, kind + 1)
        return outcome


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """A tally as numbers: outcomes of the cells, and of the claims that the prior is fitted to.

    all, early: (C, 1 + max(L, 1)).
    """

    all: Ints
    early: Ints
    stage: int


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """Labels that were there before the assessment's first one, as numbers.

    all: (C, 1 + max(L, 1)). early: those of them that the prior is fitted to: all or none.
    is_sample: they were drawn at random, and so tell of the items without a label.
    """

    all: Ints
    early: Ints
    is_sample: bool

    @property
    def untold(self) -> Ints:
        """Those that the prior is not fitted to."""
        return self.all - self.early


def begun_with(pool: Pool, meaning: Outcomes) -> Begun:
    """The labels that a pool begins with; none where the best of many models counts them itself."""
    if pool.known is None or (pool.models is not None and pool.models.strata is not None):
        none = np.zeros((pool.n_cells, 1 + max(meaning.n_kinds, 1)), dtype=np.int64)
        return Begun(none, none, is_sample=False)
    found = count(pool.known.tally, meaning, pool.n_cells).all
    is_sample = pool.known.use == "random"
    return Begun(found, found if is_sample else np.zeros_like(found), is_sample)


def metric_of(plan: Plan) -> Metric:
    """What a belief about a measure of soft labels is of."""
    assert plan.evaluate is not None, "asked for the task evaluate"
    return Metric("measure", pooled=True, level=plan.evaluate.level)


def outcomes(plan: Plan, pool: Pool) -> Outcomes:
    """Say what every label means for the metric of the plan."""
    asked, k = plan.question, len(pool.classes)
    if pool.models is not None:
        n_kinds = pool.models.layout.n_outcomes - 1
        nothing = np.zeros((pool.n_cells, 0), dtype=np.int64)
        kind = whatever_predicted(k, 0)
        return Outcomes(
            pool.classes, kind, n_kinds, Metric(), None, nothing, said=pool.models.said
        )  # fmt: skip
    cells = Cells(
        pool.classes, pool.cell_group, pool.cell_unit, pool.cell_mean_score,
        pool.cell_mean_probability, pool.costs,
        pooled=asked.bin_factor is None,
    )  # fmt: skip
    if plan.evaluate is not None:  # no label is right or wrong
        meaning = right_or_wrong(cells, metric_of(plan))
    else:
        meaning = METRICS[asked.metric].meaning(cells)
    return Outcomes(
        pool.classes, meaning.kind, meaning.n_classes.shape[1], meaning.metric, meaning.share,
        meaning.n_classes, METRICS[asked.metric].has_entries,
        positive=_positive(plan, pool), is_paired=pool.n_prompts > 0,
    )  # fmt: skip


def _positive(plan: Plan, pool: Pool) -> int | None:
    """Of `Outcomes`; where a judge is assessed the right choices, against all that are wrong."""
    if METRICS[plan.question.metric].judge_says is not None:
        return 0
    positive = plan.question.positive
    return None if positive is None else pool.classes.index(positive)


def count(
    tally: Mapping[str, int], meaning: Outcomes, n_cells: int, before: int | None = None
) -> Counts:
    """Read a tally of whole labels, whose keys are those of `worker.store.tally.tally_key`.

    Gold items (cell -1) tell of the annotators only and are left out.

    Args:
        before: count the claims of the epochs below it only, as if it were its stage; None for all.

    Raises:
        AssayError: a label is no class of the pool, but the metric must know which one it is.
    """
    index = {name: i for i, name in enumerate(meaning.classes)}
    n_classes = len(index)
    numbers: list[int] = []
    for key, n in tally.items():
        in_epoch, of_cell, said, name = read_tally_key(key)
        if of_cell < 0:
            continue
        code = index.get(name, n_classes)
        if meaning.has_entries and code == n_classes:
            raise AssayError(
                f"An annotator gave the class {name!r}, which is no class of the pool, and the "
                f"metric {meaning.metric.kind} has no entry for it. Name it in `pool.classes`, or "
                "remove it from the labelling configuration and correct the annotations."
            )
        numbers += in_epoch, of_cell, said, code, n
    epoch, cell, predicted, label, n_items = np.array(numbers, dtype=np.int64).reshape(-1, 5).T
    outcome = meaning.of_each(predicted, label)
    return counted(np.stack([epoch, cell, outcome, n_items], axis=1), meaning, n_cells, before)


def n_labelled(tally: Mapping[str, int]) -> int:
    """How many items of the pool have a label; gold items are outside it."""
    return sum(n for key, n in tally.items() if read_tally_key(key).cell >= 0)


def counted(table: Ints, meaning: Outcomes, n_cells: int, before: int | None = None) -> Counts:
    """Count outcomes that are known.

    Args:
        table: (any, 4) epoch of the claim, cell, outcome, number of items.
        before: as of `count`.
    """
    total = np.zeros((n_cells, 1 + max(meaning.n_kinds, 1)), dtype=np.int64)
    early = np.zeros_like(total)
    now = stage(int(table[:, 3].sum()))
    if before is not None:
        now, table = before, np.compress(table[:, 0] < before, table, axis=0)
    np.add.at(total, (table[:, 1], table[:, 2]), table[:, 3])
    old = table[table[:, 0] < fitted_at(now)]
    np.add.at(early, (old[:, 1], old[:, 2]), old[:, 3])
    return Counts(total, early, now)
