"""Two months of one classifier: what the first one's labels are worth in the second.

The months are random halves of a published pool (nothing changed), the second half with errors put
into some groups, or the predictions of another model. Each month is assessed as it would be live.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import yaml
from numpy.typing import NDArray

from tests.bench.measuring import line, say
from tests.bench.paper.cache import Value
from tests.bench.paper.cases import planned, spread
from tests.bench.paper.data import Ints, Pool, folder, load
from worker.assessment import Assessment, assess, continuing
from worker.core.drift.history import believed_share, full_worth
from worker.core.posterior.belief import Belief
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.intervals import interval
from worker.findings.changing import changed_since
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.setup.earlier import Earlier, items_in_rows
from worker.setup.since import continue_with
from worker.simulate.measuring import Log, Measures
from worker.simulate.replay import labels
from worker.simulate.truths import outcomes, true_values
from worker.store.tally import tally_key

Floats = NDArray[np.float64]
Rng = np.random.Generator

RUNS = int(os.environ.get("ASSAY_BENCH_RUNS", "20"))
POOLS = ("cifar100", "svhn", "20newsgroups")
# What a month asks. The error is such that a month needs some hundred labels: groups of CIFAR-100
# have 50 items.
RMSE = {"cifar100": 0.06, "svhn": 0.02, "20newsgroups": 0.03}
SPOILED_GROUPS, SPOILED_ITEMS = 0.1, 1 / 3
AFTER = (200, 800)  # labels after which intervals and flags are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Month:
    """A pool with its truth, as it is assessed. label: of every row, by name."""

    work: Assessment
    outcome: Ints
    truth: Floats
    label: Sequence[str]


@dataclass(frozen=True, slots=True)
class Course:
    """A month's labels up to the decision. covered: of the groups' 95% intervals, at each `AFTER`.

    bad: of the groups that were spoiled alone. flags, false: spoiled and other groups that are said
    to have changed at each `AFTER`; whole: whether the pool is.
    """

    rows: tuple[int, ...]
    n_labels: int
    is_right: bool
    covered: tuple[float, ...]
    bad: tuple[float, ...]
    flags: tuple[int, ...] = ()
    false: tuple[int, ...] = ()
    whole: tuple[bool, ...] = ()
    believed: float = float("nan")


def run() -> None:
    """Print all numbers; about an hour with 20 runs of each (ASSAY_BENCH_RUNS)."""
    if not folder().exists():
        say("The pools are not part of the project; set ASSAY_PAPER_DATA")
        return
    say(f"\nChange over time: month 2 after month 1, {RUNS} pairs of months each")
    for what in ("lowest", "rmse"):
        for name in POOLS:
            report(f"{name}, {what}, nothing changed", partial(pair, name, what, "same"))
    for name in POOLS:
        report(f"{name}, rmse, a tenth spoiled", partial(pair, name, "rmse", "spoiled"))
    report("cifar100, rmse, another model", partial(pair, "cifar100", "rmse", "other"))


def report(what: str, work: Callable[[int], dict[str, Course]]) -> None:
    """Take the pairs of months, and print what came of them."""
    found = spread(work, range(RUNS))
    base = np.array([pair["without"].n_labels for pair in found])
    for way in found[0]:
        courses = [pair[way] for pair in found]
        n = np.array([course.n_labels for course in courses])
        ratio = f", {n.sum() / base.sum():.2f} x" if way != "without" else ""
        right = np.mean([course.is_right for course in courses])
        covered = _shares([course.covered for course in courses])
        told = f"{n.mean():.0f} labels{ratio}, right {right:.0%}, 95% hold {covered}"
        if courses[0].bad:
            told += f" (spoiled {_shares([course.bad for course in courses])})"
        if way == "inferred":
            told += f", {np.mean([course.believed for course in courses]):.2f} believed"
        line(f"{what}: {way}", told, "")
    told = [pair["inferred"] for pair in found]
    any_false = [[n > 0 for n in course.false] for course in told]
    flags = f"runs with a false flag {_shares(any_false)}, pool flagged "
    flags += _shares([course.whole for course in told])
    if "spoiled" in what:
        flags += f", spoiled groups flagged on average {np.mean([c.flags for c in told], axis=0)}"
    line(f"{what}: after {' and '.join(map(str, AFTER))} labels", flags, "")


def pair(name: str, what: str, how: str, number: int) -> dict[str, Course]:
    """One pair of months, the second one in four ways."""
    rng = np.random.default_rng([number, 1])
    first, second = halves(replace(load(name), probs=None), rng)
    bad: NDArray[np.intp] = np.zeros(0, np.intp)
    if how == "spoiled":
        second, bad = spoiled(second, rng)
    if how == "other":
        other = replace(load("cifar100-wrn"), probs=None)
        second = part(other, rng.permutation(other.label.size)[: second.label.size])
    asked = question_of(name, what)
    with month(first, *asked, number) as one, month(second, *asked, 1000 + number) as two:
        before = assessed(one, bad)
        after = followed(one, before.rows, two)
        found = {
            "without": assessed(two, bad),
            "inferred": assessed(after, bad, has_flags=True),
        }
        with fixed():
            found["all believed"] = assessed(again(after), bad)
        return found


def question_of(name: str, what: str) -> tuple[Value, Value]:
    """The question and the stop rule of a pool."""
    if what == "lowest":
        return {"task": "identify"}, {"mrr": {"threshold": 0.99, "confidence": 0.95}}
    return {"task": "estimate"}, {"rmse": RMSE[name]}


@contextmanager
def fixed() -> Iterator[None]:
    """Every earlier label counts as one: a plain power prior of 1, for comparison."""
    ones = lambda b: np.ones(b.n_groups)  # noqa: E731
    worth = lambda *_: full_worth()  # noqa: E731
    with (
        patch.object(continuing, "drift", worth),
        patch.object(continuing, "no_rate", worth),
        patch.object(continuing, "believed_share", ones),
        patch.object(continuing, "_fits", BoundedCache(1 << 22)),
    ):
        yield


def again(m: Month) -> Month:
    """The month with its first belief made anew."""
    return replace(m, work=assess(m.work.plan, m.work.pool))


def halves(pool: Pool, rng: Rng) -> tuple[Pool, Pool]:
    """Two random halves of a pool."""
    order = rng.permutation(pool.label.size)
    return part(pool, order[: order.size // 2]), part(pool, order[order.size // 2 :])


def part(pool: Pool, rows: Ints) -> Pool:
    """Some rows of a pool without probabilities."""
    return replace(
        pool, predicted=pool.predicted[rows], score=pool.score[rows], label=pool.label[rows]
    )


def _spoiled_groups(n_classes: int, rng: Rng) -> NDArray[np.intp]:
    n = max(1, round(SPOILED_GROUPS * n_classes))
    return rng.choice(n_classes, n, replace=False)


def spoiled(pool: Pool, rng: Rng) -> tuple[Pool, NDArray[np.intp]]:
    """The pool with a third of the right items of a tenth of its groups wrong; and which groups."""
    groups = _spoiled_groups(pool.n_classes, rng)
    right = np.flatnonzero(np.isin(pool.predicted, groups) & (pool.predicted == pool.label))
    hit = right[rng.random(right.size) < SPOILED_ITEMS]
    label = pool.label.copy()
    shift = 1 + rng.integers(pool.n_classes - 1, size=hit.size)
    label[hit] = (label[hit] + shift) % pool.n_classes
    return replace(pool, label=label), groups


@contextmanager
def month(
    pool: Pool, question: Value, stop: Value, seed: int, more: Value | None = None
) -> Iterator[Month]:
    """A month as it is assessed; valid inside the block. more: of its plan."""
    with planned(pool, question) as path, TemporaryDirectory() as compiled_in:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) | {"stop": stop, "seed": seed}
        values |= more or {}
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        plan = load_plan(path, for_simulation=True)
        compiled = compile_pool(plan, Path(compiled_in))
        truth = read_truth(plan, compiled, "truth")
        work = assess(plan, compiled)
        outcome = outcomes(work, truth)
        names = [compiled.classes[k] for k in truth.tolist()]
        yield Month(work, outcome, true_values(work, outcome), names)


def assessed(m: Month, bad: NDArray[np.intp], has_flags: bool = False) -> Course:
    """Take the labels of a month, up to its decision and to the last of `AFTER`."""
    n_items = m.work.pool.n_items
    until = min(AFTER[-1], n_items)
    log = Log(m.work, m.truth, Measures(n_items, only_stop=True))
    rows: list[int] = []
    seen: list[Belief] = []
    for n, revealed in enumerate(labels(m.work, m.outcome), start=1):
        rows.append(revealed.row)
        belief = revealed.belief
        if log.stop is None:
            log.take(n, revealed.belief)
        if n in AFTER or (n == until and until not in AFTER):
            seen.append(belief)
        if log.stop is not None and n >= until:
            break
    assert log.stop is not None, "a month ends when all is labelled"
    of_bad = tuple(_held(b, m.truth, bad) for b in seen) if bad.size else ()
    filled = np.flatnonzero(~np.isnan(m.truth))
    course = Course(
        tuple(rows[: log.stop.labels]),
        log.stop.labels,
        log.stop.is_right,
        tuple(_held(b, m.truth, filled) for b in seen),
        of_bad,
    )
    if not has_flags:
        return course
    found = [changed_since(m.work, b) for b in seen]
    flagged = [set(np.flatnonzero(f.changed).tolist()) for f in found]
    return replace(
        course,
        flags=tuple(len(f & set(bad.tolist())) for f in flagged),
        false=tuple(len(f - set(bad.tolist())) for f in flagged),
        whole=tuple(f.whole_changed for f in found),
        believed=float(believed_share(seen[-1]).mean()),
    )


def followed(one: Month, rows: Sequence[int], two: Month) -> Month:
    """The second month as one that continues the first."""
    cell = np.repeat(np.arange(one.work.pool.n_cells), one.work.pool.cell_size)
    tally: dict[str, int] = {}
    for claim, row in enumerate(rows):
        predicted = int(one.work.pool.predicted[row])
        key = tally_key(claim, int(cell[row]), predicted, one.label[row])
        tally[key] = tally.get(key, 0) + 1
    items = items_in_rows(one.work, list(rows), [one.label[row] for row in rows])
    plan, pool = two.work.plan, two.work.pool
    joined = continue_with(plan, pool, Earlier(one.work, tally, items, "stopped", ""))
    return replace(two, work=assess(plan, joined))


def _held(belief: Belief, truth: Floats, groups: NDArray[np.intp]) -> float:
    """The share of some groups whose 95% interval holds the truth."""
    low, high = interval(belief)[groups].T
    return float(((low - 1e-9 <= truth[groups]) & (truth[groups] <= high + 1e-9)).mean())


def _shares(values: object) -> str:
    """Means over the runs at each `AFTER`."""
    return " / ".join(f"{x:.0%}" for x in np.mean(values, axis=0))
