"""Many assessments at once: throughput, fairness, memory; real workers, a desk kept in Valkey."""

import multiprocessing
import os
import resource
import signal
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.at_work import begin, kept_up, open_context, opened, resident_mb, workers
from tests.bench.measuring import line, say, used_memory
from tests.bench.stored_desk import StoredDesk
from worker.assessment import Assessment
from worker.service.context import QUEUE, Context
from worker.store.settings import Settings
from worker.watcher import look_around

ASSESSMENTS, WORKERS, ANNOTATIONS, GROUPS, ITEMS = 200, 8, 50_000, 10, 1_000
IDLE, PAUSE_S, MINUTES, KILL_EVERY_S, WATCHER_S = 1_000, 5.0, 4, 60.0, 3.0
_OF_PROCESSES = multiprocessing.get_context("spawn")
OPEN = "stop: {mrr: {confidence: 0.9999999}}\n"


def run() -> None:
    """Print the numbers."""
    say(
        f"\nLoad: {ASSESSMENTS} assessments ({GROUPS} groups, {ITEMS:,} items each), {WORKERS} "
        f"workers, {ANNOTATIONS:,} annotations"
    )
    at_once(ASSESSMENTS, WORKERS, ANNOTATIONS)
    say(
        f"\nLoad: {IDLE:,} idle assessments and {ASSESSMENTS} whose people answer every "
        f"{PAUSE_S:.0f} s, {MINUTES} minutes; every minute half of the {WORKERS} workers are killed"
    )
    beside_idle(IDLE, ASSESSMENTS, WORKERS, 60 * MINUTES)


def at_once(n_assessments: int, n_workers: int, n_annotations: int) -> None:
    """All assessments at once, until so many annotations are counted."""
    with tempfile.TemporaryDirectory() as name, open_context(Path(name)) as context:
        work = opened(Path(name), GROUPS, ITEMS, OPEN)
        names = [f"load-{n:03d}" for n in range(n_assessments)]
        for n, assessment in enumerate(names):
            begin(context, work, assessment, n)
        with workers(context, n_workers) as processes:
            _label(context, work, names, n_annotations, processes)


def _label(
    context: Context, work: Assessment, names: list[str], n_annotations: int, processes: list[int]
) -> None:
    """Answer whatever is open, wake, and note how long each assessment's people wait."""
    rng, classes = np.random.default_rng(3), work.pool.classes
    predicted = {
        item.item_id: item.predicted for item in map(work.pool.item, range(work.pool.n_items))
    }
    desks = [StoredDesk(context.state, n) for n in range(len(names))]
    quota = n_annotations // len(names)
    given, since = [0] * len(names), [time.perf_counter()] * len(names)
    waits: dict[int, list[float]] = defaultdict(list)
    over, ours = threading.Event(), _Memory(context, processes)
    watcher = threading.Thread(target=_wake_all, args=(context, names, over))
    watcher.start()
    began = time.perf_counter()
    while min(given) < quota:
        for n, desk in enumerate(desks):
            answered = 0
            while given[n] < quota and (task := desk.take()) is not None:
                if not answered and given[n]:
                    waits[n].append(time.perf_counter() - since[n])
                right = predicted[task[1]]
                desk.answer(*task, classes[right if rng.random() < 0.8 else right - 1])
                given[n] += 1
                answered += 1
            if answered:
                context.wake(names[n])
                since[n] = time.perf_counter()
        ours.look(sum(given))
    labels = _counted(context, names, quota)
    took = time.perf_counter() - began
    over.set()
    watcher.join()
    lost, doubled = sum(n < quota for n in labels), sum(n > quota for n in labels)
    line("annotations counted", f"{sum(labels):,}", f"{quota * len(names):,}")
    line("assessments with a label lost / counted twice", f"{lost} / {doubled}", "0 / 0")
    line("throughput", f"{sum(labels) / took:,.0f} /s", "")
    means = np.array([np.mean(waits[n]) for n in range(len(names))])
    line("wait for the next tasks after the last answer, mean", f"{1e3 * means.mean():,.0f} ms", "")
    longest = means.max() / means.mean()
    line("... of the assessment that waits longest, over the mean", f"{longest:.2f}", "<= 5")
    ours.tell()


