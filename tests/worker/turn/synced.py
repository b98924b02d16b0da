"""A ledger and tasks of a project in memory that are to be brought together."""

from __future__ import annotations

from tests.fakes import FakeDesk
from worker.store import Claim, Header, MemoryLedger
from worker.store.rules import Rules

RULES = Rules()
HEADER = Header("a", "", "", "", "", "", (0, 0), 1, "", "answer", "text", ("cat",), "")


def begun(*items: str) -> MemoryLedger:
    """A ledger where these items are claimed."""
    ledger = MemoryLedger("a")
    ledger.begin(HEADER)
    claims = [Claim(n, item, n, 0, 0, {}) for n, item in enumerate(items)]
    assert not claims or ledger.claim(0, claims)
    return ledger


def showing(desk: FakeDesk, *items: str) -> list[int]:
    return desk.put([{"item_id": item} for item in items])
