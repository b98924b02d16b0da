"""From a file of predictions to the first task that somebody can open: `assay up FILE`."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

from connector.local import ensure_migrated
from connector.own import own_server
from connector.supervised import tied
from tests.bench.measuring import line, say

N_ITEMS = 300
CLASSES = ("form", "invoice", "letter", "receipt")
PATIENCE_S = 1800.0
# What would lead elsewhere than to a Label Studio and a Valkey of its own.
NAMED = ("LABEL_STUDIO_URL", "LABEL_STUDIO_SERVERS_FILE", "REDIS_URL", "ASSAY_STATE_URL")


def run() -> None:
    """Print the seconds where Label Studio is installed, and to the end at Ctrl-C."""
    ensure_migrated(say)
    say(f"\n`assay up predictions.csv --with-label-studio`, {N_ITEMS} rows, in an empty folder")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _seconds(folder, {})
        line("file -> first open task, Label Studio is installed", f"{first:.1f} s", "45 s")
        again = _seconds(folder, {})
        line("... until Label Studio serves it again, the next time", f"{again:.1f} s", "")


def run_bare() -> None:
    """Print the seconds where nothing is in the cache: Label Studio is downloaded and migrated."""
    say("\n`assay up predictions.csv --with-label-studio`, nothing installed: it downloads")
    with tempfile.TemporaryDirectory() as name:
        first = _seconds(Path(name), {"XDG_CACHE_HOME": str(Path(name) / "cache")})
        line("file -> first open task, on a bare cache", f"{first:.0f} s", "6 min")


def _seconds(folder: Path, more: dict[str, str]) -> float:
    """Start it, wait for the first task, end it by Ctrl-C; return how long the task took."""
    file, home = folder / "predictions.csv", folder / ".assay"
    if not file.exists():
        _write(file)
    kept = {name: value for name, value in os.environ.items() if name not in NAMED}
    env = kept | {"ASSAY_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])} | more
    command = [sys.executable, "-m", "worker.cli", "up", file.name]
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            tied([*command, "--with-label-studio", "--port", "0"]),
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            while not _has_task(home):
                if process.poll() is not None or time.monotonic() - began > PATIENCE_S:
                    raise RuntimeError((folder / "log").read_text(encoding="utf-8"))
                time.sleep(0.1)
            took = time.monotonic() - began
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    return took


def _has_task(home: Path) -> bool:
    """Whether the only project there has a task."""
    own = own_server(home)
    if own is None:
        return False
    try:
        headers = {"Authorization": f"Token {own.token}"}
        answer = httpx.get(f"{own.url}/api/projects/1/", headers=headers, timeout=30)
    except httpx.TransportError:
        return False
    return answer.is_success and answer.json()["task_number"] > 0


def _write(file: Path) -> None:
    rng = np.random.default_rng(5)
    rows = ["id,text,predicted,score"]
    for n in range(N_ITEMS):
        predicted = CLASSES[rng.integers(len(CLASSES))]
        rows.append(f"d{n},scan number {n} of a pile,{predicted},{rng.beta(8, 2):.3f}")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
