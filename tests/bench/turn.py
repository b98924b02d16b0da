"""One event through a turn, and a burst of judgements, at 100 groups with a real Valkey."""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.bench.measuring import NullDesk, answered, line, quantiles, say, write_pool
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.embedded import server
from worker.service.server import connect
from worker.store import Claim, Header
from worker.store.rules import Rules
from worker.store.valkey import ValkeyLedger
from worker.turn.loop import advance
from worker.turn.sync import BATCH, record

GROUPS, ITEMS, EVENTS, BURST = 100, 10_000, 400, 5_000
# With the same answers: what else the machine does hits other turns in each (so has it `timeit`).
PASSES = 4
PLAIN = "prior: {kind: uniform}\nstrategy: thompson\n"  # the paper's; one stratum


def run() -> None:
    """Print the numbers: of the paper's plan, of the default one with its strata and refits."""
    say(f"\nTurns: {GROUPS} groups, {ITEMS:,} items, a real Valkey, a desk that does nothing")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder / "home", None) as url, connect(url) as connection:
            for said, more in (("uniform, thompson", PLAIN), ("the default plan", "")):
                with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
                    passes = list(fresh.map(one_pass, *zip(*[(url, more)] * PASSES, strict=True)))
                what = f"one event through advance, {said}, p50 / p95"
                line(what, quantiles(np.min(passes, axis=0)), "p95 <= 10 ms")
                each = "; ".join(quantiles(one) for one in passes)
                say(f"    (of each turn the shortest of {PASSES} passes, which are: {each})")
            burst = ValkeyLedger(connection, "burst")
            work = opened(folder, GROUPS, ITEMS)
            burst.begin(header_of(work))
            drain(work, burst)


def one_pass(url: str, more: str) -> list[float]:
    """The seconds of each turn, in a process of its own: the numbers that are kept would help."""
    with tempfile.TemporaryDirectory() as name, connect(url) as connection:
        work = opened(Path(name), GROUPS, ITEMS, more)
        ledger = ValkeyLedger(connection, Path(name).name)
        header = header_of(work)
        ledger.begin(header)
        return turns(work, header, ledger, Path(name), EVENTS)


def opened(folder: Path, n_groups: int, n_items: int, more: str = PLAIN) -> Assessment:
    """Compile a made-up pool with a plan that never stops by itself."""
    stop = f"{more}stop: {{min_per_group: {n_items}}}\n"
    plan = load_plan(write_pool(folder / "pool", n_groups, n_items, "bench", stop))
    return assess(plan, compile_pool(plan, folder / "pools"))


def header_of(work: Assessment, assessment: str = "bench") -> Header:
    """A header that points to no Label Studio."""
    pool = work.pool
    return Header(
        assessment, work.plan.model_dump_json(), "", pool.hash, str(pool.path), pool.file_sha256,
        pool.stat, 1, "http://localhost", "answer", "text", pool.classes, "",
    )  # fmt: skip


def turns(
    work: Assessment, header: Header, ledger: ValkeyLedger, folder: Path, n: int
) -> list[float]:
    """Answer one task at a time; return how long each turn took, after some to warm up."""
    return list(islice(answering(work, header, ledger, folder), 20, n))


def answering(
    work: Assessment, header: Header, ledger: ValkeyLedger, folder: Path
) -> Iterator[float]:
    """Answer the next task and take its turn, each time that one is asked for; give its seconds."""
    desk, rng = NullDesk(), np.random.default_rng(3)
    ledger.set_metadata(swept_at=int(time.time()) + 10)
    advance(work, header, ledger, desk, folder, "bench")
    for event in count(1):
        task, item = desk.put_items.pop(0)
        predicted = work.pool.item(work.pool.find({item})[item]).predicted
        label = work.pool.classes[predicted if rng.random() < 0.8 else predicted - 1]
        desk.snapshots = [answered(task, item, label, 1_000_000 * event)]
        ledger.set_metadata(swept_at=int(time.time()))
        began = time.perf_counter()
        advance(work, header, ledger, desk, folder, "bench")
        yield time.perf_counter() - began


def drain(work: Assessment, ledger: ValkeyLedger) -> None:
    """Claim many items, then record their judgements in one burst; check that none is missing."""
    items = [work.pool.item(row) for row in range(BURST)]
    claims = [
        Claim(n, item.item_id, item.row, item.cell, item.predicted, {"revision": 0})
        for n, item in enumerate(items)
    ]
    for start in range(0, BURST, BATCH):
        assert ledger.claim(0, claims[start : start + BATCH])
    snapshots = [
        answered(n + 1, item.item_id, work.pool.classes[item.predicted], 1_000_000 + n)
        for n, item in enumerate(items)
    ]
    began, cpu = time.perf_counter(), time.process_time()
    for start in range(0, BURST, BATCH):
        record(ledger, snapshots[start : start + BATCH], 1, Rules())
    took, used = time.perf_counter() - began, time.process_time() - cpu
    tally = ledger.state().tally
    assert sum(tally.values()) == BURST, "a judgement is missing"
    line(f"a burst of {BURST:,} judgements, exact", f"{BURST / took:,.0f} /s", ">= 1,000 /s")
    say(f"    ({used:.2f} s of it in our own process)")
