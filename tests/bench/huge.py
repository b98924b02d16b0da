"""Fifty million items: compile, open, and take turns, beside a pool of fifty thousand.

Not among the parts that run by themselves: it takes some minutes and 10 GB of disk for a while.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.bench.measuring import line, quantiles, say
from tests.bench.turn import header_of, turns
from worker.assessment import assess, reopen
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.embedded import server
from worker.service.server import connect
from worker.store.valkey import ValkeyLedger
from worker.turn.leasing import LeaseLost

CLASSES, ITEMS, SMALL, EVENTS, LOOKS = 100, 50_000_000, 50_000, 60, 1_000
_PIECE = 1_000_000


def run() -> None:
    """Print all numbers."""
    say(f"\nA very large pool: {ITEMS:,} items, {CLASSES} classes; and one of {SMALL:,}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        plans = {}
        for n_items in (SMALL, ITEMS):
            began = time.perf_counter()
            plans[n_items] = write_plan(folder / f"{n_items}", n_items)
            took = time.perf_counter() - began
        size = (folder / f"{ITEMS}" / "predictions.parquet").stat().st_size / 1e9
        say(f"    (made in {took:.0f} s: a Parquet file of {size:.1f} GB)")
        for n_items, goal in ((SMALL, ""), (ITEMS, "<= 600 s")):
            seconds, peak = checked(plans[n_items], home)
            line(f"{n_items:,} items: assay check, whole process", f"{seconds:.1f} s", goal)
            goal = "<= 2,000 MB" if goal else ""
            line(f"{n_items:,} items: its peak memory (ru_maxrss)", f"{peak:,.0f} MB", goal)
        for n_items in (SMALL, ITEMS):
            opened_and_at_work(plans[n_items], home, folder, n_items)


def write_plan(folder: Path, n_items: int) -> Path:
    """Write predictions (id, class, score, a column to show) piece by piece, and a plan."""
    folder.mkdir()
    names = pa.array([f"class-{k:03d}" for k in range(CLASSES)])
    path = folder / "predictions.parquet"
    writer = None
    for piece in _pieces(n_items, names):
        writer = writer or pq.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    assert writer is not None, "there are items"
    writer.close()
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: huge-{n_items}\n"
        "pool: {predictions: predictions.parquet, predicted: predicted, score: score,"
        " data: {image: url}}\n"
        "question: {task: identify}\nstop: {mrr: {confidence: 0.999999}}\n"
    )
    return plan


def _pieces(n_items: int, names: pa.Array) -> Iterator[pa.Table]:
    rng = np.random.default_rng(7)
    for start in range(0, n_items, _PIECE):
        n = min(_PIECE, n_items - start)
        number = pc.cast(pa.array(np.arange(start, start + n)), pa.string())
        yield pa.table(
            {
                "item_id": pc.binary_join_element_wise("item", number, "-"),
                "predicted": names.take(pa.array(rng.integers(0, CLASSES, n))),
                "score": pa.array(rng.beta(8, 2, n)),
                "url": pc.binary_join_element_wise("https://pictures.example/set-1/", number, ""),
            }
        )


def checked(plan: Path, home: Path) -> tuple[float, float]:
    """Check a plan in a process of its own, which compiles its pool; return seconds and MB."""
    began = time.perf_counter()
    code = (
        "import resource, subprocess, sys; "
        "subprocess.run([sys.executable, '-m', 'worker.cli', 'check', sys.argv[1]], check=True, "
        "stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    env = os.environ | {"ASSAY_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(plan)],
        env=env, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    return time.perf_counter() - began, int(done.stdout) / 1024


def opened_and_at_work(plan: Path, home: Path, folder: Path, n_items: int) -> None:
    """Open a compiled pool as a worker does, look items up, and take turns."""
    read = load_plan(plan)
    began = time.perf_counter()
    pool = compile_pool(read, home / "pools")
    took = time.perf_counter() - began
    line(f"{n_items:,} items: verified again by `assay start` (all is read)", f"{took:.2f} s", "")
    header = header_of(assess(read, pool))
    began = time.perf_counter()
    work = reopen(header, home / "pools")
    took = (time.perf_counter() - began) * 1e3
    line(f"{n_items:,} items: opened by a worker", f"{took:.0f} ms", "")
    rows = np.random.default_rng(1).integers(0, n_items, LOOKS).tolist()
    seconds = []
    for row in rows:
        began = time.perf_counter()
        work.pool.item(row)
        seconds.append(time.perf_counter() - began)
    line(f"{n_items:,} items: an item by its row, p50 / p95", quantiles(seconds), "")
    began = time.perf_counter()
    found = work.pool.find([work.pool.item(row).item_id for row in range(0, n_items, n_items // 9)])
    took = time.perf_counter() - began
    assert len(found) == len(range(0, n_items, n_items // 9)), "an item is not found"
    line(f"{n_items:,} items: ten items found by their ids", f"{took * 1e3:.0f} ms", "")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"    (this process, which maps the pool: at most {peak:,.0f} MB)")
    with server(home, None) as url, connect(url) as connection:
        ledger = ValkeyLedger(connection, f"huge-{n_items}")
        ledger.begin(header)
        try:
            took_ms = quantiles(turns(work, header, ledger, folder, EVENTS))
        except LeaseLost:
            took_ms = "none ends in time"
    # what grows with the pool is the distributions of its groups: each has a number for every item
    line(f"{n_items:,} items: one turn of advance, p50 / p95", took_ms, "")
