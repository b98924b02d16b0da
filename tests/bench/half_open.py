"""A thousand connections that say nothing, or half of a request: what the receiver answers."""

import random
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx

from tests.bench.measuring import line, quantiles, say
from tests.security.test_connections import HALF, opened, serving

CONNECTIONS, NEW_AT_ONCE, SECONDS = 1_000, 20, 60.0
FIRST = (HALF, b"", b"what is this\r\n\r\n", b"G")


def run() -> None:
    """Print how long `/healthz` takes meanwhile, and what the log grows by."""
    say(f"\n{CONNECTIONS:,} half-open connections, {SECONDS:.0f} s; few files may be open")
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log"
        with serving(Path(name) / "home", log) as url:
            held, waits = list[socket.socket](), list[float]()
            ends, told = time.monotonic() + SECONDS, log.stat().st_size
            while time.monotonic() < ends:
                while len(held) < CONNECTIONS:
                    with suppress(OSError):  # reset at once: there are too many
                        held.append(opened(url, random.choice(FIRST)))
                began = time.perf_counter()
                httpx.get(f"{url}/healthz", timeout=20).raise_for_status()
                waits.append(time.perf_counter() - began)
                for one in held[:NEW_AT_ONCE]:
                    one.close()
                del held[:NEW_AT_ONCE]
                time.sleep(0.05)
            for one in held:
                one.close()
            grown = (log.stat().st_size - told) * 3600 / SECONDS
    line("/healthz, p50 / p95", quantiles(waits), "")
    line("    the slowest", f"{max(waits):.2f} s", "1 s")
    line("the log, an hour", f"{grown / 1e6:.2f} MB", "1 MB")
