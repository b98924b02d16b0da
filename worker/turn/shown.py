"""What annotators saw is what is counted: whether a label is on the item's own data and question.

What a task should show is in the pool, so nothing is kept of it; what was asked is kept when the
assessment begins. A label that is not on these is rejected, and counts as soon as it is again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from connector.labelling import differing
from connector.labels import Judgement, TaskSnapshot
from worker.store.metadata import Metadata
from worker.store.rules import Rules

OTHER_DATA = "its task does not show the item: the data or the item_id were changed in Label Studio"


@dataclass(frozen=True, slots=True)
class Changed:
    """The labelling configuration is another one: labels after `since_us` do not count."""

    parts: str  # those that differ
    since_us: int

    @property
    def reason(self) -> str:
        """Why a label is rejected."""
        return f"the labelling configuration was changed ({self.parts})"


def changed_labelling(metadata: Metadata) -> Changed | None:
    """How the labelling configuration was when last looked at; None if as in the beginning."""
    text = metadata.get("labelling_changed")
    if not text:
        return None
    told = json.loads(text)
    return Changed(told["parts"], told["since_us"])


def labelling_text(metadata: Metadata) -> str:
    """What it means that the labelling configuration was changed; empty if it was not."""
    changed = changed_labelling(metadata)
    if changed is None:
        return ""
    return (
        f"The labelling configuration in Label Studio was changed ({changed.parts}): labels given "
        "since do not count, nobody gets new items and nothing is decided. Put it back, and they "
        "count; or stop, and begin another assessment."
    )


def compared(metadata: Metadata, now: str, read_until_us: int) -> Metadata:
    """Compare the labelling configuration with the first one; return the facts that follow from it.

    Args:
        now: its parts; empty if the desk has none.
        read_until_us: labels until then were read before this configuration was.
    """
    begun, changed = metadata.get("labelling"), changed_labelling(metadata)
    if not now:
        return {}
    if not begun:  # as an older release began it
        return {"labelling": now, "labelling_same_until": read_until_us}
    if now == begun and changed is None:
        return {"labelling_same_until": read_until_us}
    if now == begun and changed is not None:
        return {
            "labelling_changed": "",
            "labelling_same_until": read_until_us,
            "labelling_read_from": _earlier(metadata, changed.since_us),
        }
    since_us = metadata.get("labelling_same_until", 0) if changed is None else changed.since_us
    text = json.dumps({"parts": differing(begun, now) or "all of it", "since_us": since_us})
    if changed:
        return {"labelling_changed": text}
    return {"labelling_changed": text, "labelling_read_from": _earlier(metadata, since_us)}


def _earlier(metadata: Metadata, since_us: int) -> str:
    """A reading that a crash cut short is made up for by the next one."""
    pending = read_from(metadata)
    return str(since_us if pending is None else min(since_us, pending))


def read_from(metadata: Metadata) -> int | None:
    """Tasks that changed after this moment are to be read again; None: it was done."""
    text = metadata.get("labelling_read_from")
    return int(text) if text else None


def as_counted(
    snapshot: TaskSnapshot, row: int, rules: Rules, changed: Changed | None
) -> TaskSnapshot:
    """The snapshot of a task of the item in a row, with what does not count rejected.

    Skips stay: Label Studio counts them, and they count for nothing.
    """
    if not any(j.status == "valid" for j in snapshot.judgements):
        return snapshot
    if rules.shown is not None and snapshot.shown != rules.shown(row):
        return replace(
            snapshot, judgements=tuple(_rejected(j, OTHER_DATA) for j in snapshot.judgements)
        )
    if changed is None:
        return snapshot
    since_us, reason = changed.since_us, changed.reason
    judged = (_rejected(j, reason) if j.at_us > since_us else j for j in snapshot.judgements)
    return replace(snapshot, judgements=tuple(judged))


def _rejected(j: Judgement, reason: str) -> Judgement:
    if j.status != "valid":
        return j
    return replace(j, status="rejected", label=None, reason=reason)
