"""The calibration curve on the paper's pools: how often its band, the bins and both ECEs hold."""

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.bench.measuring import line, say
from tests.bench.paper.cases import of_run, opened, order_of, prepared
from tests.bench.paper.data import load
from worker.core.reliability.curve import curve_of, right_answers, score_grid, true_curve
from worker.core.strategies import STRATEGIES
from worker.findings.item_classes import Answered
from worker.report.reliability import against_scores
from worker.simulate.cases import Asked
from worker.simulate.replay import labels

Floats = NDArray[np.float64]

RUNS = 10
LABELS = (200, 1000)
POOLS = ("cifar100", "svhn", "20newsgroups", "imagenet")
BOUNDS = np.arange(1, 10) / 10


class Held(NamedTuple):
    """One run: shares of the items that lie under the band, and under right bins; and the ECEs."""

    by_band: float
    by_bins: float
    is_curve_ece: bool
    is_bins_ece: bool
    curve_error: float
    bins_error: float
    ece: float


def run() -> None:
    """Print coverage and errors for every pool, strategy and number of labels."""
    say(f"\nCalibration curves: {RUNS} runs each; asked: 95% bands hold >= .9 of the items' scores")
    for name in POOLS:
        with prepared(load(name), {"task": "estimate"}, Asked(truth="truth", seed=0)) as case:
            for strategy in ("assay", "random"):
                found = []
                for number in range(RUNS):
                    work, outcome = opened(case)
                    work = of_run(replace(work, strategy=STRATEGIES[strategy]), case, number)
                    shown = islice(labels(work, outcome, order_of(work)), LABELS[-1])
                    rows = np.array([one.row for one in shown])
                    group = np.repeat(work.pool.cell_group, work.pool.cell_size)
                    score = work.pool.score.astype(np.float64)
                    found.append([_held(score, group, rows[:n], outcome == 0) for n in LABELS])
                for n, runs in zip(LABELS, zip(*found, strict=True), strict=True):
                    _tell(f"{name}, {strategy}, {n:,} labels", list(runs))


def _held(
    score: Floats, group: NDArray[np.int64], rows: NDArray[np.int64], right: NDArray[np.bool_]
) -> Held:
    at = score_grid(score)
    rng = np.random.default_rng(1)
    found = curve_of(at, right_answers(at, group, rows, right[rows][None], rng))
    curve, ece = true_curve(at, right)
    is_in = (found.low <= curve) & (curve <= found.high)
    known = Answered(rows, right[rows][None], np.ones(rows.size, dtype=bool))
    said = against_scores(score, group, BOUNDS, known)
    of_item = np.searchsorted(BOUNDS, score, side="right")
    bins = np.unique(of_item)
    accuracy = np.array([right[of_item == b].mean() for b in bins])
    mean = np.array([score[of_item == b].mean() for b in bins])
    items = np.array([one.items for one in said.bins])
    holds = [
        one.low - 1e-6 <= a <= one.high + 1e-6 for one, a in zip(said.bins, accuracy, strict=True)
    ]
    of_bins = float(np.abs(accuracy - mean) @ items / items.sum())
    return Held(
        float(np.average(is_in, weights=found.items)),
        float(np.average(holds, weights=items)),
        found.ece[1] <= ece <= found.ece[2],
        said.ece.low <= of_bins <= said.ece.high,
        abs(found.ece[0] - ece),
        abs(said.ece.mean - of_bins),
        ece,
    )


def _tell(what: str, runs: list[Held]) -> None:
    band, bins, is_curve, is_bins, curve_error, bins_error, ece = np.mean(runs, axis=0)
    line(f"{what}: items under the band, under right bins", f"{band:.2f} {bins:.2f}", ">= .9")
    line(
        "    ECE intervals that hold: of the curve, of the bins",
        f"{is_curve:.2f} {is_bins:.2f}",
        "",
    )
    errors = f"{curve_error:.4f} {bins_error:.4f}"
    line(f"    ECE's mean error (true {ece:.4f}): of the curve, of the bins", errors, "")
