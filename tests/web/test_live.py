"""Live pages over plain HTTP: told soon, looked at once for all, let go at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from tests.web.site import Begun, dashboard
from worker.service.context import Context
from worker.store.valkey import ValkeyLedger
from worker.web.live import LOOK_S


@contextmanager
def listening(url: str) -> Iterator[Iterator[str]]:
    """The marks of a live page as they come."""
    with (
        httpx.Client(timeout=10) as client,
        client.stream("GET", url) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield (line[6:] for line in answer.iter_lines() if line.startswith("data: "))


def labels_in(mark: str) -> str:
    return mark.split(".")[1]  # status, revision, ...


def test_a_reader_hears_of_a_label_within_two_seconds(url: str, begun: Begun) -> None:
    with listening(f"{url}/a/{begun.id}/live") as marks:
        assert labels_in(next(marks)) == "None"
        begun.label()
        began = time.monotonic()
        while labels_in(next(marks)) != "1":
            pass
        assert time.monotonic() - began < 2.0
        assert '<span id="labels">1</span>' in httpx.get(f"{url}/a/{begun.id}/part").text


def test_the_page_of_all_hears_of_it_too(url: str, begun: Begun) -> None:
    with listening(f"{url}/live") as marks:
        before = next(marks)
        begun.label()
        assert next(marks) != before


def test_fifty_readers_are_one_look(
    url: str, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    glance = ValkeyLedger.glance

    def counted(ledger: ValkeyLedger) -> tuple[str, ...]:
        looks.append(threading.get_ident())
        return glance(ledger)

    monkeypatch.setattr(ValkeyLedger, "glance", counted)
    with ExitStack() as open_readers:
        streams = [
            open_readers.enter_context(listening(f"{url}/a/{begun.id}/live")) for _ in range(50)
        ]
        for marks in streams:
            next(marks)
        looks.clear()
        began = time.monotonic()
        while len(looks) < 6:
            time.sleep(0.05)
        # One each half second at most; a busy machine looks less often.
        assert len(looks) <= (time.monotonic() - began) / LOOK_S + 1


def test_nobody_listens_and_nobody_looks(
    url: str, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(f"{url}/a/{begun.id}/live") as marks:
        next(marks)
    looks = []
    monkeypatch.setattr(ValkeyLedger, "glance", lambda ledger: looks.append(1) or ("x",))
    for _ in range(20):  # until the reader is missed, which a busy machine does late
        looks.clear()
        time.sleep(3 * LOOK_S)
        if not looks:
            break
    time.sleep(3 * LOOK_S)
    assert looks == []


def test_the_dashboard_ends_though_somebody_listens(context: Context, begun: Begun) -> None:
    with ExitStack() as open_readers:
        with dashboard(context, token=None) as url:
            marks = open_readers.enter_context(listening(f"{url}/a/{begun.id}/live"))
            next(marks)
            began = time.monotonic()
        assert time.monotonic() - began < 3.0
        # its stream comes to an end; one that the server had to break off would raise here
        assert set(map(labels_in, marks)) <= {"None"}
