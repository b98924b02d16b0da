"""Our tab in the Data Manager: a short title, seldom written, and at once when the work ends."""

import pytest

from tests.fakes import FakeDesk
from worker.store import MemoryLedger
from worker.turn import announce
from worker.turn.announce import publish_progress, publish_tab


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock; a test moves it."""
    clock = [1_000_000.0]
    monkeypatch.setattr(announce.time, "time", lambda: clock[0])
    return clock


def tell(ledger, desk, text, *, at_once=False):
    """As a turn does, with what it has read."""
    publish_tab(ledger, desk, text, ledger.metadata(), at_once=at_once)


def test_the_title_says_how_far_it_is(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()

    tell(ledger, desk, "58 labels")

    assert desk.tabs == ["Default", "Assay: 58 labels"]


def test_progress_is_written_once_in_half_a_minute_and_only_if_it_changed(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell(ledger, desk, "50 labels")
    now[0] += 29
    tell(ledger, desk, "60 labels")
    assert desk.tabs[-1] == "Assay: 50 labels"

    now[0] += 2
    tell(ledger, desk, "60 labels")
    assert desk.tabs[-1] == "Assay: 60 labels"

    now[0] += 3600
    tell(ledger, desk, "60 labels")
    assert desk.calls == ["tab", "tab"]


def test_how_far_it_is_is_worked_out_only_when_it_may_be_written(now):
    ledger, desk, asked = MemoryLedger("a"), FakeDesk(), []

    def text() -> str:
        asked.append(now[0])
        return "60 items are labelled so far."

    for _ in range(61):
        publish_progress(ledger, desk, text, ledger.metadata())
        now[0] += 1
    assert asked == [1_000_000.0, 1_000_030.0, 1_000_060.0]


def test_what_ends_the_work_is_written_at_once_and_once(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell(ledger, desk, "50 labels")

    tell(ledger, desk, "paused", at_once=True)
    tell(ledger, desk, "paused", at_once=True)

    assert desk.tabs == ["Default", "Assay: paused"]
    assert desk.calls == ["tab", "tab"]
