"""One assessment of ten thousand groups: its turns, its end, its status and report."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.bench.at_work import begin, open_context, opened, resident_mb, workers
from tests.bench.measuring import line, quantiles, say
from tests.bench.stored_desk import StoredDesk
from worker.assessment import Assessment
from worker.service.context import Context
from worker.service.counters import counters
from worker.store.valkey import ValkeyLedger

GROUPS, ITEMS, LABELS, IDLE_TURNS = 10_000, 100_000, 200, 10


def run() -> None:
    """One assessment of very many groups, to its end and beyond it; status and report of it.

    Groups of one item, labelled wrong, are surely the lowest: the default rule is met after some
    tens of labels. Asked for a label of every group beside, it holds then and does not stop.
    """
    say(f"\nWide: {GROUPS:,} groups, {ITEMS:,} items, the default plan, one worker")
    with tempfile.TemporaryDirectory() as name, open_context(Path(name)) as context:
        began = time.perf_counter()
        work = opened(Path(name), GROUPS, ITEMS, "stop: {min_per_group: 1}\n")
        line("compiled and opened in", f"{time.perf_counter() - began:.1f} s", "")
        ended = opened(Path(name) / "to-its-end", GROUPS, ITEMS, "")
        begin(context, work, "on", 0)
        begin(context, ended, "to-its-end", 1)
        with workers(context, 1) as processes:
            for number, (assessment, case) in enumerate((("on", work), ("to-its-end", ended))):
                _take_turn(context, assessment)
                began = time.perf_counter()
                n, waits = _label_one_by_one(context, case, assessment, number)
                took = time.perf_counter() - began
                state = context.ledger(assessment).state().status
                line(f"{n} labels, then {state}", f"{took:.1f} s", "200 in 60 s")
                line("... from a label until its turn is over, p50 / p95", quantiles(waits), "")
                line("... the longest", f"{max(waits):.2f} s", "")
                before = counters(context.state, assessment)
                for _ in range(IDLE_TURNS):
                    _take_turn(context, assessment)
                after = counters(context.state, assessment)
                idle = (after.turn_seconds - before.turn_seconds) / IDLE_TURNS
                line("... a turn with nothing new", f"{1e3 * idle:.0f} ms", "<= 50 ms")
                most = max(map(resident_mb, processes))
                line("... the worker", f"{most:.0f} MB", "<= 1,000 MB")
        line("assay status", f"{_command(context, 'status', 'to-its-end'):.1f} s", "")
        line("assay report", f"{_command(context, 'report', 'to-its-end'):.1f} s", "<= 10 s")


def _label_one_by_one(
    context: Context, work: Assessment, name: str, number: int
) -> tuple[int, list[float]]:
    """Answer one task, wait until it counts, and so on; how many, and how long each took."""
    rng, classes, pool = np.random.default_rng(3), work.pool.classes, work.pool
    desk, ledger, waits = StoredDesk(context.state, number), context.ledger(name), list[float]()
    deadline = time.monotonic() + 300
    while len(waits) < LABELS and (task := _next_task(desk, ledger, deadline)) is not None:
        predicted = pool.item(pool.find({task[1]})[task[1]]).predicted
        desk.answer(*task, classes[predicted if rng.random() < 0.8 else predicted - 1])
        began = time.perf_counter()
        _take_turn(context, name)
        waits.append(time.perf_counter() - began)
    labels = sum(ledger.state().tally.values())
    assert labels == len(waits), f"{labels} labels are counted, {len(waits)} were given"
    return labels, waits


def _next_task(desk: StoredDesk, ledger: ValkeyLedger, deadline: float) -> tuple[int, str] | None:
    """What lies open next; None once the assessment is stopped."""
    while time.monotonic() < deadline:
        task = desk.take()
        if task is not None or ledger.state().status == "stopped":
            return task
        time.sleep(0.01)
    raise AssertionError("no task comes")


def _take_turn(context: Context, name: str) -> None:
    """Ask for a turn, and wait until it and all others that were begun are over."""
    before = _turns(context, name)
    context.wake(name)
    while _turns(context, name) < max(before + 1, context.ledger(name).wakes()):
        time.sleep(0.005)


def _turns(context: Context, name: str) -> int:
    return sum(counters(context.state, name).turns)


def _command(context: Context, *words: str) -> float:
    """Seconds of a command in a process of its own."""
    env = os.environ | {"ASSAY_HOME": str(context.settings.home), "REDIS_URL": context.url}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "worker.cli", *words], env=env, check=True, capture_output=True
    )
    return time.perf_counter() - began
