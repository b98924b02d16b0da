"""What is looked at beyond the rows of a decision: the sections of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.calibration.made import Floats, Ints, Truth
from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.metrics import METRICS
from worker.pool.judged import SAYS_RIGHT
from worker.report.contents import Interval, Reliability
from worker.report.failures import failures_of
from worker.report.families import families
from worker.report.judge import judge_of
from worker.report.reliability import reliability
from worker.simulate.against_truth import STATISTICS, Held
from worker.store.records import Record
from worker.store.tally import tally_key

NAMES = frozenset({
    *STATISTICS, "claim", "forecast", "reliability bin", "reliability curve", "ECE over bins",
    "ECE over the curve", "parent's reliability bin", "parent's ECE",
    "sd between parents", "further parent", "failure kind", "judge's rate",
})  # fmt: skip
_ROUNDED = 1.5e-6
_LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Revealed:
    """A run at one moment: the belief, the labelled rows in their order, and what is true.

    outcome: (N,) of all rows.
    """

    work: Assessment
    belief: Belief
    rows: Ints
    outcome: Ints
    truth: Truth | None


def of_report(seen: Revealed) -> dict[str, Held]:
    """What came true of a report's sections.

    The same functions say the truth: once all is labelled they have nothing left to estimate.
    """
    work, found = seen.work, dict[str, Held]()
    some, every = _records(seen, seen.rows), _records(seen, np.arange(seen.outcome.size))
    now = reliability(work, seen.belief, *some)
    then = reliability(work, seen.belief, *every)
    if now is not None and then is not None:
        found |= _of_curve(now, then)
    now_above, apart = families(work, seen.belief, *some)
    then_above, _ = families(work, seen.belief, *every)
    if now_above:
        pairs = list(zip(now_above, then_above, strict=True))
        curves = [
            _of_curve(a.reliability, b.reliability)
            for a, b in pairs
            if a.reliability is not None and b.reliability is not None and a.labelled
        ]
        for name, of in (
            ("parent's reliability bin", ("reliability bin", "reliability curve")),
            ("parent's ECE", ("ECE over bins", "ECE over the curve")),
        ):
            parts = [curve[key] for curve in curves for key in of if key in curve]
            if parts:
                found[name] = Held(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    of_judge = METRICS[work.plan.question.metric].judge_says is not None
    is_judged = work.plan.annotation.verdict is not None and work.pairing is None
    if is_judged and seen.truth is not None and not of_judge:
        found["failure kind"] = _of_failures(seen, seen.truth.label)
    told = judge_of(work, seen.belief)
    if told:
        pairs = zip(told, _rates_of_judge(seen), strict=True)
        found["judge's rate"] = _held([(Interval(a.mean, a.low, a.high), x) for a, x in pairs])
    if apart is not None and seen.truth is not None and seen.truth.new is not None:
        assert seen.truth.sd is not None, "sites are drawn together"
        found["sd between parents"] = _held([(apart.sd, seen.truth.sd)])
        found["further parent"] = _held([(apart.new, seen.truth.new)])
    return found


def _rates_of_judge(seen: Revealed) -> tuple[float, float]:
    """TPR and TNR, counted."""
    right, said = seen.outcome == 0, seen.work.pool.score >= SAYS_RIGHT
    return float(said[right].mean()), float((~said[~right]).mean())


def _of_failures(seen: Revealed, label: Ints) -> Held:
    """label: (N,) right, 0, or the kind of failure, of all rows."""
    pool = seen.work.pool
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    keys = [
        tally_key(claim, int(cell[row]), 0, pool.classes[label[row]])
        for claim, row in enumerate(seen.rows.tolist())
    ]
    told = failures_of(seen.work, Counter(keys))
    true = np.bincount(label, minlength=len(pool.classes))[1:] / label.size
    return _held([(Interval(a.mean, a.low, a.high), x) for a, x in zip(told, true, strict=True)])


def _of_curve(now: Reliability, then: Reliability) -> dict[str, Held]:
    bins = zip(now.bins, then.bins, strict=True)
    points = zip(now.curve, then.curve, strict=True)
    found = {
        "reliability bin": _held(
            (Interval(a.accuracy, a.low, a.high), b.accuracy) for a, b in bins
        ),
        "reliability curve": _held(
            (Interval(a.accuracy, a.low, a.high), b.accuracy) for a, b in points
        ),
    }
    for name, a, b in (
        ("ECE over bins", now.ece, then.ece),
        ("ECE over the curve", now.curve_ece, then.curve_ece),
    ):
        if a is not None and b is not None:
            found[name] = _held([(a, b.mean)])
    return found


def _held(pairs: Iterator[tuple[Interval, float]] | Sequence[tuple[Interval, float]]) -> Held:
    came = np.array([a.low - _ROUNDED <= x <= a.high + _ROUNDED for a, x in pairs])
    said: Floats = np.full(came.size, _LEVEL)
    return Held(said, came)


def _records(seen: Revealed, rows: Ints) -> tuple[dict[str, int], list[Record]]:
    """The tally and the records of a ledger with these labels."""
    pool = seen.work.pool
    cell, predicted = np.repeat(np.arange(pool.n_cells), pool.cell_size), pool.predicted
    code = pool.code
    tally: dict[str, int] = {}
    records = []
    for claim, row in enumerate(rows.tolist()):
        k, of, said = int(predicted[row]), int(cell[row]), int(code[row])
        label = pool.classes[k if seen.outcome[row] == 0 else k - 1]
        key = tally_key(claim, of, said, label)
        tally[key] = tally.get(key, 0) + 1
        records.append(Record(str(row), claim, row, of, said, outcome=label))
    return tally, records
