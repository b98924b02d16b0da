"""The dashboard at 100 groups: a page under twenty readers, and what fifty live readers cost."""

from __future__ import annotations

import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx
import numpy as np
import uvicorn

from connector.webhook import receiver
from tests.bench.measuring import line, quantiles, say
from tests.bench.turn import answering, header_of, opened, turns
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger
from worker.web.app import website
from worker.web.security import gate
from worker.web.status_cache import StatusCache

GROUPS, ITEMS, EVENTS = 100, 10_000, 300
READERS, REQUESTS, LIVE = 20, 40, 50
HEARD = 40
ROUNDS = 3


def run() -> None:
    """Print the numbers; the dashboard, its readers and the worker are processes of their own."""
    say(f"\nDashboard: {GROUPS} groups, {ITEMS:,} items, a real Valkey")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder / "home", None) as url:
            context = Context(Settings(folder / "home", None, None), url)
            work = opened(folder / "plan", GROUPS, ITEMS, "")
            header = header_of(work)

            def begin(assessment: str) -> ValkeyLedger:
                ledger = context.ledger(assessment)
                ledger.begin(header)
                context.enter(assessment)
                return ledger

            def take(assessment: str) -> list[float]:
                return turns(work, header, begin(assessment), folder, EVENTS)

            with _dashboard(folder / "home", url) as base:
                take("bench")
                line(f"a page, {READERS} readers, nothing changes, p50 / p95",
                     quantiles(_read(f"{base}/a/bench")), "p95 <= 50 ms")  # fmt: skip
                steps = answering(work, header, begin("heard"), folder)
                heard = _until_shown(f"{base}/a/heard", steps)
                line("from a label's turn until a live page shows it, p50 / p95",
                     quantiles(heard), "2 s")  # fmt: skip
                line("    the slowest", f"{max(heard):.2f} s", "2 s")
                alone, watched = list[float](), list[float]()
                for n in range(ROUNDS):
                    alone += take(f"alone-{n}")
                    ledger = begin(f"live-{n}")
                    with _live_readers(f"{base}/a/live-{n}/live"):
                        watched += turns(work, header, ledger, folder, EVENTS)
                line("a turn, nobody watches, p50 / p95", quantiles(alone), "")
                line(f"a turn, {LIVE} live readers, p50 / p95", quantiles(watched), "the same")
                ratio = float(np.median(watched) / np.median(alone))
                line("    ratio of the medians", f"{ratio:.3f}", "1")
            context.close()


@contextmanager
def _dashboard(home: Path, url: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_serve, args=(home, url, port))
    process.start()
    base = f"http://127.0.0.1:{port}"
    while True:
        try:
            httpx.get(f"{base}/healthz")
            break
        except httpx.TransportError:
            time.sleep(0.1)
    try:
        yield base
    finally:
        process.terminate()
        process.join()


def _serve(home: Path, url: str, port: int) -> None:
    context = Context(Settings(home, None, None), url, is_patient=False)
    app = website(
        StatusCache(context),
        gate("127.0.0.1", None, {}),
        receiver("bench", context.wake),
        lambda: running.should_exit,
    )
    running = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", access_log=False))
    running.run()


def _read(url: str) -> list[float]:
    """Let many readers ask again and again, as fast as people would at most."""
    seconds: list[float] = []

    def one(seed: int) -> None:
        pause = np.random.default_rng(seed)
        with httpx.Client() as client:
            client.get(url)
            for _ in range(REQUESTS):
                time.sleep(float(pause.uniform(0.1, 0.5)))
                began = time.perf_counter()
                client.get(url).raise_for_status()
                seconds.append(time.perf_counter() - began)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def _until_shown(url: str, steps: Iterator[float]) -> list[float]:
    """Seconds from the end of a turn until a reader has the part of the page that tells of it."""
    ended, shown, pause = list[float](), list[float](), np.random.default_rng(5)

    def read() -> None:
        with httpx.Client(timeout=30) as client, client.stream("GET", f"{url}/live") as answer:
            for text in answer.iter_lines():
                if text.startswith("data: "):
                    part = client.get(f"{url}/part").text
                    if f'<span id="labels">{len(shown) + 1}</span>' in part:
                        shown.append(time.perf_counter())
                    if len(shown) == HEARD:
                        return

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(HEARD):
        time.sleep(float(pause.uniform(2.0, 2.5)))  # it has been shown; and anywhere between looks
        next(steps)
        ended.append(time.perf_counter())
    reader.join()
    return [s - e for s, e in zip(shown, ended, strict=True)]


@contextmanager
def _live_readers(url: str) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    ready, ended = context.Event(), context.Event()
    process = context.Process(target=_listen, args=(url, ready, ended))
    process.start()
    ready.wait(60)
    try:
        yield
    finally:
        ended.set()
        process.join()


def _listen(url: str, ready: Event, ended: Event) -> None:
    """Hold many live pages open; each fetches its part when told, as the script does."""
    os.nice(19)  # readers sit at other machines

    def one() -> None:
        with httpx.Client(timeout=30) as client, client.stream("GET", url) as answer:
            for text in answer.iter_lines():
                if ended.is_set():
                    return
                if text.startswith("data: "):
                    client.get(url.replace("/live", "/part"))

    threads = [threading.Thread(target=one, daemon=True) for _ in range(LIVE)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    ready.set()
    ended.wait()
