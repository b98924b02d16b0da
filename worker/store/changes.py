"""What is written when the record of an item changes: the record, and the edits that follow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from worker.store.records import Record, RecordState, dump
from worker.store.rules import Rules
from worker.store.tally import tally_key


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a hash that goes with a change: `set`, `del`, `add` (a number) or `max`."""

    verb: Literal["set", "del", "add", "max"]
    hash: str
    key: str
    value: str | int = ""

    def apply(self, hashes: Mapping[str, dict[str, str]]) -> None:
        """Make it in memory, as `commit.lua` makes it on a server."""
        target = hashes[self.hash]
        if self.verb == "del":
            target.pop(self.key, None)
        elif self.verb == "set":
            target[self.key] = str(self.value)
        elif self.verb == "add":
            total = int(target.get(self.key, 0)) + int(self.value)
            target[self.key] = str(total)
            if total == 0:
                del target[self.key]
        else:
            target[self.key] = str(max(int(target.get(self.key, 0)), int(self.value)))


@dataclass(frozen=True, slots=True)
class Change:
    """A record's old and new form with the edits that follow; kept whole or not at all."""

    item: str
    before: str  # as stored
    after: str
    edits: tuple[Edit, ...] = ()
    note: str = field(default="")  # for the log, when the outcome changed


def open_note(record: Record, state: RecordState) -> str:
    """What the list of unsettled items holds of one: enough to choose and to recover."""
    return json.dumps(
        {
            "cell": record.cell,
            "row": record.row,
            "claim": record.claim,
            "state": state,
            "tasks": [t for t, _ in record.tasks],
            "open": [t for t, seen in record.tasks if not seen.is_closed],
            "asked": record.asked(),
            "predicted": record.predicted,
            "outcome": record.outcome,
        },
        separators=(",", ":"),
    )


def change(stored: str, before: Record, after: Record, rules: Rules) -> Change | None:
    """Return what must be written so that `after` replaces `before`; None when they are equal."""
    if after == before:
        return None
    edits: list[Edit] = []
    note = ""
    if before.outcome != after.outcome:
        for outcome, step in ((before.outcome, -1), (after.outcome, 1)):
            if outcome is not None:
                key = tally_key(after.claim, after.cell, after.predicted, outcome)
                edits.append(Edit("add", "tally", key, step))
        if after.outcome is not None:
            edits.append(Edit("max", "notes", "latest_answered", after.claim))
        note = json.dumps(
            {"item": after.item, "cell": after.cell, "before": before.outcome, "now": after.outcome}
        )
    edits += _where_it_is(before, after, rules)
    edits += _tasks(before, after)
    edits += _people(before, after)
    return Change(after.item, stored, dump(after), tuple(edits), note)


def _where_it_is(before: Record, after: Record, rules: Rules) -> list[Edit]:
    edits: list[Edit] = []
    state = after.state(rules)
    if state == "labelled" and not _is_served(after, rules):
        edits.append(Edit("del", "open", after.item))
    else:
        edits.append(Edit("set", "open", after.item, open_note(after, state)))
    was, now = before.judgements(), after.judgements()
    for j in was:
        if j.status == "rejected":
            edits.append(Edit("del", "rejected", str(j.annotation)))
    for j in now:
        if j.status == "rejected":
            text = json.dumps({"item": after.item, "author": j.author, "reason": j.reason})
            edits.append(Edit("set", "rejected", str(j.annotation), text))
    return edits


def _is_served(record: Record, rules: Rules) -> bool:
    """Whether a labelled item may still be given to somebody.

    Label Studio closes a task that as many people answered as the project asks for.
    """
    return any(
        not seen.is_closed and (rules.per_item_max > 1 or not seen.judgements)
        for _, seen in record.tasks
    )


def _tasks(before: Record, after: Record) -> list[Edit]:
    gone = {t for t, _ in before.tasks} - {t for t, _ in after.tasks}
    edits = [Edit("del", "tasks", str(t)) for t in sorted(gone)]
    for task, seen in after.tasks:
        valid = sum(j.status != "skipped" for j in seen.judgements)
        brief = f"{seen.at_us}:{valid}:{len(seen.judgements) - valid}:{after.item}"
        edits.append(Edit("set", "tasks", str(task), brief))
    return edits


def _people(before: Record, after: Record) -> list[Edit]:
    known = set(before.judgements())
    return [
        Edit("max", "authors", str(j.author), j.at_us)
        for j in after.judgements()
        if j.author is not None and j not in known
    ]
