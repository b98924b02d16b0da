"""Half-open and slow connections, guesses and floods keep nobody from the receiver."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.web.site import TOKEN, dashboard
from worker.service import connections
from worker.service.connections import LEAST, MOST, OTHER_FILES, most_connections
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.logs import Seldom
from worker.store.settings import Settings
from worker.web import guesses, security

FEW_FILES = 200
PATIENCE_S = 60.0
HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with server(tmp_path, None) as url:
        opened = Context(Settings(tmp_path, url, None), url)
        yield opened
        opened.close()


def opened(url: str, first: bytes) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), PATIENCE_S)
    connection.sendall(first)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side ended it, within our patience."""
    try:
        while connection.recv(4000):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@contextmanager
def serving(home: Path, log: Path) -> Iterator[str]:
    """`assay serve` as a process that may open few files; its address."""
    env = os.environ | {"ASSAY_HOME": str(home), "ASSAY_WEBHOOK_SECRET": "only-for-tests"}
    for name in ("REDIS_URL", "ASSAY_STATE_URL"):
        env.pop(name, None)
    command = (
        f"ulimit -n {FEW_FILES}; exec {sys.executable} -m worker.cli serve --port 0 2>>'{log}'"
    )
    process = subprocess.Popen(["sh", "-c", command], env=env)
    try:
        ends = time.monotonic() + PATIENCE_S
        while "The dashboard is at" not in (said := log.read_text() if log.exists() else ""):
            assert process.poll() is None, said
            assert time.monotonic() < ends, said
            time.sleep(0.05)
        yield said.partition("The dashboard is at ")[2].split("/\n")[0]
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_more_half_open_connections_than_files_keep_nobody_out_and_fill_no_disk(tmp_path: Path):
    log = tmp_path / "log"
    with serving(tmp_path / "home", log) as url, ExitStack() as open_until_the_end:
        for n in range(2 * FEW_FILES):
            open_until_the_end.enter_context(opened(url, HALF))
            if n % 50 == 0:
                assert httpx.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
        for _ in range(50):
            open_until_the_end.enter_context(opened(url, b"what is this\r\n\r\n"))
        assert httpx.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
    assert log.stat().st_size < 20_000, log.read_text()[:2000]


@pytest.mark.parametrize(
    "first",
    [
        b"",
        HALF,
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\ntoken=",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /healthz HTTP",
    ],
    ids=["nothing", "half of the headers", "half of the body", "half of the next"],
)
def test_a_request_that_does_not_come_to_its_end_is_given_up(
    context: Context, monkeypatch: pytest.MonkeyPatch, first: bytes
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    with dashboard(context) as url, opened(url, first) as half:
        if first.endswith(b"HTTP"):
            assert half.recv(4000).startswith(b"HTTP/1.1 200")
        assert is_closed(half)


def test_an_answer_that_takes_longer_than_a_request_may_is_given(
    context: Context, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.1)
    monkeypatch.setattr(guesses, "WRONG_TOKEN_S", 1.0)
    with dashboard(context) as url:
        assert httpx.post(f"{url}/login", data={"token": "wrong"}, timeout=60).status_code == 403
        with httpx.stream("GET", f"{url}/live", timeout=60) as live:
            began = time.monotonic()
            for _ in live.iter_lines():
                if time.monotonic() - began > 0.5:
                    break


def test_who_waits_longest_for_its_request_makes_room_and_who_is_answered_does_not(
    context: Context, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "most_connections", lambda: 3)
    free = dashboard(context, token=None)  # to read
    with free as url, httpx.stream("GET", f"{url}/live", timeout=60) as live:
        first, second = opened(url, HALF), opened(url, HALF)
        with first, second:
            assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
            assert is_closed(first)
            second.sendall(b"\r\n")
            assert second.recv(4000).startswith(b"HTTP/1.1 200")
        assert next(live.iter_lines())


def test_the_limit_of_open_files_goes_up_as_far_as_it_may_and_connections_stay_below_it(
    monkeypatch: pytest.MonkeyPatch,
):
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: limits.append(limit))
    for limit, most in [
        ((100, 4096), MOST),
        ((100, 500), 500 - OTHER_FILES),
        ((20, 20), LEAST),
        ((100, resource.RLIM_INFINITY), MOST),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), MOST),
    ]:
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: limit)
        assert most_connections() == most
    assert limits[:2] == [(MOST + OTHER_FILES, 4096), (500, 500)]


