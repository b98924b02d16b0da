"""What choosing wins: `assay` beside random items and Thompson sampling, same prior, same seeds.

On the pools of the paper's tables. `ASSAY_BENCH_RUNS` asks for other than 40 runs,
`ASSAY_BENCH_KINDS` for the rows whose name has this. Beside each row what an oracle needs that
knows every stratum's accuracy (`tests.bench.oracle`).
"""

import os
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tests.bench.measuring import line, say
from tests.bench.oracle import Strata, errors_at, labels_to_rank
from tests.bench.paper.cases import opened, planned
from tests.bench.paper.data import load
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.measuring import Run, log_steps
from worker.simulate.spread import here

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
ONLY = os.environ.get("ASSAY_BENCH_KINDS", "")
AT = (40, 100, 200, 500, 1000)
BINS = "equal_mass_bin(10)"
OTHERS = ("random", "thompson")
CLASSES = "predicted_class"
MRR = 0.99


@dataclass(frozen=True, slots=True)
class Row:
    """A question about a pool; `until`: labels a run."""

    pool: str
    question: dict[str, object]
    until: int
    groups: str = CLASSES

    @property
    def name(self) -> str:
        """What is asked of which pool."""
        words = [
            str(self.question[key]) for key in ("task", "metric", "top") if key in self.question
        ]
        return f"{self.pool}, {' '.join(words)}, by {self.groups}"


ESTIMATES = [
    Row(pool, {"task": "estimate"}, AT[-1], groups)
    for pool, groups in (
        ("20newsgroups", CLASSES),
        ("20newsgroups", BINS),
        ("svhn", CLASSES),
        ("svhn", BINS),
        ("cifar100", CLASSES),
        ("cifar100", BINS),
        ("cifar100-wrn", CLASSES),
        ("cifar100-wrn", BINS),
    )
]
IDENTIFIES = [
    Row(pool, {"task": "identify", "top": top}, until)
    for pool, top, until in (
        ("20newsgroups", 1, 1500),
        ("20newsgroups", 3, 3000),
        ("cifar100", 1, 2500),
        ("cifar100", 10, 6000),
        ("cifar100-wrn", 1, 4000),
        ("svhn", 1, 12_000),
    )
]


def run() -> None:
    """Errors at label counts, then labels to a ranking and to a right decision."""
    say(f"\nChoosing: {N_RUNS} runs, the same seeds and prior")
    found = [_estimated(row) for row in ESTIMATES if ONLY in row.name]
    for name, of in zip(OTHERS, zip(*found, strict=True), strict=bool(found)):
        ratios = np.concatenate(of)
        line(f"error over {name}'s: geometric mean", f"{stats.gmean(ratios):.2f}", "<= 0.85")
        line("... the largest", f"{ratios.max():.2f}", "<= 1.02")
    ranked = [_identified(row) for row in IDENTIFIES if ONLY in row.name]
    reached = "mean MRR > .99", "a right decision"
    for what, of in zip(reached, zip(*ranked, strict=True), strict=bool(ranked)):
        name = f"labels to {what} over thompson's: geometric mean"
        line(name, f"{stats.gmean(of):.2f}", "<= 0.8")
        line("... the largest", f"{max(of):.2f}", "<= 1")


def _runs(row: Row, strategies: tuple[str, ...], at: tuple[int, ...] = ()):
    with planned(load(row.pool), row.question, row.groups) as path:
        asked = Asked("truth", strategies, seed=0, until=row.until, at=at)
        cases = prepare(path, path.parent / "pools", asked)
        runs: list[list[Run]] = [[] for _ in cases]
        for which, one in here(cases, N_RUNS):
            runs[which].append(one)
        return runs, _strata(cases[0])


def _strata(case: Case) -> Strata:
    work, outcome = opened(case)
    pool = work.pool
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    right = np.bincount(cell, outcome == 0, pool.n_cells)
    return Strata.of(pool.cell_group, pool.cell_size, right, len(pool.group_names))


def _estimated(row: Row):
    runs, strata = _runs(row, ("assay", "random", "thompson"), AT)
    ours, *theirs = (np.sqrt(np.mean([np.square(one.rmse) for one in of], axis=0)) for of in runs)
    oracle = errors_at(strata, AT)
    say(row.name)
    for name, errors in zip(
        ("assay", "random", "thompson", "oracle"), (ours, *theirs, oracle), strict=True
    ):
        line(
            f"... {name}: error at {'/'.join(map(str, AT))}",
            " ".join(f"{e:.4f}" for e in errors),
            "",
        )
    return [ours / their for their in theirs]


def _identified(row: Row):
    runs, strata = _runs(row, ("assay", "thompson"))
    say(row.name)
    steps, found = log_steps(row.until), []
    for name, of in zip(("assay", "thompson"), runs, strict=True):
        curve = np.mean([one.mrr for one in of], axis=0)
        reached = curve > MRR
        ranked = steps[int(reached.argmax())] if reached.any() else row.until
        stops = [
            one.stop.labels
            if one.stop and one.stop.is_conclusive and one.stop.is_right
            else row.until
            for one in of
        ]
        right = sum(one.stop.is_right for one in of if one.stop and one.stop.is_conclusive)
        found.append((ranked, float(np.median(stops))))
        line(
            f"... {name}: labels to mean MRR > .99; to a right decision; right",
            f"{ranked}; {np.median(stops):.0f}; {right}",
            "",
        )
    line("... oracle", f"{labels_to_rank(strata, int(row.question['top']))}", "")
    return [a / b for a, b in zip(*found, strict=True)]
