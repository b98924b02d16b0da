"""A dashboard on a real server with a real Valkey behind it, and a desk in memory to label at."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn

from connector.webhook import receiver
from tests.fakes import FakeDesk
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.service.context import INDEX, Context
from worker.service.counters import count_webhook
from worker.store import Header
from worker.store.valkey import ValkeyLedger
from worker.turn.loop import advance
from worker.web.app import website
from worker.web.security import gate
from worker.web.serving import _listen, config_of
from worker.web.status_cache import StatusCache

CLASSES = ("cat", "dog", "cow")
TOKEN = "a-token-that-is-only-for-tests"
SECRET = "only-for-tests"
HTML = {"accept": "text/html"}


@dataclass(slots=True)
class Begun:
    """An assessment that runs, and what a test needs to go on with it."""

    id: str
    work: Assessment
    header: Header
    ledger: ValkeyLedger
    desk: FakeDesk
    context: Context
    turns: int = 0

    def turn(self) -> None:
        """Take one turn of the loop, in this process."""
        self.turns += 1
        folder = self.context.folder(self.id)
        advance(self.work, self.header, self.ledger, self.desk, folder, f"{self.id}-{self.turns}")

    def label(self, label: str = "cat") -> None:
        """Let an annotator answer the next task; the turn after it reads the answer."""
        task = self.desk.next_task(1)
        assert task is not None, "nothing is open"
        self.desk.annotate(task, label, 1)
        self.turn()


def begin(
    context: Context,
    folder: Path,
    assessment: str,
    *,
    groups: tuple[str, ...] = CLASSES,
    stop: str = "{mrr: {confidence: 0.999}}",
    n_items: int = 60,
    more: str = "",
) -> Begun:
    """Begin an assessment whose annotators sit at a desk in memory; one turn was taken."""
    rows = ["item_id,predicted,score,text,part"]
    rows += [
        f'i{n},{CLASSES[n % 3]},0.{60 + n % 40},text {n},"{groups[n % len(groups)]}"'
        for n in range(n_items)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "p.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "plan.yaml").write_text(
        f"assessment: {assessment}\npool: {{predictions: p.csv, predicted: predicted,"
        " score: score, groups: part, data: {text: text}}\n"
        f"question: {{task: identify}}\nstop: {stop}\n{more}",
        encoding="utf-8",
    )
    plan = load_plan(folder / "plan.yaml")
    pool = compile_pool(plan, context.settings.pools)
    header = Header(
        assessment, plan.model_dump_json(), "", pool.hash, str(pool.path), pool.file_sha256,
        pool.stat, 1, "http://localhost", "answer", "text", pool.classes, "2026-01-01T00:00:00",
    )  # fmt: skip
    context.enter(assessment)
    ledger = context.ledger(assessment)
    ledger.begin(header)
    work = assess(plan, pool)
    desk = FakeDesk(overlap=work.rules.per_item_max)
    desk.now_us = int(time.time() * 1e6)
    begun = Begun(assessment, work, header, ledger, desk, context)
    begun.turn()
    return begun


def forget(context: Context, assessment: str) -> None:
    """Take it off the list that the tests share."""
    context.state.srem(INDEX, assessment)


@contextmanager
def dashboard(
    context: Context,
    token: str | None = TOKEN,
    host: str = "127.0.0.1",
    port: int = 0,
    public_url: str | None = None,
) -> Iterator[str]:
    """The dashboard, as `assay serve` runs it; give its address.

    host, public_url: what the gate is told; we listen on loopback in any case.
    """
    listener = _listen("127.0.0.1", port)
    quick = Context(context.settings, context.url, is_patient=False)
    environ = {} if token is None else {"ASSAY_DASHBOARD_TOKEN": token}

    def wake(assessment: str) -> bool:
        count_webhook(quick.state, assessment)
        return quick.wake(assessment)

    app = website(
        StatusCache(quick),
        gate(host, public_url, environ),
        receiver(SECRET, wake),
        lambda: server.should_exit,
    )
    server = uvicorn.Server(config_of(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(15)
        listener.close()
        quick.close()
        assert not thread.is_alive(), "the dashboard does not end"


@contextmanager
def signed_in(url: str) -> Iterator[httpx.Client]:
    """A client whose session may steer."""
    with httpx.Client(base_url=url, headers=HTML) as client:
        answer = client.post("/login", data={"token": TOKEN})
        assert answer.status_code == 303, answer.text
        yield client


def csrf_of(client: httpx.Client, assessment: str) -> str:
    """The token of the form on the assessment's page."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(f"/a/{assessment}").text)
    assert found is not None
    return found[1]


def status(begun: Begun) -> str:
    """Of the assessment, as its ledger has it."""
    return begun.ledger.state().status
