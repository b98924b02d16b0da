"""A pool's ECE: coverage, bias and width of what is published, and whether `rmse: .02` is kept.

A row whose coverage is below its floor is run again, ten times as often and with other draws, and
stands or falls by these runs; the means are those of the first.
"""

import os
import time
from itertools import islice, product
from statistics import median

import numpy as np

from tests.bench.measuring import line, say
from tests.bench.paper.data import FILES, load
from tests.core.scored import (
    SCORES,
    TRUTHS,
    ScoredPool,
    at_stop,
    beliefs,
    cut,
    first,
    followed,
    laid_out,
    made,
)

RUNS = int(os.environ.get("ECE_RUNS", "20"))
LABELS = (20, 50, 100, 200, 700)
SIZES = (300, 2_000, 10_000, 100_000)
FLOOR = 0.88  # of a row's coverage
TIMES = (10, 40)  # as many runs of a row below it, and others: of hundreds some are so by chance
OFF = ("calibrated", "temperature .8", "surest 30% off", "shift -1.2")
TARGET = 0.02


def run() -> None:
    """Print all rows; the numbers of a row stand for 20, 50, 100, 200 and 700 labels."""
    say(f"\nECE of a pool, {RUNS} runs a row; coverage of its 95% interval, bias, width")
    rows, calibrated = [], []
    for scores, truth in product(SCORES, TRUTHS):
        rows.append(_row(f"{scores}, {truth}, 5,000 items, random", _made(scores, truth, 5_000)))
        if truth == "calibrated":
            calibrated.append(rows[-1][:, 0])
    for truth, n in product(OFF, SIZES):
        rows.append(_row(f"deep net, {truth}, {n:,} items, random", _made("deep net", truth, n)))
    for scores, truth in product(("deep net", "uniform"), OFF):
        what = f"{scores}, {truth}, 5,000 items, assay"
        rows.append(_row(what, _made(scores, truth, 5_000), "assay", RUNS // 2))
    for name, strategy in product(FILES, ("random", "assay")):
        pools = [_real(name, is_mass) for is_mass in (False, True)]
        fewer = RUNS if strategy == "random" else RUNS // 2
        rows.append(_row(f"{name}, {strategy}", lambda i, p=pools: p[i % 2], strategy, fewer))
    every = np.array(rows)
    held, bias = every[:, :, 1], np.abs(every[:, :, 0])
    for at, n in enumerate(LABELS):
        mean = f"{np.nanmean(held[:, at]):.3f}"
        line(f"coverage, {n} labels: mean of the rows", mean, ".93 to .99")
        sure = every[:, at, 3]
        low = f"{np.nanmin(sure):.3f}, {(sure < FLOOR).sum()} of {np.isfinite(sure).sum()}"
        line(f"    least row, rows below {FLOOR}", low, f">= {FLOOR}")
        line("    mean |bias| of the rows", f"{np.nanmean(bias[:, at]):.4f}", "")
        most, target = max(of[at] for of in calibrated), "< .01" if n >= 100 else ""
        line("    largest bias of a calibrated pool", f"{most:.4f}", target)
    _stops()
    _speed()


def _made(scores: str, truth: str, n: int):
    return lambda i: made(scores, truth, n, np.random.default_rng([i, n]), mass=bool(i % 2))


def _real(name: str, is_mass: bool) -> ScoredPool:
    pool = load(name)
    return cut(np.clip(pool.score, 0, 1), pool.predicted == pool.label, is_mass)


def _row(what: str, pool_of, strategy: str = "random", runs: int = RUNS) -> np.ndarray:
    """(labels, 4) means of error, coverage and width; coverage again, where it is low of more runs.

    Nan where the pool has fewer items.
    """
    means = _means(what, pool_of, strategy, range(runs))
    sure, done = means[:, 1], runs
    for times in TIMES:
        if (sure < FLOOR).any():
            others = range(done, done + times * runs)
            more = _means("    once more", pool_of, strategy, others)
            sure, done = np.where(sure < FLOOR, more[:, 1], sure), others.stop
    of_all = np.full((len(LABELS), 4), np.nan)
    of_all[: len(means)] = np.column_stack([means, sure])
    return of_all


def _means(what: str, pool_of, strategy: str, runs: range) -> np.ndarray:
    seen, true = [], []
    for i in runs:
        pool = pool_of(i)
        at = [n for n in LABELS if n < pool.cell.size]
        seen.append(followed(pool, at, strategy, np.random.default_rng([i, 1])))
        true.append(pool.ece)
    means = np.array(seen, dtype=float).mean(axis=0)
    error, held, width = (" ".join(f"{x:.3f}" for x in means[:, j]) for j in range(3))
    say(f"{what:<52} true {np.mean(true):.3f}  held {held}  bias {error}  width {width}")
    return means


def _stops() -> None:
    say(f"\n`rmse: {TARGET}` of a pool's ECE, {RUNS} runs: labels at the stop, within it")
    pools = {f"{s}, {t}": _made(s, t, 5_000) for s, t in product(("deep net", "uniform"), OFF)}
    pools |= {name: lambda i, n=name: _real(n, bool(i % 2)) for name in FILES}
    for name, pool_of in pools.items():
        ends = [
            at_stop(pool_of(i), TARGET, "assay", np.random.default_rng([i, 2])) for i in range(RUNS)
        ]
        within = np.mean([abs(error) <= TARGET for _, error in ends])
        line(name, f"{median(n for n, _ in ends):.0f}, {within:.2f}", ">= .60")


def _speed() -> None:
    """Of a label, and of laying out the components."""
    pool = made("deep net", "temperature .8", 5_000, np.random.default_rng(0))
    n_components, n_strata = first(pool).mixture.size, pool.size.size
    going = beliefs(pool, "assay", np.random.default_rng(1))
    b = list(islice(going, 100))[-1]
    began = time.process_time()
    list(islice(going, 200))
    each = (time.process_time() - began) / 200 * 1e3
    line(f"a label, {n_components} components, {n_strata} strata, the laying out included",
         f"{each:.2f} ms", "<= 1 ms")  # fmt: skip
    began = time.process_time()
    for _ in range(10):
        laid_out(b, pool)
    line("the components laid out anew", f"{(time.process_time() - began) * 100:.2f} ms", "")
