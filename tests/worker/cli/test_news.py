"""What `assay up` says while it runs: a line when something changed, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.web.site import Begun, begin, forget
from worker.cli import news
from worker.notices.happenings import note_decisions
from worker.report.making import make_scheduled
from worker.report.scheduled import due
from worker.service.context import Context
from worker.setup.lifecycle import stop
from worker.store.settings import Settings


@pytest.fixture
def begun(tmp_path: Path, valkey_url: str, assessment_id: str) -> Iterator[Begun]:
    context = Context(Settings(tmp_path / "home", None, None), valkey_url)
    yield begin(context, tmp_path / "plan", assessment_id)
    forget(context, assessment_id)
    context.close()


@pytest.fixture
def told(begun: Begun, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Look, and return what was said of it."""
    said: list[str] = []
    monkeypatch.setattr(news, "EVERY_S", 0.0)
    teller = news.News(begun.context, said.append)

    def look() -> list[str]:
        said.clear()
        teller.look()
        return [line for line in said if begun.id in line]

    return look


def test_a_label_is_told_once_and_counted_in_the_right_number(
    begun: Begun, told: Callable[[], list[str]]
) -> None:
    assert told() == []
    begun.label()
    (line,) = told()
    assert line.startswith(f"{begun.id}: 1 label by 1 annotator. Not yet: ")
    assert told() == []
    begun.turn()  # nothing is new
    assert told() == []
    begun.label()
    (line,) = told()
    assert line.startswith(f"{begun.id}: 2 labels by 1 annotator. ")


def test_before_its_time_it_does_not_look_again(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "EVERY_S", 3600.0)
    said: list[str] = []
    teller = news.News(begun.context, said.append)
    begun.label()
    teller.look()
    begun.label()
    teller.look()
    assert len([line for line in said if begun.id in line]) == 1


def test_the_decision_and_its_report_are_told_with_their_files(
    begun: Begun, told: Callable[[], list[str]]
) -> None:
    begun.label()
    told()
    stop(begun.context, begun.id)
    begun.turn()
    note_decisions(begun.ledger, begun.work.plan)

    decided, file = told()
    assert decided.startswith(f"{begun.id} is decided. Stopped by hand: ")
    assert Path(file.rpartition(": ")[2]).name == "decision.json"
    assert told() == []

    slot = due(begun.work.plan, begun.header, begun.ledger.state(), datetime.now(UTC))
    page = make_scheduled(begun.context, begun.id, slot.number)
    assert told() == [f"The report of {begun.id}: {page}"]
    assert told() == []


def test_what_had_ended_before_is_not_told_again(
    begun: Begun, told: Callable[[], list[str]]
) -> None:
    begun.label()
    stop(begun.context, begun.id)
    begun.turn()
    assert told() == []
