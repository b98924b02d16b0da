"""What annotators saw is what is counted: whether a label is on the item's own data and question.

What a task should show is in the pool, so nothing is kept of it; what was asked is kept when the
assessment begins. A label that is not on these is rejected, and counts as soon as it is again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from connector.labelling import differing
from connector.labels import Judgement, Look
from worker.store.rules import Rules

OTHER_DATA = "its task does not show the item: the data or the item_id were changed in Label Studio"

# The parts of the labelling configuration that the assessment began with (`connector.labelling`).
BEGUN = "labelling"
# Labels until then were read before the configuration was last found to be the same; microseconds
# since 1970.
_SAME_UNTIL = "labelling_same_until"
_CHANGED = "labelling_changed"
# Set while tasks that changed since then are to be read again, by another rule than before.
_READ_FROM = "labelling_read_from"


@dataclass(frozen=True, slots=True)
class Changed:
    """The labelling configuration is another one: labels after `since_us` do not count."""

    parts: str  # those that differ
    since_us: int

    @property
    def reason(self) -> str:
        """Why a label is rejected."""
        return f"the labelling configuration was changed ({self.parts})"


def changed_labelling(notes: Mapping[str, str]) -> Changed | None:
    """How the labelling configuration was when it was last looked at; None if as in the beginning.

    Args:
        notes: the ledger's.
    """
    text = notes.get(_CHANGED)
    if not text:
        return None
    told = json.loads(text)
    return Changed(told["parts"], told["since_us"])


def labelling_text(notes: Mapping[str, str]) -> str:
    """What it means that the labelling configuration was changed; empty if it was not."""
    changed = changed_labelling(notes)
    if changed is None:
        return ""
    return (
        f"The labelling configuration in Label Studio was changed ({changed.parts}): labels given "
        "since do not count, nobody gets new items and nothing is decided. Put it back, and they "
        "count; or stop, and begin another assessment."
    )


def compared(notes: Mapping[str, str], now: str, read_until_us: int) -> dict[str, str | int]:
    """Compare the labelling configuration with the first one; return the notes that follow from it.

    Args:
        now: its parts; empty if the desk has none.
        read_until_us: labels until then were read before this configuration was.
    """
    begun, changed = notes.get(BEGUN), changed_labelling(notes)
    if not now:
        return {}
    if not begun:  # as an older release began it
        return {BEGUN: now, _SAME_UNTIL: read_until_us}
    if now == begun and changed is None:
        return {_SAME_UNTIL: read_until_us}
    if now == begun and changed is not None:
        again = {_SAME_UNTIL: read_until_us, _READ_FROM: _earlier(notes, changed.since_us)}
        return {_CHANGED: "", **again}
    since_us = int(notes.get(_SAME_UNTIL, 0)) if changed is None else changed.since_us
    text = json.dumps({"parts": differing(begun, now) or "all of it", "since_us": since_us})
    again = {} if changed else {_READ_FROM: _earlier(notes, since_us)}
    return {_CHANGED: text, **again}


def _earlier(notes: Mapping[str, str], since_us: int) -> int:
    """A reading that a crash cut short is made up for by the next one."""
    pending = read_from(notes)
    return since_us if pending is None else min(since_us, pending)


def read_from(notes: Mapping[str, str]) -> int | None:
    """Tasks that changed after this moment are to be read again; None: it was done."""
    text = notes.get(_READ_FROM)
    return int(text) if text else None


def was_read() -> dict[str, str]:
    """The note that says that it was done."""
    return {_READ_FROM: ""}


def as_counted(look: Look, row: int, rules: Rules, changed: Changed | None) -> Look:
    """The look at a task of the item in a row, with what does not count rejected.

    Skips stay: Label Studio counts them, and they count for nothing.
    """
    if not any(j.status == "valid" for j in look.judgements):
        return look
    if rules.shown is not None and look.shown != rules.shown(row):
        return replace(look, judgements=tuple(_rejected(j, OTHER_DATA) for j in look.judgements))
    if changed is None:
        return look
    since_us, reason = changed.since_us, changed.reason
    judged = (_rejected(j, reason) if j.at_us > since_us else j for j in look.judgements)
    return replace(look, judgements=tuple(judged))


def _rejected(j: Judgement, reason: str) -> Judgement:
    if j.status != "valid":
        return j
    return replace(j, status="rejected", label=None, reason=reason)
