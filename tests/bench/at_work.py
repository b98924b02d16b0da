"""Assessments on a server of their own, with workers in processes of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from connector.supervised import tied
from tests.bench.measuring import write_pool
from tests.bench.turn import header_of
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service import supervisor
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import connect
from worker.store.settings import Settings


def resident_mb(pid: int) -> float:
    """What a process holds in memory."""
    text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def opened(folder: Path, n_groups: int, n_items: int, more: str) -> Assessment:
    """A made-up pool and its plan, joined."""
    plan = load_plan(write_pool(folder / "pool", n_groups, n_items, "load", more))
    return assess(plan, compile_pool(plan, folder / "pools"))


def begin(context: Context, work: Assessment, name: str, project: int) -> None:
    """Begin an assessment and ask for its first turn."""
    plan = work.plan.model_copy(update={"assessment": name, "seed": project})
    header = replace(header_of(work), assessment=name, plan=plan.model_dump_json(), project=project)
    context.ledger(name).begin(header)
    context.enter(name)
    context.wake(name)


@contextmanager
def open_context(folder: Path) -> Iterator[Context]:
    """A context with a server of its own."""
    with server(folder / "home", None) as url, connect(url) as _:
        context = Context(Settings(folder / "home", url, None), url)
        try:
            yield context
        finally:
            context.close()


def _environment(context: Context) -> dict[str, str]:
    """What workers are told."""
    env = os.environ | {"ASSAY_HOME": str(context.settings.home), "REDIS_URL": context.url}
    # numpy's linear algebra would start as many threads in each of them.
    return env | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@contextmanager
def workers(context: Context, n: int) -> Iterator[list[int]]:
    """So many workers in processes of their own; their ids."""
    env = _environment(context)
    command = tied([sys.executable, "-m", "tests.bench.load_worker"])
    started = [subprocess.Popen(command, env=env) for _ in range(n)]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(30)


@contextmanager
def kept_up(context: Context, n: int) -> Iterator[Callable[[], list[int]]]:
    """So many workers, which `assay up` starts again when they die; a function tells their ids."""
    bench = [sys.executable, "-m", "tests.bench.load_worker"]
    children = [(f"worker-{one}", ["worker"]) for one in range(n)]
    over, pids = threading.Event(), context.settings.home / "up.pids"

    def run() -> None:
        with patch.object(supervisor, "command_of", lambda *_: bench):
            supervisor.keep_up(context, _environment(context), children, lambda _: None, over, pids)

    # Its children end with the thread that starts them, so that it stays to the end.
    keeper = threading.Thread(target=run)
    keeper.start()
    while not pids.exists():
        time.sleep(0.1)
    try:
        yield lambda: [int(line.split()[1]) for line in pids.read_text().splitlines()]
    finally:
        over.set()
        keeper.join()
