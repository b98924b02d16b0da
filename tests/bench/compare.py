"""Which model is better: how often a claim of 95% is right, and what it costs, on made-up pools.

All defaults. The first five pools are those on which claims once were wrong; in the others the
truth differs by site or score, is a tie or near the rope, or there are few items, many models, ...
What the models say and how many items each alone is right on is fixed; which items these are is
drawn anew in every run. `ASSAY_BENCH_RUNS` asks for other than 40 runs, `ASSAY_BENCH_KINDS` for the
pools whose name has this; `eight models` is the cost of a run of them, in a minute.
"""

import csv
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.measuring import line, say
from worker.assessment import Assessment, assess
from worker.core.questions.comparison import regions
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.simulate.measuring import Measures
from worker.simulate.replay import replay
from worker.simulate.truths import outcomes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

N_RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
ONLY = os.environ.get("ASSAY_BENCH_KINDS", "")
STRATA = os.environ.get("ASSAY_BENCH_STRATA", "")  # other than the default
N_CLASSES, N_SITES = 10, 5
RIGHT, RIGHT_ON_AVERAGE, MORE_LABELS = 0.93, 0.95, 1.3


@dataclass(frozen=True, slots=True)
class Kind:
    """A pool of n items, of which a share is predicted otherwise by the second model.

    chances: of these that only the first, or only the second model is right: one pair for all, or
        one for each site. by_score: those where the first model is surer, and where the second is.
    labels: of today's `strata: 1`, where they are known. sites: their shares of the items.
    """

    name: str
    n: int
    apart: float
    epsilon: float
    where: str
    chances: tuple[tuple[float, float], ...]
    labels: int | None = None
    by_score: bool = False
    has_scores: bool = True
    sites: tuple[float, ...] = (0.2,) * N_SITES
    n_models: int = 2


ROWS = (
    Kind("a tenth apart", 5000, 0.1, 0.05, "overall", ((0.76, 0.05),), 33),
    Kind("a tenth apart, by site", 5000, 0.1, 0.05, "groups", ((0.76, 0.05),), 153),
    Kind("2% apart", 20000, 0.02, 0.01, "overall", ((0.74, 0.06),), 41),
    Kind("2% apart, by site", 20000, 0.02, 0.01, "groups", ((0.74, 0.06),), 186),
    Kind("4% apart", 20000, 0.04, 0.01, "overall", ((0.57, 0.23),)),
    Kind("exact tie", 5000, 0.1, 0.05, "overall", ((0.4, 0.4),)),
    Kind("just inside the rope", 5000, 0.1, 0.05, "overall", ((0.6, 0.2),)),
    Kind("just outside the rope", 5000, 0.1, 0.05, "overall", ((0.75, 0.15),)),
    Kind("few items", 400, 0.1, 0.05, "overall", ((0.85, 0.05),)),
    Kind("few items, by site", 400, 0.1, 0.05, "groups", ((0.85, 0.05),)),
    Kind(
        "sites differ", 5000, 0.1, 0.05, "overall",
        ((0.95, 0.02), (0.85, 0.05), (0.8, 0.1), (0.75, 0.15), (0.7, 0.2)),
    ),
    Kind(
        "one-sided sites", 5000, 0.1, 0.05, "groups",
        ((0.95, 0.0), (0.0, 0.95), (0.4, 0.4), (0.9, 0.0), (0.1, 0.1)),
    ),
    Kind(
        "one site the other way", 5000, 0.1, 0.05, "groups",
        ((0.85, 0.05),) * 4 + ((0.3, 0.5),),
    ),
    Kind(
        "one site inside the rope", 5000, 0.1, 0.05, "groups",
        ((0.85, 0.05),) * 4 + ((0.5, 0.2),),
    ),
    Kind(
        "sites differ, both", 5000, 0.1, 0.05, "both",
        ((0.95, 0.02), (0.85, 0.05), (0.8, 0.1), (0.75, 0.1), (0.75, 0.05)),
    ),
    Kind("the same, both", 5000, 0.1, 0.05, "both", ((0.76, 0.05),)),
    Kind(
        "sites of many sizes", 5000, 0.1, 0.05, "groups", ((0.8, 0.05),),
        sites=(0.6, 0.25, 0.1, 0.04, 0.01),
    ),
    Kind("no scores", 5000, 0.1, 0.05, "overall", ((0.76, 0.05),), has_scores=False),
    Kind(
        "scores say who is right", 5000, 0.1, 0.05, "overall", ((0.85, 0.05), (0.25, 0.6)),
        by_score=True,
    ),
    Kind(
        "scores say the contrary", 5000, 0.1, 0.05, "overall", ((0.6, 0.2), (0.95, 0.02)),
        by_score=True,
    ),
    Kind("half apart", 5000, 0.5, 0.05, "overall", ((0.5, 0.25),)),
    Kind("four in a thousand apart", 20000, 0.004, 0.002, "overall", ((0.85, 0.05),)),
    Kind("few labels of any use", 5000, 0.1, 0.05, "overall", ((0.05, 0.05),)),
    Kind("four models", 5000, 0.1, 0.05, "overall", ((0.8, 0.05),), n_models=4),
)  # fmt: skip

# Whose speed is measured.
EIGHT = Kind("eight models, 5,500 items", 5500, 0.12, 0.01, "overall", ((0.5, 0.2),), n_models=8)


def run() -> None:
    """Print what a label of eight models costs, one row a pool, and the mean of these."""
    say(f"\nWhich model is better, defaults, {N_RUNS} runs: right of those that stop; labels")
    if ONLY in EIGHT.name:
        _speed()
    shares = [_row(kind) for kind in ROWS if ONLY in kind.name]
    if shares:
        line("right, mean of the rows", f"{np.mean(shares):.3f}", f">= {RIGHT_ON_AVERAGE}")


