"""With a real Label Studio: how soon a label counts, and what the receiver costs the annotator."""

import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from connector import local
from connector.annotator import Annotator, sign_up
from connector.client import connect as connect_label_studio
from connector.project import hook
from connector.settings import LabelStudioSettings, webhook_secret
from connector.supervised import tied
from tests.bench.measuring import line, quantiles, say, write_pool
from worker.assessment.queueing import n_waiting
from worker.service.context import Context
from worker.service.embedded import server
from worker.setup.starting import start
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger
from worker.web.serving import RECEIVER

LABELS, WATCHER_S, SUBMITS = 40, 3.0, 30
LOOK_AHEAD = 3


def run() -> None:
    """Print the latencies with and without webhook, and the slowdown of a submit."""
    say("\nA real Label Studio on this machine (SQLite), one annotator, one worker")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(folder / "home", None, None)
        with local.start(folder / "studio") as studio, server(settings.home, None) as url:
            os.environ.update(
                {
                    "ASSAY_HOME": str(settings.home),
                    "LABEL_STUDIO_URL": studio.url,
                    "LABEL_STUDIO_API_KEY": studio.token,
                    "ASSAY_WEBHOOK_SECRET": secrets.token_hex(24),
                }
            )
            context = Context(settings, url)
            person = sign_up(studio.url, studio.token, "bench@example.com", "assay-bench-1")
            with person, _children(["worker"], ["watch", "--every", str(WATCHER_S)]):
                seconds = _latencies(context, person, folder, "polled")
                goal = f"p95 <= {WATCHER_S + 1.5:.1f} s"
                line("submit answered -> counted, refilled; no webhook", quantiles(seconds), goal)
                with _children(["serve", "--port", "0"]):
                    seconds = _latencies(context, person, folder, "hooked")
                    line("the same with the webhook", quantiles(seconds), "p95 <= 1.5 s")
                    _slowdown(context, studio, person, folder)
            context.close()


def _latencies(context: Context, person: Annotator, folder: Path, assessment: str) -> list[float]:
    project = _begin(context, folder, assessment)
    ledger = context.ledger(assessment)
    _wait_for(lambda: n_waiting(ledger.state()) == LOOK_AHEAD)
    if assessment == "hooked":
        _wait_for(lambda: "hooked" in ledger.metadata())
    rng, seconds = np.random.default_rng(5), list[float]()
    for done in range(LABELS):
        # Not in step with the watcher.
        time.sleep(float(rng.uniform(0.3, 1.3)))
        _submit(person, project)
        answered = time.perf_counter()
        _wait_for(lambda wanted=done + 1: _is_settled(ledger, wanted))
        seconds.append(time.perf_counter() - answered)
    return seconds


def _is_settled(ledger: ValkeyLedger, labels: int) -> bool:
    state = ledger.state()
    return (
        sum(state.tally.values()) == labels
        and n_waiting(state) == LOOK_AHEAD
        and all(u.state != "intended" for u in state.unsettled.values())
    )


def _slowdown(
    context: Context, studio: local.LabelStudioServer, person: Annotator, folder: Path
) -> None:
    """Submit by turns with our receiver and with one that only answers 200, all else at rest."""
    project = _begin(context, folder, "slowed")
    client = connect_label_studio(LabelStudioSettings(studio.url, studio.token))
    ours = f"{context.state.get(RECEIVER)}/hook/slowed"
    seconds: dict[str, list[float]] = {"ours": [], "plain": []}
    with _plain_receiver() as plain:
        for n in range(2 * SUBMITS):
            which = "plain" if n % 2 else "ours"
            hook(client, studio.url, project, ours if which == "ours" else plain, webhook_secret())
            time.sleep(1.5)
            seconds[which].append(_submit(person, project))
    p50 = {name: float(np.median(values)) * 1e3 for name, values in seconds.items()}
    line(
        f"submit p50, our receiver {p50['ours']:.0f} ms, a plain 200 {p50['plain']:.0f} ms: slower",
        f"{p50['ours'] - p50['plain']:+.1f} ms",
        "<= 20 ms",
    )


def _begin(context: Context, folder: Path, assessment: str) -> int:
    stop = "stop: {mrr: {confidence: 0.999999}}\n"
    plan = write_pool(folder / assessment, 10, 2_000, assessment, stop)
    return start(plan, context, lambda _: None).project


def _submit(person: Annotator, project: int) -> float:
    deadline = time.monotonic() + 30
    while (task := person.next_task(project)) is None:
        assert time.monotonic() < deadline, "the queue stays empty"
        time.sleep(0.1)
    began = time.perf_counter()
    person.submit(task["id"], "class-0001", "answer", "text")
    return time.perf_counter() - began


def _wait_for(condition: object, patience_s: float = 30.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


@contextmanager
def _children(*commands: list[str]) -> Iterator[None]:
    processes = [subprocess.Popen(tied([sys.executable, "-m", "worker.cli", *c])) for c in commands]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)


class _Plain(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def _plain_receiver() -> Iterator[str]:
    # The same path as our hook's, so that the one replaces the other.
    with ThreadingHTTPServer(("127.0.0.1", 0), _Plain) as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{receiver.server_port}/hook/slowed"
        finally:
            receiver.shutdown()
            thread.join()
