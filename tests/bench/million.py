"""A pool of a million items in a thousand groups: start, memory, and one turn."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from connector.local import LabelStudioServer
from tests.bench.measuring import line, quantiles, say, used_memory, write_pool
from tests.bench.turn import header_of, turns
from worker.assessment import assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.embedded import server
from worker.service.server import connect
from worker.store.valkey import ValkeyLedger

GROUPS, ITEMS, EVENTS = 1_000, 1_000_000, 600


def run() -> None:
    """Print all numbers; the start is measured with a real Label Studio."""
    from connector import local

    say(f"\nA large pool: {GROUPS:,} groups, {ITEMS:,} items (predicted class and score)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stop = "stop: {mrr: {confidence: 0.999999}}\n"
        plan = write_pool(folder / "pool", GROUPS, ITEMS, "million", stop)
        home = folder / "home"
        with (
            local.start(folder / "studio") as studio,
            server(home, None) as url,
            connect(url) as connection,
        ):
            before = used_memory(connection)
            say_start(plan, home, studio, "<= 1,500 MB")
            read = load_plan(plan)
            work = assess(read, compile_pool(read, home / "pools"))
            header = header_of(work)
            ledger = ValkeyLedger(connection, "bench")
            ledger.begin(header)
            seconds = turns(work, header, ledger, folder, EVENTS)
            line("one turn of advance, p50 / p95", quantiles(seconds), "<= 30 ms")
            megabytes = (used_memory(connection) - before) / 1e6
            line(f"Redis, after {EVENTS} labels", f"{megabytes:.1f} MB", "<= 50 MB")


def say_start(plan: Path, home: Path, studio: LabelStudioServer, most_memory: str) -> None:
    """Print how long `assay start` takes, with Label Studio, and its memory.

    Args:
        home: where a server runs. most_memory: the goal.
    """
    env = {
        **os.environ,
        "ASSAY_HOME": str(home),
        "LABEL_STUDIO_URL": studio.url,
        "LABEL_STUDIO_API_KEY": studio.token,
    }
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "worker.cli", "start", str(plan)],
        env=env,
        check=True,
        capture_output=True,
    )
    took = time.perf_counter() - began
    # Of all children the largest: `assay start` by far.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line("assay start, whole process", f"{took:.1f} s", "<= 60 s")
    line("assay start, peak memory (upper bound)", f"{peak:,.0f} MB", most_memory)