def _row(kind: Kind) -> float:
    stops, right, n_labels = 0, 0, []
    began = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        work, truth_of = _opened(Path(name), kind)
        prior = regions(work.first, work.question.pairs, work.question.epsilon)
        for number in range(N_RUNS):
            outcome = truth_of(np.random.default_rng([17, number]))
            found = replay(work, outcome, Measures(work.pool.n_items, (), True), 16, number)
            if found.stop is not None and found.stop.is_conclusive:
                stops, right = stops + 1, right + found.stop.is_right
                n_labels.append(found.stop.labels)
    median = float(np.median(n_labels)) if n_labels else np.nan
    share = right / max(1, stops)
    goal = "" if kind.labels is None else f", at most {MORE_LABELS * kind.labels:.0f} labels"
    what = f"{kind.name} ({kind.where}); P(within) at first {prior[0][1]:.2f}"
    seconds = (time.process_time() - began) / N_RUNS
    told = f"{share:.3f} of {stops}, {median:.0f} labels, {seconds:.2f} s"
    line(what, told, f">= {RIGHT}{goal}")
    return share


def _opened(here: Path, kind: Kind) -> tuple[Assessment, Callable[[Rng], Ints]]:
    """The pool of a kind at work, and what draws its outcomes in the order of the pool's rows."""
    rng = np.random.default_rng(20261123)
    n, k = kind.n, N_CLASSES
    first = rng.integers(k, size=n)
    said = [first]
    for _ in range(kind.n_models - 1):
        other = (first + rng.integers(1, k, n)) % k
        said.append(np.where(rng.permutation(n) < round(kind.apart * n), other, first))
    score = np.clip(rng.beta(8.0, 1.5, (kind.n_models, n)), 0.3, 0.999)
    site = rng.permutation(np.searchsorted(np.cumsum(kind.sites)[:-1], np.arange(n) / n, "right"))
    names = [f"model{m}" for m in range(kind.n_models)]
    for m, name in enumerate(names):
        _write(here / f"{name}.csv", said[m], score[m], site)
    keys = {"predicted": "p"} | ({"score": "s"} if kind.has_scores else {})
    values = {
        "models": [{"name": m, "predictions": f"{m}.csv"} | keys for m in names],
        "question": {"task": "compare", "where": kind.where},
        "stop": {"rope": {"epsilon": kind.epsilon}},
        "pool": {"groups": "site"} | ({"strata": int(STRATA)} if STRATA else {}),
    }
    (here / "plan.yaml").write_text(json.dumps(values))
    plan = load_plan(here / "plan.yaml", for_simulation=True)
    pool = compile_pool(plan, here / "pools")
    work = assess(plan, pool)
    row = np.array([int(item) for item in pool.item_ids.to_pylist()], dtype=np.int64)

    def truth_of(rng: Rng) -> Ints:
        truth = _truth(kind, np.stack(said), score, site, rng)
        return outcomes(work, truth[row])

    return work, truth_of


def _truth(kind: Kind, said: Ints, score: Floats, site: Ints, rng: Rng) -> Ints:
    """(N,) true classes: of items on which models disagree exact shares, drawn which they are."""
    first, n = said[0], kind.n
    agrees = (said == first).all(axis=0)
    # a class that nobody says; of items on which all agree a tenth has it
    other = _of_nobody(said)
    truth = np.where(rng.random(n) < 0.9, first, other)
    second = np.array([_other_class(column) for column in said.T[~agrees]])
    part = np.zeros(n, np.int64)
    if kind.by_score:
        part = (score[1] > score[0]).astype(np.int64)
    elif len(kind.chances) > 1:
        part = site
    at = np.flatnonzero(~agrees)
    alternative = np.zeros(n, np.int64)
    alternative[at] = second
    for p, (one, two) in enumerate(kind.chances):
        own = rng.permutation(at[part[at] == p])
        upto = np.rint(np.array([one, one + two]) * own.size).astype(int)
        truth[own] = other[own]
        truth[own[: upto[0]]] = first[own[: upto[0]]]
        truth[own[upto[0] : upto[1]]] = alternative[own[upto[0] : upto[1]]]
    return truth


def _other_class(column: Ints) -> int:
    return int(column[column != column[0]][0])


def _of_nobody(said: Ints) -> Ints:
    found = said[0].copy()
    for step in range(1, N_CLASSES):
        is_taken = (said == found).any(axis=0)
        found = np.where(is_taken, (said[0] + step) % N_CLASSES, found)
    return found


def _write(path: Path, said: Ints, score: Floats, site: Ints) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "p", "s", "site"])
        rows.writerows(
            [n, f"c{p}", f"{s:.6f}", f"s{at}"]
            for n, (p, s, at) in enumerate(
                zip(said.tolist(), score.tolist(), site.tolist(), strict=True)
            )
        )


def _speed() -> None:
    """A run of 1,000 labels of eight models."""
    with tempfile.TemporaryDirectory() as name:
        work, truth_of = _opened(Path(name), EIGHT)
        assert work.several is not None, "eight models"
        rows = sum(view.cell.size for view in work.several.views)
        outcome = truth_of(np.random.default_rng(3))
        rule = replace(work.rule, confidence=1.0)  # so that it runs on
        began = time.process_time()
        replay(replace(work, rule=rule), outcome, Measures(1000, (), True), 16, 0)
        took = time.process_time() - began
    line(f"{EIGHT.name}, {rows:,} rows: a run of 1,000 labels", f"{took:.1f} s", "<= 10 s")
