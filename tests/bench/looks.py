"""Flags of change on pairs of months that are alike: how often there is ever one, over 20 looks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from itertools import islice

import numpy as np

from tests.bench.change import followed, month
from tests.bench.measuring import line, say
from tests.bench.paper.cache import Value
from tests.bench.paper.cases import spread
from tests.bench.paper.data import Pool
from tests.calibration.made import Made, made
from worker.findings.changing import changed_since
from worker.simulate.replay import labels

RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "40"))
THEN, NOW = 300, tuple(range(20, 401, 20))  # labels of the first month, and at each look
KINDS = (
    "b one rate",
    "d overconfident",
    "d constant",
    "e near ties",
    "f one-sided",
    "c calibrated",
)
PRIORS: dict[str, Value] = {"empirical": {}, "uniform": {"prior": {"kind": "uniform"}}}
WORSE = 0.25  # of the right items of a pool that became worse, which are wrong then


def run() -> None:
    """Print the share of runs with a flag; a quarter of an hour."""
    say(f"\nTwo months alike, {RUNS} pairs each, {len(NOW)} looks at the second; tolerance .005")
    for size in ("ten", "four"):
        for prior in PRIORS:
            for kind in KINDS:
                _tell(f"{size} groups, {prior} prior, {kind}", kind, size, prior, 0.0, "<= 5%")
    _tell(f"ten groups, {WORSE:.0%} more are wrong", "d constant", "ten", "empirical", WORSE, "")


def _tell(what: str, kind: str, size: str, prior: str, worse: float, goal: str) -> None:
    found = np.array(spread(partial(flags, kind, size, prior, worse), range(RUNS)))
    group, pool = found.T
    shares = (group.mean(), pool.mean(), (group | pool).mean())
    line(f"{what}: any group, the pool, either", " ".join(f"{x:.1%}" for x in shares), goal)


def flags(kind: str, size: str, prior: str, worse: float, number: int) -> tuple[bool, bool]:
    """One pair: whether ever a group was flagged, and whether the pool was."""
    rng = np.random.default_rng([26, number])
    pool = made(kind, size)
    assert pool is not None, "made pools are there"
    assert pool.rates is not None, "their truth is not drawn from the prior"
    rate = np.clip(pool.rates(rng), 0.0, 1.0)
    one, two = (_pool(pool, rng.random(rate.size) < rate * less, rng) for less in (1.0, 1 - worse))
    question, stop = {"task": "identify", "tolerance": 0.005}, {"mrr": {"confidence": 0.95}}
    more = PRIORS[prior]
    with (
        month(one, question, stop, number, more) as first,
        month(two, question, stop, 1000 + number, more) as second,
    ):
        rows = [one.row for one in islice(labels(first.work, first.outcome), THEN)]
        after = followed(first, rows, second)
        found = [
            changed_since(after.work, revealed.belief)
            for n, revealed in enumerate(
                islice(labels(after.work, after.outcome), NOW[-1]), start=1
            )
            if n in NOW
        ]
    return any(f.changed.any() for f in found), any(f.whole_changed for f in found)


def _pool(pool: Made, is_right: Sequence[bool], rng: np.random.Generator) -> Pool:
    other = (pool.predicted + rng.integers(1, pool.n_classes, pool.predicted.size)) % pool.n_classes
    label = np.where(is_right, pool.predicted, other)
    return Pool("made", pool.n_classes, pool.predicted, pool.score, label, None)
