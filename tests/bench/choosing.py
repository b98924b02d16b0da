"""What choosing wins: `assay` beside random items and Thompson sampling, same prior, same seeds.

On the pools of the paper's tables. `ASSAY_BENCH_RUNS` asks for other than 40 runs,
`ASSAY_BENCH_KINDS` for the rows whose name has this. Beside each row what an oracle needs that
knows every stratum's accuracy (`tests.bench.oracle`), beside estimates what any choice could win
(`tests.bench.limit`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from tests.bench import rates
from tests.bench.limit import limit_of, ratios
from tests.bench.measuring import line, say
from tests.bench.oracle import Ints, Strata, labels_to_rank, labels_to_tell
from tests.bench.paper.cases import SUPERCLASS, opened, planned
from tests.bench.paper.data import Pool, load
from worker.assessment import Assessment
from worker.simulate.cases import Asked, Case, prepare
from worker.simulate.measuring import Run
from worker.simulate.schedule import log_steps
from worker.simulate.spread import here

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
ONLY = os.environ.get("ASSAY_BENCH_KINDS", "")
AT = (40, 100, 200, 500, 1000)
BINS = "equal_mass_bin(10)"
OTHERS = ("random", "thompson")
CLASSES = "predicted_class"
MRR = 0.99
SURE = 0.05  # that an answer is wrong


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
        ("cifar100", SUPERCLASS),
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
COST = {"task": "identify", "metric": "cost", "cost_ratio": 10}
PEOPLE = {"task": "compare", "compare": ["people", "trees"]}
OTHERS_ASKED = [
    Row("cifar100-wrn", COST | {"costs": "human"}, 4000),
    Row("cifar100-wrn", COST | {"costs": "superclass"}, 4000),
    Row("cifar100", PEOPLE, 1000, SUPERCLASS),
    Row("20newsgroups", {"task": "compare", "compare": ["c0000", "c0019"]}, 1000),
    Row("svhn", {"task": "compare", "compare": ["c0003", "c0008"]}, 5000),
]


def tied(apart: float = 0.01, n_classes: int = 8, n_items: int = 4000) -> Pool:
    """Two classes are the least accurate, so far apart; the others ten points better and more."""
    rng = np.random.default_rng(7)
    accuracy = np.concatenate([[0.70, 0.70 + apart], np.linspace(0.8, 0.9, n_classes - 2)])
    predicted = np.repeat(np.arange(n_classes), n_items // n_classes)
    logit = rng.normal(special.logit(accuracy)[predicted], 1.5)
    right = np.zeros(n_items, dtype=bool)
    for k, rate in enumerate(accuracy):  # exactly so many, likelier where the score is high
        own = np.flatnonzero(predicted == k)
        first = own[np.argsort(-(logit[own] + rng.logistic(size=own.size)))]
        right[first[: round(rate * own.size)]] = True
    label = np.where(right, predicted, (predicted + 1) % n_classes)
    return Pool("tied", n_classes, predicted, special.expit(logit), label, None)


def run() -> None:
    """Errors at label counts, then labels to a ranking and to a right decision."""
    say(f"\nChoosing: {N_RUNS} runs, the same seeds and prior")
    found = [_estimated(row) for row in ESTIMATES if ONLY in row.name]
    if found:
        limits = np.concatenate([of[2] for of in found])
        means = ", ".join(f"{mean:.2f}" for mean in stats.gmean(limits))
        line("limit, labels anywhere, over even labels: groups, pool", means, "")
        line("... the groups' largest", f"{limits[:, 0].max():.2f}", "")
    for at, name in enumerate(OTHERS if found else ()):
        ratios, pools = (np.concatenate([of[kind][at] for of in found]) for kind in (0, 1))
        line(f"error over {name}'s: geometric mean", f"{stats.gmean(ratios):.2f}", "<= 0.85")
        line("... the largest", f"{ratios.max():.2f}", "<= 1.02")
        line("... of the whole pool's: geometric mean", f"{stats.gmean(pools):.2f}", "<= 0.8")
    for rows in (IDENTIFIES, OTHERS_ASKED):
        decided = [_decided(row) for row in rows if ONLY in row.name]
        for what in ("mean MRR > .99", "a right decision"):
            of = [ratios[what] for ratios in decided if what in ratios]
            if of:
                name = f"labels to {what} over thompson's: geometric mean"
                line(name, f"{stats.gmean(of):.2f}", "<= 0.8")
                line("... the largest", f"{max(of):.2f}", "<= 1")

    if ONLY in "tied":
        _tied()
    if ONLY in "recall":
        rates.run(N_RUNS)


def _tied() -> None:
    """Labels at the stop where the worst two are a point apart: of one, and of a list of two."""
    say("two classes of eight a point apart")
    rows = [Row("tied", {"task": "identify"} | more, 4000) for more in ({}, {"shortlist": 2})]
    labels = []
    for row in rows:
        ((of,), *_) = _runs(row, ("assay",))
        labels.append(float(np.mean([one.stop.labels if one.stop else row.until for one in of])))
        line(
            f"... {row.question}: labels at the stop",
            f"{labels[-1]:,.0f}; {_n_right(of)} right",
            "",
        )
    line("labels of a list of two over those of one", f"{labels[1] / labels[0]:.2f}", "<= 0.6")


def _runs(row: Row, strategies: tuple[str, ...], at: tuple[int, ...] = ()):
    pool = tied() if row.pool == "tied" else load(row.pool)
    with planned(pool, row.question, row.groups) as path:
        asked = Asked("truth", strategies, seed=0, until=row.until, at=at)
        cases = prepare(path, path.parent / "pools", asked)
        runs: list[list[Run]] = [[] for _ in cases]
        for which, one in here(cases, N_RUNS):
            runs[which].append(one)
        return runs, *_known(cases[0])


def _known(case: Case) -> tuple[Assessment, Strata, Ints]:
    """The assessment of a case, what an oracle knows of its pool, and (C,) its right answers."""
    work, outcome = opened(case)
    pool = work.pool
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    value = (outcome == 0).astype(np.float64)
    if work.meaning.metric.kind == "cost":  # the dearest groups are asked for
        value = -work.meaning.metric.values[cell, outcome]
    total, squared = (np.bincount(cell, of, pool.n_cells) for of in (value, value**2))
    n_groups = len(pool.group_names)
    strata = Strata.of(pool.cell_group, pool.cell_size, total, squared, n_groups)
    return work, strata, np.bincount(cell[outcome == 0], minlength=pool.n_cells)


def _estimated(row: Row):
    runs, work, _, right = _runs(row, ("assay", *OTHERS), AT)
    say(row.name)
    found = []
    for name in ("rmse", "pooled"):
        errors = [
            np.sqrt(np.mean([np.square(getattr(one, name)) for one in of], axis=0)) for of in runs
        ]
        for who, error in zip(("assay", *OTHERS), errors, strict=True):
            _line(f"{who}: {name} at {'/'.join(map(str, AT))}", error)
        found.append([errors[0] / other for other in errors[1:]])
    limit = ratios(work.pool, right, AT)
    for name, column in zip(("groups", "pool"), limit.T, strict=True):
        _line(f"limit, labels anywhere: {name}, over even labels", column)
    return [*found, limit]


def _line(what: str, numbers: Sequence[float]) -> None:
    line(f"... {what}", " ".join(f"{number:.4f}" for number in numbers), "")


def _decided(row: Row) -> dict[str, float]:
    """Labels of `assay` over those of `thompson`; those to a right decision are means."""
    runs, work, strata, right = _runs(row, ("assay", "thompson"))
    say(row.name)
    steps, found = log_steps(row.until), dict[str, list[float]]()
    for name, of in zip(("assay", "thompson"), runs, strict=True):
        found.setdefault("a right decision", []).append(float(np.mean(_stops(row, of))))
        text = f"{found['a right decision'][-1]:,.0f}; {_n_right(of)} right"
        if of[0].mrr:
            reached = np.mean([one.mrr for one in of], axis=0) > MRR
            ranked = steps[int(reached.argmax())] if reached.any() else row.until
            found.setdefault("mean MRR > .99", []).append(ranked)
            text = f"{ranked:,}; {text}"
        line(f"... {name}: labels (to mean MRR > .99; to a right decision)", text, "")
    line("... oracle", f"{_oracle_of(work, strata):,}", "")
    if work.question.task == "identify" and row.question.get("metric") is None:
        limit = limit_of(work.pool, right).labels_to_rank(strata.value, work.question.top, SURE)
        line("... limit: labels of one who knows the prior and every rate", f"{limit:,}", "")
    return {what: ours / theirs for what, (ours, theirs) in found.items()}


def _oracle_of(work: Assessment, strata: Strata) -> int:
    question, rule = work.question, work.rule
    if question.task == "compare":
        return labels_to_tell(strata, *question.pairs[0], question.epsilon, rule.confidence or 1)
    return labels_to_rank(strata, question.top)


def _n_right(runs: Sequence[Run]) -> int:
    return sum(one.stop.is_right for one in runs if one.stop and one.stop.is_conclusive)


def _stops(row: Row, runs: Sequence[Run]) -> list[int]:
    """Labels to a right decision; a wrong one, or none, counts as all of them."""
    return [
        one.stop.labels if one.stop and one.stop.is_conclusive and one.stop.is_right else row.until
        for one in runs
    ]