def test_lines_that_strangers_cause_are_few_and_counted():
    seldom, kept = Seldom(), []
    for n in range(1000):
        record = logging.makeLogRecord({"msg": "Invalid request\nof %d", "args": (n,)})
        kept += [record] if seldom.filter(record) else []
    assert len(kept) == Seldom.AT_ONCE
    seldom._kinds = {kind: (since - 100, n) for kind, (since, n) in seldom._kinds.items()}
    record = logging.makeLogRecord({"msg": "Invalid request\nof %d", "args": (7,)})
    assert seldom.filter(record)
    assert record.getMessage() == "Invalid request\nof 7 (and 995 more like it)"


# --- guesses --------------------------------------------------------------------------------------

WRONG = {"authorization": "Bearer a-wrong-token-of-somebody"}
RIGHT = {"authorization": f"Bearer {TOKEN}"}


def test_a_wrong_token_in_a_header_waits_as_one_in_the_form_does(
    context: Context, monkeypatch: pytest.MonkeyPatch
):
    waits: list[bool] = []

    async def wait(_: object) -> None:
        waits.append(True)

    monkeypatch.setattr(guesses.Guesses, "wait", wait)
    with dashboard(context, host="0.0.0.0") as url:
        for n, path in enumerate(("/", "/metrics", "/a/x/status.json"), start=1):
            assert httpx.get(url + path, headers=WRONG).status_code == 401
            assert len(waits) == n
        assert httpx.get(f"{url}/metrics", headers=RIGHT).status_code == 200
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert len(waits) == 3
    with dashboard(context) as url:  # nor is steering an oracle on loopback
        assert httpx.post(f"{url}/a/x/pause", headers=WRONG).status_code == 401
        assert len(waits) == 4


def test_with_too_many_wrong_tokens_none_is_looked_at_and_sessions_go_on(
    context: Context, monkeypatch: pytest.MonkeyPatch
):
    with dashboard(context, host="0.0.0.0") as url, httpx.Client(base_url=url) as client:
        assert client.post("/login", data={"token": TOKEN}).status_code == 303
        monkeypatch.setattr(guesses, "AT_ONCE", 0)
        for headers in (WRONG, RIGHT):
            assert httpx.get(f"{url}/metrics", headers=headers).status_code == 429
        assert httpx.post(f"{url}/login", data={"token": TOKEN}).status_code == 429
        assert client.get("/").status_code == 200


def test_guesses_that_wait_are_counted_until_they_are_answered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guesses, "AT_ONCE", 2)
    monkeypatch.setattr(guesses, "WRONG_TOKEN_S", 0.01)

    async def guess() -> list[bool]:
        ours = guesses.Guesses()
        waiting = [asyncio.create_task(ours.wait()) for _ in range(2)]
        await asyncio.sleep(0)
        during = ours.are_too_many
        waiting[0].cancel()
        await asyncio.wait(waiting)
        return [during, ours.are_too_many]

    assert asyncio.run(guess()) == [True, False]


def test_a_token_that_can_be_guessed_is_refused_at_the_start():
    short = {"ASSAY_DASHBOARD_TOKEN": "a" * (security.SHORTEST_TOKEN - 1)}
    for host in ("127.0.0.1", "0.0.0.0"):
        with pytest.raises(security.ShortToken, match=r"15 characters.*openssl rand"):
            security.gate(host, None, short)
    assert security.gate("0.0.0.0", None, {"ASSAY_DASHBOARD_TOKEN": "a" * 16}).token
