"""What happened to an assessment that people want to be told: decisions, failures, stalls.

Every look finds the same events under the same ids, so it does not matter who looks how often.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from worker.notices import outbox
from worker.notices.messages import Event
from worker.notices.stalls import since, stalls
from worker.plan import Plan
from worker.plan.report_part import seconds_of
from worker.store import Ledger, State

# Label Studio is restarted now and then; a turn that fails meanwhile is nobody's trouble.
LASTS_S = 10.0


def note_decisions(ledger: Ledger, plan: Plan) -> None:
    """Put the published decisions into the outbox, and note when the last stop was.

    Called after every turn: if a process dies after publishing, the next turn looks again. A review
    is told only if it says another thing than what was said before it.
    """
    texts = ledger.decisions()
    if ledger.metadata().get("noticed", 0) == len(texts):
        return
    said = "confirmed"
    stopped_at = ""
    for decision in map(json.loads, texts):
        if decision["kind"] == "stop":
            said, stopped_at = "confirmed", decision["decided_at"]
            outbox.put(ledger, plan, _decided(decision))
        elif decision["since"] != said:
            said = decision["since"]
            outbox.put(ledger, plan, _decided(decision))
    ledger.set_metadata(noticed=len(texts), decided_at=stopped_at)


def look_for_trouble(ledger: Ledger, plan: Plan, state: State, now: float) -> None:
    """Put failures and stalls into the outbox; the watcher asks in every round.

    Args:
        now: in seconds since 1970.
    """
    if not plan.notify:
        return
    metadata = state.metadata
    errors = [text for text in (metadata.get("error"), metadata.get("report_error")) if text]
    failing_since = since(ledger, metadata, "failing_since", bool(errors), now)
    if failing_since is not None and now - failing_since >= LASTS_S:
        for text in errors:
            outbox.put(ledger, plan, _failure(text, failing_since, state.revision, now))
    for event in stalls(ledger, state, seconds_of(plan.stall_after) or 0, now):
        outbox.put(ledger, plan, event)


def _decided(decision: dict[str, Any]) -> Event:
    revision = decision["revision"]
    text, at = decision["text"], decision["decided_at"]
    return Event(f"decision:{revision}", "decision", text, revision, at)


def _failure(text: str, failing_since: int, revision: int, now: float) -> Event:
    # Errors that differ in a number only (a time, an id) are the same one.
    sign = hashlib.sha256(re.sub(r"\d+", "0", text).encode()).hexdigest()[:12]
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    return Event(f"failure:{sign}:{failing_since}", "failure", f"Failing: {text}", revision, at)
