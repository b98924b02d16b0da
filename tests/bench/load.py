"""Many assessments at once: throughput, fairness, memory; real workers, a desk kept in Valkey."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from connector.tethered import tied
from tests.bench.measuring import line, say, used_memory, write_pool
from tests.bench.stored_desk import StoredDesk
from tests.bench.turn import header_of
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.embedded import server
from worker.service.office import Office
from worker.service.server import connect
from worker.service.settings import Settings

ASSESSMENTS, WORKERS, ANNOTATIONS, GROUPS, ITEMS = 200, 8, 50_000, 10, 1_000


def run() -> None:
    """Print the numbers."""
    say(
        f"\nLoad: {ASSESSMENTS} assessments ({GROUPS} groups, {ITEMS:,} items each), {WORKERS} "
        f"workers, {ANNOTATIONS:,} annotations"
    )
    at_once(ASSESSMENTS, WORKERS, ANNOTATIONS)


def at_once(n_assessments: int, n_workers: int, n_annotations: int) -> None:
    """All assessments at once, until so many annotations are counted."""
    with tempfile.TemporaryDirectory() as name, open_office(Path(name)) as office:
        work = opened(Path(name), GROUPS, ITEMS, "stop: {mrr: {confidence: 0.9999999}}\n")
        names = [f"load-{n:03d}" for n in range(n_assessments)]
        for n, assessment in enumerate(names):
            begin(office, work, assessment, n)
        with workers(office, n_workers) as processes:
            _label(office, work, names, n_annotations, processes)


def _label(
    office: Office, work: Assessment, names: list[str], n_annotations: int, processes: list[int]
) -> None:
    """Answer whatever is open, wake, and note how long each assessment's people wait."""
    rng, classes = np.random.default_rng(3), work.pool.classes
    predicted = {
        item.item_id: item.predicted for item in map(work.pool.item, range(work.pool.n_items))
    }
    desks = [StoredDesk(office.state, n) for n in range(len(names))]
    quota = n_annotations // len(names)
    given, since = [0] * len(names), [time.perf_counter()] * len(names)
    waits: dict[int, list[float]] = defaultdict(list)
    over, ours = threading.Event(), _Memory(office, processes)
    watcher = threading.Thread(target=_wake_all, args=(office, names, over))
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
                office.wake(names[n])
                since[n] = time.perf_counter()
        ours.look(sum(given))
    labels = _counted(office, names, quota)
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


def _counted(office: Office, names: list[str], quota: int) -> list[int]:
    """Wait until everything is counted; how many labels each assessment has."""
    deadline = time.monotonic() + 120
    while True:
        labels = [sum(office.ledger(name).standing().tally.values()) for name in names]
        if min(labels) >= quota or time.monotonic() > deadline:
            return labels
        time.sleep(0.5)


def _wake_all(office: Office, names: list[str], over: threading.Event) -> None:
    """The watcher's part."""
    while not over.wait(3.0):
        for name in names:
            office.wake(name)


class _Memory:
    """What workers and server hold, at a quarter and at the end."""

    def __init__(self, office: Office, processes: list[int]) -> None:
        self._office, self._processes = office, processes
        self._seen: list[tuple[int, float, int]] = []
        self._next = 0.0

    def look(self, n_labels: int) -> None:
        """Note it, every two seconds."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 2
            most = max(map(resident_mb, self._processes))
            self._seen.append((n_labels, most, used_memory(self._office.state)))

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


def resident_mb(pid: int) -> float:
    """What a process holds in memory."""
    text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def opened(folder: Path, n_groups: int, n_items: int, more: str) -> Assessment:
    """A made-up pool and its plan, joined."""
    plan = load_plan(write_pool(folder / "pool", n_groups, n_items, "load", more))
    return assess(plan, compile_pool(plan, folder / "pools"))


def begin(office: Office, work: Assessment, name: str, project: int) -> None:
    """Begin an assessment and ask for its first turn."""
    plan = work.plan.model_copy(update={"assessment": name, "seed": project})
    header = replace(header_of(work), assessment=name, plan=plan.model_dump_json(), project=project)
    office.ledger(name).begin(header)
    office.enter(name)
    office.wake(name)


@contextmanager
def open_office(folder: Path) -> Iterator[Office]:
    """An office with a server of its own."""
    with server(folder / "home", None) as url, connect(url) as _:
        office = Office(Settings(folder / "home", url, None), url)
        try:
            yield office
        finally:
            office.close()


@contextmanager
def workers(office: Office, n: int) -> Iterator[list[int]]:
    """So many workers in processes of their own; their ids."""
    env = os.environ | {"ASSAY_HOME": str(office.settings.home), "REDIS_URL": office.url}
    # numpy's linear algebra would start as many threads in each of them.
    env |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = tied([sys.executable, "-m", "tests.bench.load_worker"])
    started = [subprocess.Popen(command, env=env) for _ in range(n)]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(30)
