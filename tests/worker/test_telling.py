"""Our tab in the Data Manager: a short title, seldom written, and at once when the work ends."""

import math

import pytest

from tests.fakes import FakeDesk
from worker import telling
from worker.core.stopping import Verdict
from worker.ledger import MemoryLedger
from worker.telling import tell_tab


def verdict(confidence: float | None, labels: int = 1200) -> Verdict:
    value = None if confidence is not None else 0.031
    return Verdict(False, "open", False, confidence, value, (), (), (), labels)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock; a test moves it."""
    clock = [1_000_000.0]
    monkeypatch.setattr(telling.time, "time", lambda: clock[0])
    return clock


def test_the_title_says_how_sure_it_is_and_never_rounds_up(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()

    tell_tab(ledger, desk, "running", verdict(math.nextafter(1, 0)))

    assert desk.tabs == ["Default", "Assay: 99% sure"]


def test_an_estimate_counts_its_labels(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()

    tell_tab(ledger, desk, "running", verdict(None))

    assert desk.tabs[-1] == "Assay: 1,200 labels"


def test_progress_is_written_once_in_half_a_minute_and_only_if_it_changed(now):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell_tab(ledger, desk, "running", verdict(0.5))
    now[0] += 29
    tell_tab(ledger, desk, "running", verdict(0.6))
    assert desk.tabs[-1] == "Assay: 50% sure"

    now[0] += 2
    tell_tab(ledger, desk, "running", verdict(0.6))
    assert desk.tabs[-1] == "Assay: 60% sure"

    now[0] += 3600
    tell_tab(ledger, desk, "running", verdict(0.6))
    assert desk.calls == ["tab", "tab"]


@pytest.mark.parametrize(("status", "title"), [("paused", "paused"), ("stopped", "finished")])
def test_what_ends_the_work_is_written_at_once_and_once(now, status, title):
    ledger, desk = MemoryLedger("a"), FakeDesk()
    tell_tab(ledger, desk, "running", verdict(0.5))

    tell_tab(ledger, desk, status, verdict(0.97))
    tell_tab(ledger, desk, status, verdict(0.96))

    assert desk.tabs == ["Default", f"Assay: {title}"]
    assert desk.calls == ["tab", "tab"]


def test_a_title_fits_a_tab(now):
    for status in ("running", "paused", "stopped"):
        desk = FakeDesk()
        tell_tab(MemoryLedger("a"), desk, status, verdict(0.62))
        assert len(desk.tabs[-1]) <= 15
