"""What is known of one claimed item, and what a snapshot of its task in Label Studio changes.

Pure functions; the ledgers (Redis and memory) only keep what these return.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from connector.labels import Judgement, TaskSnapshot
from worker.errors import AssayError
from worker.store.rules import Rules, votes_of

VERSION = 1

# Clocks of two machines differ by less. A moment further ahead comes from one that was wrong.
CLOCKS_US = 60_000_000

RecordState = Literal["intended", "open", "labelled", "skipped", "rejected", "deleted"]


class NewerRecord(AssayError):
    """A record was written by a newer release."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The last snapshot of a task that counts, and the number of the reading that brought it."""

    at_us: int
    reading: int
    is_closed: bool
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One claimed item: its claim, its tasks with their judgements, and its outcome.

    `outcome` is derived from the judgements by the plan's rule; it is stored so that the tally can
    be corrected by exactly what it contributed.
    """

    item: str
    claim: int
    row: int
    cell: int
    predicted: int
    tasks: tuple[tuple[int, Seen], ...] = ()  # ascending by task id
    was_deleted: bool = False
    outcome: str | None = None

    def state(self, rules: Rules) -> RecordState:
        """Where the item is on its way; it may have an outcome before it is `labelled`."""
        judgements = self.judgements()
        if rules.is_settled(votes_of(judgements), self.outcome):
            return "labelled"
        if not self.tasks:
            return "deleted" if self.was_deleted else "intended"
        if len({j.author for j in judgements if j.status == "skipped"}) >= rules.skips:
            return "skipped"
        # Where several people are asked, the others may still answer.
        if rules.per_item == 1 and any(j.status == "rejected" for j in judgements):
            return "rejected"
        return "open"

    def judgements(self) -> tuple[Judgement, ...]:
        """All live judgements on the item, in the order of their annotation ids."""
        every = [j for _, seen in self.tasks for j in seen.judgements]
        return tuple(sorted(every, key=lambda j: j.annotation))

    def asked(self) -> tuple[int, ...]:
        """Who answered or skipped it, ascending: Label Studio gives it to others only."""
        return tuple(sorted({j.author for j in self.judgements() if j.author is not None}))


def with_snapshot(
    record: Record, snapshot: TaskSnapshot, reading: int, rules: Rules, now_us: int
) -> Record:
    """Return the record with a new snapshot of one of its tasks.

    Snapshots may come twice, late or in any order: the one with the latest (task update, reading)
    wins, and an unchanged one changes nothing. An update that is still to come was stamped while
    Label Studio's clock was ahead, and is no later than any other: the reading alone decides.

    Args:
        now_us: microseconds since 1970.
    """
    known = dict(record.tasks)
    seen = known.get(snapshot.task)
    if seen is not None:
        is_ahead = seen.at_us > now_us + CLOCKS_US
        if (0 if is_ahead else snapshot.at_us - seen.at_us, reading) < (0, seen.reading):
            return record
        fresh = (snapshot.at_us, snapshot.is_closed, snapshot.judgements)
        if fresh == (seen.at_us, seen.is_closed, seen.judgements):
            return record
    known[snapshot.task] = Seen(snapshot.at_us, reading, snapshot.is_closed, snapshot.judgements)
    return _counted(replace(record, tasks=tuple(sorted(known.items()))), rules)


def lost(record: Record, task: int, rules: Rules) -> Record:
    """Return the record after one of its tasks vanished from Label Studio."""
    rest = tuple((t, seen) for t, seen in record.tasks if t != task)
    if len(rest) == len(record.tasks):
        return record
    return _counted(replace(record, tasks=rest, was_deleted=True), rules)


def _counted(record: Record, rules: Rules) -> Record:
    outcome = rules.outcome(votes_of(record.judgements()), record.row)
    return replace(record, outcome=outcome)


# --- what is stored ------------------------------------------------------------------------------


def dump(record: Record) -> str:
    """Return the record as JSON with a version."""
    return json.dumps(
        {
            "v": VERSION,
            "item": record.item,
            "claim": record.claim,
            "row": record.row,
            "cell": record.cell,
            "predicted": record.predicted,
            "tasks": {
                str(task): [
                    seen.at_us,
                    seen.reading,
                    int(seen.is_closed),
                    [_judgement_out(j) for j in seen.judgements],
                ]
                for task, seen in record.tasks
            },
            "deleted": int(record.was_deleted),
            "outcome": record.outcome,
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )


def load(text: str) -> Record:
    """Read what `dump` wrote.

    Raises:
        NewerRecord: written by a newer release.
    """
    raw: dict[str, Any] = json.loads(text)
    if raw["v"] != VERSION:
        raise NewerRecord(
            f"An item's record has version {raw['v']}, this release reads version {VERSION}: it "
            "was written by a newer Assay; upgrade this one"
        )
    return Record(
        item=raw["item"],
        claim=raw["claim"],
        row=raw["row"],
        cell=raw["cell"],
        predicted=raw["predicted"],
        tasks=tuple(
            (int(task), Seen(at, reading, bool(closed), tuple(_judgement_in(j) for j in judged)))
            for task, (at, reading, closed, judged) in raw["tasks"].items()
        ),
        was_deleted=bool(raw["deleted"]),
        outcome=raw["outcome"],
    )


def _judgement_out(j: Judgement) -> list[Any]:
    return [j.annotation, j.author, j.status, j.label, j.reason, j.at_us, j.seconds]


def _judgement_in(raw: list[Any]) -> Judgement:
    return Judgement(*raw)
