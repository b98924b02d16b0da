"""What the tests of the ledgers share: claims, judgements, snapshots, and many at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from connector.labels import Judgement, TaskSnapshot
from worker.store import (
    Claim,
    Header,
    Ledger,
)
from worker.store.changes import Change, Edit
from worker.store.rules import Rules
from worker.turn.sync import record

ASSETS = Path(__file__).parents[1] / "assets"
RULES = Rules()
ODD = ["a:b:c", 'say "hi"', "näh\\é", "猫🐈", "{x}", "", " ", "line\nbreak", "nul\x00", "'"]


def header_of(assessment: str) -> Header:
    return replace(Header.load((ASSETS / "header-v1.json").read_text()), assessment=assessment)


def claims_of(items: Sequence[str], first: int = 0, cell: int = 0) -> list[Claim]:
    """Claims with numbers, rows and classes that differ."""
    return [
        Claim(first + n, item, 10 * (first + n), cell, (first + n) % 3, {"strategy": "random"})
        for n, item in enumerate(items)
    ]


def claimed(ledger: Ledger, *items: str, cell: int = 0) -> None:
    state = ledger.state()
    assert ledger.claim(state.revision, claims_of(items, state.claims, cell))


def valid(annotation: int, label: str, at_us: int = 1, author: int = 7) -> Judgement:
    return Judgement(annotation, author, "valid", label, "", at_us, 1.0)


def skipped(annotation: int, author: int, at_us: int = 1) -> Judgement:
    return Judgement(annotation, author, "skipped", None, "", at_us)


def rejected(annotation: int, reason: str = "an empty result", at_us: int = 1) -> Judgement:
    return Judgement(annotation, 7, "rejected", None, reason, at_us)


def seen(ledger: Ledger, task: int, item: str, at_us: int, *judgements: Judgement) -> None:
    """Bring in a snapshot of a task."""
    snapshot = TaskSnapshot(
        task, item, at_us, any(j.status == "valid" for j in judgements), judgements
    )
    record(ledger, [snapshot], ledger.next_reading(), RULES)


def edited(ledger: Ledger, item: str, *edits: Edit, note: str = "") -> list[str]:
    """Commit edits with a record that stays as it is."""
    text = ledger.records([item])[item]
    return ledger.commit([Change(item, text, text, edits, note)])


def in_parallel(n: int, call: Callable[[int], Any]) -> list[Any]:
    """Call in n threads that begin together."""
    barrier = threading.Barrier(n)

    def wait_and_call(k: int) -> Any:
        barrier.wait()
        return call(k)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(wait_and_call, range(n)))
