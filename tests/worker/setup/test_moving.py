"""An import that dies half-way is ended by the next one; nothing else is written over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.promises.small import small_assessment
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import connect
from worker.setup.exported import VERSION, NotMovable
from worker.setup.moving import pack, take_over
from worker.store import Claim, Header
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger

_EVENT = {"id": "report:1", "kind": "report", "text": "a report", "revision": 0, "at": "now"}
NOTICE = json.dumps({"v": 1, "event": _EVENT, "target": 0, "tries": 0, "next_at": 0, "error": ""})
DECISION = json.dumps(
    {
        "kind": "stop", "reason": "by hand", "is_conclusive": False, "since": None,
        "text": "enough", "chosen": ["cat"], "confidence": 0.5, "value": None, "labels": 0,
        "claims": 2, "revision": 0, "decided_at": "2026-11-24T06:00:00+00:00",
    }
)  # fmt: skip


class Killed(BaseException):
    """The process ends here."""


class Dying(Context):
    """The context of a process that is killed before it puts anything on the list."""

    def enter(self, assessment: str) -> None:
        raise Killed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[Settings, str]]:
    """A server with nothing on it."""
    with server(tmp_path / "home", None) as url:
        yield Settings(tmp_path / "home", url, None), url


@pytest.fixture
def context(home: tuple[Settings, str]) -> Iterator[Context]:
    context = Context(*home)
    yield context
    context.close()


def exported(file: Path, status: str = "running") -> tuple[Header, dict[str, Any]]:
    """Write the export of an assessment at work, and say what is kept of it elsewhere."""
    work, header = small_assessment(file.parent / "plan", "{mrr: {confidence: 0.9999}}")
    header = replace(header, assessment="moved")
    with server(file.parent / "elsewhere", None) as url, connect(url) as db:
        ledger = ValkeyLedger(db, "moved")
        ledger.begin(header)
        why = {"revision": 0, "strategy": "assay", "pending": {}}
        for number, item in enumerate(map(work.pool.item, (4, 5))):
            claim = Claim(number, item.item_id, item.row, item.cell, item.predicted, why)
            assert ledger.claim(0, [claim])
        ledger.set_metadata(cursor=12)
        ledger.put_notice("report:1>0", NOTICE)
        if status == "paused":
            ledger.move("running", "paused")
        if status == "stopped":
            ledger.publish(0, DECISION, stops=True)
        kept = pack(db, "moved")
    file.write_text(json.dumps({"version": VERSION, "kept": kept}), encoding="utf-8")
    return header, kept


def as_paused(kept: dict[str, Any]) -> dict[str, Any]:
    meta = kept["meta"]["content"] | {"status": "paused"}
    return kept | {"meta": kept["meta"] | {"content": meta}}


@pytest.mark.parametrize("status", ["running", "paused", "stopped"])
def test_an_import_that_died_before_the_list_is_ended_by_the_next_one(
    context: Context, home: tuple[Settings, str], tmp_path: Path, status: str
) -> None:
    file = tmp_path / "export.json"
    header, kept = exported(file, status)
    expected = as_paused(kept) if status == "running" else kept

    with closing(Dying(*home)) as dying, pytest.raises(Killed):
        take_over(dying, file, None)
    # it runs nowhere twice, also while it is on no list
    assert (pack(context.state, "moved"), context.ids()) == (expected, [])

    assert take_over(context, file, None) == header
    assert (pack(context.state, "moved"), context.ids()) == (expected, ["moved"])


def test_what_was_claimed_and_not_seen_may_still_be_on_its_way_from_elsewhere(
    context: Context, tmp_path: Path
) -> None:
    file = tmp_path / "export.json"
    exported(file)
    take_over(context, file, None)

    assert context.ledger("moved").in_doubt([0, 1, 2]) == {0, 1}


def test_what_is_on_the_list_is_never_imported_again(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    exported(file)
    take_over(context, file, None)
    before = pack(context.state, "moved")

    with pytest.raises(NotMovable, match="here already"):
        take_over(context, file, None)
    assert pack(context.state, "moved") == before


def test_what_is_there_and_not_what_the_file_holds_is_neither_changed_nor_listed(
    context: Context, tmp_path: Path
) -> None:
    file = tmp_path / "export.json"
    header, _ = exported(file)
    context.ledger("moved").begin(replace(header, project=99))
    before = pack(context.state, "moved")

    with pytest.raises(NotMovable, match="here already"):
        take_over(context, file, None)
    assert (pack(context.state, "moved"), context.ids()) == (before, [])
