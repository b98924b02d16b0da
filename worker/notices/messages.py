"""What is told: an event, and the bodies that Slack and webhooks take."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from worker.plan.notify_part import EventKind

# Slack takes 40,000 characters, and nobody reads more than this.
MOST_CHARACTERS = 3000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to an assessment; the same happening always has the same id."""

    id: str
    kind: EventKind
    text: str
    revision: int
    at: str  # ISO 8601, UTC


def slack_body(assessment: str, event: Event) -> dict[str, Any]:
    """What Slack and its like take: a text in which &, < and > are escaped."""
    text = f"{assessment}: {event.text}"
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 1] + "…"
    return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def webhook_body(assessment: str, event: Event, decision: dict[str, Any] | None) -> dict[str, Any]:
    """What a webhook gets; `id` is the same however often it is delivered."""
    facts = asdict(event)
    body = {
        "version": 1,
        "id": f"{assessment}/{event.id}",
        "event": facts["kind"],
        "assessment": assessment,
        "revision": event.revision,
        "text": event.text,
        "at": event.at,
    }
    return body if decision is None else body | {"decision": decision}