def beside_idle(n_idle: int, n_busy: int, n_workers: int, seconds: float) -> None:
    """Some are labelled, most are not, and workers die: what the watcher and the people wait."""
    with tempfile.TemporaryDirectory() as name, open_context(Path(name)) as context:
        work = opened(Path(name), GROUPS, ITEMS, OPEN)
        names = [f"load-{n:04d}" for n in range(n_busy + n_idle)]
        for n, assessment in enumerate(names):
            begin(context, work, assessment, n)
        with kept_up(context, n_workers) as pids:
            while context.jobs.llen(f"rq:queue:{QUEUE}"):
                time.sleep(0.5)
            for assessment in names[n_busy:]:  # nobody was there for an hour
                context.ledger(assessment).advance_cursor(int((time.time() - 3600) * 1e6))
            watched = _OF_PROCESSES.Queue()
            over = _OF_PROCESSES.Event()
            watcher = _OF_PROCESSES.Process(
                target=_watch, args=(context.settings, context.url, over, watched)
            )
            watcher.start()
            before_s, began = _cpu_s(pids()), time.perf_counter()
            waits, n_killed = _answer(context, work, names[:n_busy], seconds, pids)
            cpu_s, took_s = _cpu_s(pids()) - before_s, time.perf_counter() - began
            over.set()
            rounds_ms, waits_s = 1e3 * np.array(watched.get()), np.array(waits)
            watcher.join()
    line("a round of the watcher (p50, longest)", _two(rounds_ms, 100, "ms"), "1,000 ms")
    line(f"answers; workers killed: {n_killed}", f"{len(waits):,}", "")
    line("answered until counted (p50, p95)", _two(waits_s, 95, "s"), "2 s")
    line("... the longest", f"{waits_s.max():.2f} s", "")
    line(
        "labels a second; cores that the workers took",
        f"{len(waits) / took_s:.0f}; {cpu_s / took_s:.2f}",
        "",
    )


def _cpu_s(pids: list[int]) -> float:
    """The processor time of our children: those that are gone, and these."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError):  # killed a moment ago, and counted with the gone
            fields = (
                Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            )
            ticks += int(fields[11]) + int(fields[12])
    return gone.ru_utime + gone.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _two(values: NDArray[np.float64], upper: float, unit: str) -> str:
    return "{:.3g}, {:.3g} {}".format(*np.percentile(values, [50, upper]), unit)


def _watch(settings: Settings, url: str, over: Event, watched: "Queue[list[float]]") -> None:
    """Go round as `assay watch` does, in a process of its own; tell how long each round took."""
    context, rounds = Context(settings, url), list[float]()
    while not over.wait(WATCHER_S):
        began = time.perf_counter()
        look_around(context, len(rounds), WATCHER_S / 2)
        rounds.append(time.perf_counter() - began)
    context.close()
    watched.put(rounds)


def _answer(
    context: Context,
    work: Assessment,
    names: list[str],
    seconds: float,
    pids: Callable[[], list[int]],
) -> tuple[list[float], int]:
    """Answer, wake as the receiver does, kill; the seconds until each was counted, and the dead."""
    rng, n_killed = np.random.default_rng(3), 0
    desks = [StoredDesk(context.state, n) for n in range(len(names))]
    given, asked = [0] * len(names), dict[int, float]()
    waits, began = list[float](), time.perf_counter()
    due = began + PAUSE_S * rng.random(len(names))
    kill_at = began + KILL_EVERY_S / 2
    while (now := time.perf_counter()) < began + seconds or (asked and now < began + seconds + 120):
        if now >= kill_at and now < began + seconds:
            kill_at += KILL_EVERY_S
            for pid in rng.choice(pids(), len(pids()) // 2, replace=False):
                os.kill(int(pid), signal.SIGKILL)
                n_killed += 1
        for n in np.flatnonzero(due <= now) if now < began + seconds else ():
            if n not in asked and (task := desks[n].take()) is not None:
                desks[n].answer(*task, work.pool.classes[rng.integers(2)])
                given[n] += 1
                asked[n] = time.perf_counter()
                due[n] = now + PAUSE_S
                context.wake(names[n])
        for n, labels in zip(list(asked), _labels(context, [names[n] for n in asked]), strict=True):
            if labels >= given[n]:
                waits.append(time.perf_counter() - asked.pop(n))
        time.sleep(0.05)
    line("answers not counted two minutes after the last", str(len(asked)), "0")
    return waits, n_killed


def _labels(context: Context, names: list[str]) -> list[int]:
    """How many labels of each are counted."""
    with context.state.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hvals(f"assay:{{{name}}}:tally")
        return [sum(map(int, counts)) for counts in pipe.execute()]


def _counted(context: Context, names: list[str], quota: int) -> list[int]:
    """Wait until everything is counted; how many labels each assessment has."""
    deadline = time.monotonic() + 120
    while True:
        labels = _labels(context, names)
        if min(labels) >= quota or time.monotonic() > deadline:
            return labels
        time.sleep(0.5)


def _wake_all(context: Context, names: list[str], over: threading.Event) -> None:
    """The watcher's part."""
    while not over.wait(3.0):
        for name in names:
            context.wake(name)


class _Memory:
    """What workers and server hold, at a quarter and at the end."""

    def __init__(self, context: Context, processes: list[int]) -> None:
        self._context, self._processes = context, processes
        self._seen: list[tuple[int, float, int]] = []
        self._next = 0.0

    def look(self, n_labels: int) -> None:
        """Note it, every two seconds."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 2
            most = max(map(resident_mb, self._processes))
            self._seen.append((n_labels, most, used_memory(self._context.state)))

    def tell(self) -> None:
        """Print it."""
        last = self._seen[-1]
        for part in (0.25, 0.5, 1.0):
            n, most, held = min(self._seen, key=lambda s: abs(s[0] - part * last[0]))
            line(
                f"largest worker / Valkey after {n:,} annotations",
                f"{most:.0f} / {held / 1e6:.0f} MB",
                "",
            )
