"""A project that was there before the assessment is borrowed: its settings are put back at the end.

What they were is written down before any of them is changed. A worker may die at any line; the next
turn does the rest, and what was written down is never replaced by settings of ours.
"""

from __future__ import annotations

import json

from connector.port import BorrowedDesk, Desk
from worker.store import Ledger


class Claimed:
    """What the desk in a borrowed project must know of the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.tasks = ledger.tasks
        self.items_of = ledger.items_of

    def waiting(self) -> list[int]:
        """The tasks of the claims that are not settled."""
        unsettled = self._ledger.state().unsettled.values()
        return [task for u in unsettled for task in u.tasks]


def override_settings(ledger: Ledger, desk: Desk) -> None:
    """Give a borrowed project our settings, once; nothing if the project is our own.

    Raises:
        RankedByAnother: another assessment has borrowed it.
        ConnectorError.
    """
    if not isinstance(desk, BorrowedDesk):
        return
    metadata = ledger.metadata()
    if metadata.get("settings_taken"):
        return
    if not metadata.get("settings_before"):
        ledger.compare_and_set("settings_before", "", json.dumps(desk.settings(), sort_keys=True))
    desk.take_over()
    ledger.set_metadata(settings_taken="yes")


def restore_settings(ledger: Ledger, desk: Desk) -> None:
    """Put a borrowed project's settings back, once, and take our order away.

    Raises:
        ConnectorError: what is left to do, the next turn does.
    """
    before = ledger.metadata().get("settings_before")
    if not before or not isinstance(desk, BorrowedDesk):
        return
    # First: a resume between these lines must take the project over again.
    ledger.set_metadata(settings_taken="")
    desk.restore_settings(json.loads(before))
    ledger.set_metadata(settings_before="")
