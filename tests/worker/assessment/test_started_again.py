"""A worker that starts now knows, to the last bit, what one knows that took every turn.

Each keeps what it worked out and works out anew what changed. Rounded otherwise, a tie could be
broken otherwise: a decision, a choice and its replay would differ.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.documents import PARTS, begun
from worker.assessment import assess
from worker.assessment.queueing import pending_cells, unclaimed_cells
from worker.assessment.verdicts import seen_in
from worker.core.posterior.intervals import interval
from worker.core.posterior.moments import Moments, moments
from worker.core.posterior.summary import draws, mean

NUMBERS = ("mean", "variance", "drop", "rate", "weight", "own", "moved")
KINDS = (
    *PARTS,
    *("which model", "worst of each model", "continued", "several annotators", "evaluate"),
    *("best model", "verdicts", "all verdicts"),
)


@pytest.fixture(scope="module")
def assessments(tmp_path_factory):
    """Of every task, metric and kind, carried to some label by the loop."""
    return dict(begun(tmp_path_factory.mktemp("begun")))


def test_all_are_tried(assessments):
    assert set(assessments) == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_it_believes_finds_and_chooses_the_same_to_the_last_bit(assessments, name):
    old = assessments[name].work
    new = assess(old.plan, old.pool)
    state = assessments[name].ledger.state()
    assert sum(state.tally.values()) >= (1 if name == "stopped" else 10)

    (belief, verdict), (again, verdict_again) = (seen_in(work, state) for work in (old, new))

    for of, anew in zip(belief.parts or (belief,), again.parts or (again,), strict=True):
        assert_same(moments(of), moments(anew))
        for numbers in (mean, interval, draws):
            assert np.array_equal(numbers(of), numbers(anew), equal_nan=True), numbers.__name__
    assert verdict == verdict_again
    left, pending = unclaimed_cells(old, state), pending_cells(old, state)
    for number in range(state.claims, state.claims + 5):
        assert old.choose(belief, left, pending, number) == new.choose(again, left, pending, number)


def assert_same(known: Moments, anew: Moments) -> None:
    for name in NUMBERS:
        assert np.array_equal(getattr(known, name), getattr(anew, name), equal_nan=True), name
