"""Labels of a random sample that were there before: `assay assess --labels-are random`.

All are believed at once, as `worker.assessment.outcomes.begun_with` does: the prior is fitted to
all of them, and the rule is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.calibration.made import MADE, REAL, Ints
from tests.calibration.running import Line, Opened, truth_of
from tests.calibration.statistics import Revealed, of_report
from tests.calibration.way import COMPARE, ESTIMATE, IDENTIFY, RMSE, Way
from worker.assessment.kind import OneModel
from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_tally
from worker.simulate.against_truth import held
from worker.simulate.found import Found
from worker.simulate.replay import run_seed
from worker.simulate.truths import cell_of_rows, right_of_cells

_SEED = 22
_NAME = "random sample, {}"
_FEW = ("a model", "b one rate", "d overconfident", "d surest off", "f one-sided")
_COMPARED = tuple(kind for kind in MADE if kind != "f few items")

WAYS = (
    Way(_NAME.format("identify"), {"question": IDENTIFY}),
    Way(_NAME.format("estimate"), {"question": ESTIMATE, "stop": RMSE}, has_report=True),
    Way(
        _NAME.format("estimate, 40 groups"),
        {"question": ESTIMATE, "stop": RMSE},
        _FEW,
        size="forty",
    ),
    Way(_NAME.format("compare"), {"question": COMPARE}, _COMPARED),
    Way(_NAME.format("bias"), {"question": ESTIMATE | {"metric": "bias"}, "stop": RMSE}),
    Way(
        _NAME.format("ECE of classes"),
        {"question": ESTIMATE | {"metric": "ece"}, "stop": RMSE},
        MADE,
    ),
    Way(
        _NAME.format("ECE of the pool"),
        {
            "question": ESTIMATE | {"metric": "ece"},
            "stop": {"rmse": 0.02},
            "pool": {"groups": "score_bin(10)"},
        },
        tuple(kind for kind in (*MADE, *REAL) if kind != "f few items"),
    ),
)


def run(case: Opened, number: int, at: Sequence[int]) -> list[Line]:
    """Take one run: a truth, and samples of so many labels, each with more of the same items."""
    seed = run_seed(_SEED, number)
    work = replace(case.work, plan=case.work.plan.model_copy(update={"seed": seed}))
    rng = np.random.default_rng([seed, 7])
    outcome, truth, told_of = truth_of(case, work, rng)
    right, order = right_of_cells(work, outcome), rng.permutation(work.pool.n_items)
    lines: list[Line] = []
    for n in at:
        belief = _believed(case, outcome, order[:n])
        found = held(Found(work, belief, truth, right=right))
        if case.way.has_report:
            found |= of_report(Revealed(work, belief, order[:n], outcome, told_of))
        lines += [
            (name, n, float(of.said.sum()), int(of.came.sum()), len(of.came))
            for name, of in found.items()
        ]
    return lines


def _believed(case: Opened, outcome: Ints, rows: Ints) -> Belief:
    work = case.work
    assert isinstance(work.kind, OneModel), "several models are tried by their own ways"
    cell = cell_of_rows(work)
    counts = np.zeros((work.pool.n_cells, 1 + max(work.meaning.n_kinds, 1)), dtype=np.int64)
    np.add.at(counts, (cell[rows], outcome[rows]), 1)
    return work.refitted(with_tally(work.first, counts))
