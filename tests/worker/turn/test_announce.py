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


def tell(ledger, desk, status, text):
    """As a turn does, with what it has read."""
    publish_tab(ledger, desk, status, lambda: text, ledger.metadata())


def test_the_title_says_how_far_it_is(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()

    tell(ledger, desk, "running", "99% sure")

    assert desk.tabs == ["Default", "Assay: 99% sure"]


def test_progress_is_written_once_in_half_a_minute_and_only_if_it_changed(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell(ledger, desk, "running", "50% sure")
    now[0] += 29
    tell(ledger, desk, "running", "60% sure")
    assert desk.tabs[-1] == "Assay: 50% sure"

    now[0] += 2
    tell(ledger, desk, "running", "60% sure")
    assert desk.tabs[-1] == "Assay: 60% sure"

    now[0] += 3600
    tell(ledger, desk, "running", "60% sure")
    assert desk.calls == ["tab", "tab"]


def test_how_far_it_is_is_worked_out_only_when_it_may_be_written(now):
    ledger, desk, asked = MemoryLedger("a"), FakeDesk(), []

    def text() -> str:
        asked.append(now[0])
        return "60% sure"

    for _ in range(61):
        publish_tab(ledger, desk, "running", text, ledger.metadata())
        publish_progress(ledger, desk, text, ledger.metadata())
        now[0] += 1
    assert asked == [1_000_000.0] * 2 + [1_000_030.0] * 2 + [1_000_060.0] * 2
    publish_tab(ledger, desk, "paused", text, ledger.metadata())
    assert len(asked) == 6


@pytest.mark.parametrize(("status", "title"), [("paused", "paused"), ("stopped", "finished")])
def test_what_ends_the_work_is_written_at_once_and_once(now, status, title):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell(ledger, desk, "running", "50% sure")

    tell(ledger, desk, status, "97% sure")
    tell(ledger, desk, status, "96% sure")

    assert desk.tabs == ["Default", f"Assay: {title}"]
    assert desk.calls == ["tab", "tab"]


def test_a_title_fits_a_tab(now):
    for status in ("running", "paused", "stopped"):
        desk = FakeDesk()
        tell(MemoryLedger("a"), desk, status, "62% sure")
        assert len(desk.tabs[-1]) <= 15
