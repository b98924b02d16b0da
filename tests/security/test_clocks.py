"""No stamp of a clock that was wrong keeps a change unseen for longer than a sweep."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.site import Begun, begin
from worker.service.context import Context
from worker.service.embedded import server
from worker.store.records import load
from worker.store.settings import Settings

WEEK_US = 7 * 86_400_000_000


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Begun]:
    with server(tmp_path / "home", None) as url:
        context = Context(Settings(tmp_path / "home", url, None), url)
        yield begin(context, tmp_path / "plan", "clocks")
        context.close()


def label(begun: Begun, said: str) -> tuple[int, str]:
    """Answer the next task; return the annotation and the item."""
    task = begun.desk.next_task(1)
    assert task is not None
    item = begun.desk.data_of(task)["item_id"]
    annotation = begun.desk.annotate(task, said, 1)
    begun.turn()
    return annotation, item


def outcome_of(begun: Begun, item: str) -> str | None:
    return load(begun.ledger.records([item])[item]).outcome


def a_sweep_later(begun: Begun) -> None:
    begun.ledger.set_metadata(swept_at=int(time.time()) - 21)
    begun.turn()


def test_edits_after_label_studios_clock_was_ahead_are_seen_by_the_next_sweep(
    begun: Begun,
) -> None:
    before = label(begun, "cat")
    begun.desk.now_us += WEEK_US
    ahead = label(begun, "cat")
    begun.desk.now_us = int(time.time() * 1e6)
    after = label(begun, "cat")

    for said in ("dog", "cow"):  # the first edit is stamped before what is known, the next after it
        for annotation, _ in (before, ahead, after):
            begun.desk.edit(annotation, said)
        a_sweep_later(begun)
        assert [outcome_of(begun, item) for _, item in (before, ahead, after)] == [said] * 3
    begun.desk.delete_annotation(ahead[0])
    a_sweep_later(begun)
    assert outcome_of(begun, ahead[1]) is None
    assert sum(begun.ledger.state().tally.values()) == 2


def test_while_clocks_agree_nothing_is_counted_through(begun: Begun) -> None:
    label(begun, "cat")
    begun.desk.calls.clear()
    a_sweep_later(begun)
    assert "counters" in begun.desk.calls
    assert "census" not in begun.desk.calls
