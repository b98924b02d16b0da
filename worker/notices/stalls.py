"""Nothing goes on though the question is open: nobody labels, or nothing is queued."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from worker.findings.fates import open_tasks
from worker.notices.messages import Event
from worker.store import Ledger, State
from worker.store.metadata import Metadata

Since = Literal["running_since", "empty_since", "failing_since"]

# A queue is empty for moments between a label and the next import; for so long it should not be.
EMPTY_S = 600.0
# Clocks of two machines differ by less. A moment further ahead comes from one that was wrong.
CLOCKS_S = 3600.0


def stalls(ledger: Ledger, state: State, stall_after_s: float, now: float) -> list[Event]:
    """Return what stands still now; the same stall always has the same id.

    Args:
        now: in seconds since 1970.
    """
    metadata = state.metadata
    is_running = state.status == "running"
    is_empty = is_running and not open_tasks(state)
    running_since = since(ledger, metadata, "running_since", is_running, now)
    empty_since = since(ledger, metadata, "empty_since", is_empty, now)
    found = []
    if running_since is not None:
        last_label = min(now, max(state.authors.values(), default=0) / 1e6)
        quiet_since = max(running_since, int(last_label))
        if now - quiet_since >= stall_after_s:
            what = f"Nobody has labelled for {_time(stall_after_s)}; the question is still open."
            found.append(_stall(f"stall:{quiet_since}", what, state, now))
    empty_s = min(EMPTY_S, stall_after_s)
    if empty_since is not None and now - empty_since >= empty_s:
        what = (
            f"Annotators have had nothing to label for {_time(empty_s)}, though the question is "
            f"open; `assay status {ledger.assessment}` and `assay doctor` look for the cause."
        )
        found.append(_stall(f"stall:empty:{empty_since}", what, state, now))
    return found


def since(ledger: Ledger, metadata: Metadata, name: Since, is_so: bool, now: float) -> int | None:
    """The second since when something is so, kept under a name; None if it is not so."""
    kept = metadata.get(name)
    if is_so and kept is not None and kept <= now + CLOCKS_S:
        return kept
    found = int(now) if is_so else None
    if kept != found:
        ledger.compare_and_set(name, "" if kept is None else kept, "" if found is None else found)
    return found


def _stall(id: str, text: str, state: State, now: float) -> Event:
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    return Event(id, "stall", text, state.revision, at)


def _time(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} seconds"
