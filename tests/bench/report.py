"""Making a report: gathering, pictures and page, at 100 and at 1,000 groups."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.measuring import line, say
from tests.bench.turn import header_of, opened, turns
from worker.report.gathering import gather
from worker.report.page import write_report
from worker.service.context import INDEX
from worker.service.embedded import server
from worker.service.server import connect
from worker.store.valkey import ValkeyLedger

LABELS = 600


def run() -> None:
    """Print the seconds of one report in a fresh process's terms: pool open, nothing remembered."""
    say(f"\nReports: {LABELS} labels, the default plan, a real Valkey")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder / "home", None) as url, connect(url) as connection:
            for groups, items, goal in ((100, 10_000, 2), (1_000, 100_000, 5)):
                place = folder / str(groups)
                work = opened(place, groups, items, "")
                header = header_of(work, f"bench-{groups}")
                ledger = ValkeyLedger(connection, header.assessment)
                ledger.begin(header)
                connection.sadd(INDEX, ledger.assessment)
                what = f"{groups:,} groups: `assay report` from cold, before the first label"
                at_once = command(url, folder / "home", ledger.assessment)
                line(what, f"{at_once:.2f} s", f"{goal} s")
                turns(work, header, ledger, folder, LABELS)
                work._last.clear()
                began = time.perf_counter()
                report = gather(work, header, ledger)
                gathered = time.perf_counter()
                path = write_report(report, place, "report")
                ended = time.perf_counter()
                what = f"{groups:,} groups: report, of which gathering"
                line(what, f"{ended - began:.2f}, {gathered - began:.2f} s", f"{goal} s")
                line(f"{groups:,} groups: the page", f"{path.stat().st_size / 1e6:.2f} MB", "1 MB")
                took = sorted(command(url, folder / "home", ledger.assessment) for _ in range(5))
                what = f"{groups:,} groups: `assay report` from cold, median and slowest of 5"
                line(what, f"{took[2]:.2f}, {took[-1]:.2f} s", f"{goal} s")


def command(url: str, home: Path, assessment: str) -> float:
    """Seconds of the whole command, in a process of its own."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "worker.cli", "report", assessment, "--to", str(home / "reports")],
        env=os.environ | {"REDIS_URL": url, "ASSAY_HOME": str(home)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began
