"""What three second opinions cost: a turn's time beside one without them, and a large pool's start.

Turns with and without are taken alternately in one process, so that what else the machine does
slows both alike.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from redis import Redis

from tests.bench.measuring import line, quantiles, say, write_pool
from tests.bench.million import GROUPS, ITEMS, say_start
from tests.bench.turn import answering, header_of
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.embedded import server
from worker.service.server import connect
from worker.store.valkey import ValkeyLedger

SIZES = ((100, 100), (1_000, 1_000))  # groups, items of each
WARM_UP, EVENTS = 20, 300
OPINIONS = (
    {"name": "old", "predicted": "o_class", "score": "o_score"},
    {"name": "judge", "right": "o_right"},
    {"name": "length", "number": "o_number"},
)


def run() -> None:
    """Print all numbers; the start is measured with a real Label Studio."""
    say("\nThree opinions (a class with its score, a chance of being right, a number)")
    for n_groups, each in SIZES:
        with (
            tempfile.TemporaryDirectory() as name,
            server(Path(name) / "home", None) as url,
            connect(url) as connection,
        ):
            _turns(Path(name), connection, n_groups, n_groups * each)
    _start()


def _turns(folder: Path, connection: Redis, n_groups: int, n_items: int) -> None:
    without, three = (
        _opened(folder / name, n_groups, n_items, opinions)
        for name, opinions in (("without", ()), ("three", OPINIONS))
    )
    of_both = []
    for name, work in (("without", without), ("three", three)):
        ledger, header = ValkeyLedger(connection, name), header_of(work, name)
        ledger.begin(header)
        of_both.append(answering(work, header, ledger, folder))
    seconds = np.array([[next(of) for of in of_both] for _ in range(WARM_UP + EVENTS)])[WARM_UP:]
    alone, told = np.median(seconds, axis=0)
    size = f"{n_groups:,} groups, {n_items:,} items"
    line(f"a turn over one without opinions, medians, {size}", f"{told / alone:.2f}", "<= 1.2")
    cells = f"{without.pool.n_cells:,} and {three.pool.n_cells:,} strata"
    both = "; ".join(quantiles(one) for one in seconds.T)
    say(f"    (without and with, p50 / p95: {both}; {cells})")


def _opened(folder: Path, n_groups: int, n_items: int, opinions: Sequence[object]) -> Assessment:
    stop = f"stop: {{min_per_group: {n_items}}}\n"
    plan = load_plan(_with(opinions, write_pool(folder, n_groups, n_items, "bench", stop)))
    return assess(plan, compile_pool(plan, folder / "pools"))


def _with(opinions: Sequence[object], plan: Path) -> Path:
    """Add the opinions, and their columns to the predictions, of a plan by `write_pool`."""
    file = plan.parent / "predictions.parquet"
    table, rng = pq.read_table(file), np.random.default_rng(5)
    n = table.num_rows
    said = np.array(table.column("predicted").to_pylist())
    columns = {
        "o_class": pa.array(np.where(rng.random(n) < 0.9, said, said[rng.permutation(n)])),
        "o_score": pa.array(rng.beta(8, 2, n).astype(np.float32)),
        "o_right": pa.array(rng.beta(8, 2, n).astype(np.float32)),
        "o_number": pa.array(rng.lognormal(size=n).astype(np.float32)),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    pq.write_table(table, file)
    text = yaml.safe_load(plan.read_text(encoding="utf-8"))
    text["pool"]["opinions"] = [*opinions] or None
    plan.write_text(yaml.safe_dump(text), encoding="utf-8")
    return plan


def _start() -> None:
    from connector import local

    say(f"{GROUPS:,} groups, {ITEMS:,} items, with three opinions")
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name), Path(name) / "home"
        stop = "stop: {mrr: {confidence: 0.999999}}\n"
        plan = _with(OPINIONS, write_pool(folder / "pool", GROUPS, ITEMS, "million", stop))
        with local.start(folder / "studio") as studio, server(home, None):
            say_start(plan, home, studio, "<= 2,000 MB")
