"""What every keeper of an assessment's state promises; `tests/contract` holds both to it.

State is a fold over versioned judgements. A record is replaced only while it still is what the
writer saw (compare and set), and the tally moves in the same step by exactly what that record
contributed. So doubled, late and reordered events, and writers that die half-way, change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, Unpack

from worker.errors import AssayError
from worker.store.changes import Change
from worker.store.lease import LeaseStore
from worker.store.metadata import Metadata
from worker.store.outbox import OutboxStore
from worker.store.records import RecordState

VERSION = 1
Status = Literal["starting", "running", "paused", "stopped"]


class LedgerError(AssayError):
    """The stored state cannot be used."""


class AlreadyStarted(LedgerError):
    """An assessment with this id is there already."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is fixed when an assessment starts, and never changes."""

    assessment: str
    plan: str  # JSON of the plan
    plan_hash: str
    pool_hash: str
    pool_file: str
    pool_sha256: str
    pool_stat: tuple[int, int]  # size in bytes and mtime in ns of the compiled file
    project: int
    url: str
    control: str
    to_name: str
    labels: tuple[str, ...]
    started_at: str  # ISO 8601, UTC

    def dump(self) -> str:
        return json.dumps({"v": VERSION, **asdict(self)})

    @classmethod
    def load(cls, text: str) -> Header:
        """Read what `dump` wrote.

        Raises:
            LedgerError: it was written by a newer release.
            ValueError, KeyError, TypeError: it is damaged.
        """
        raw = json.loads(text)
        if (version := int(raw.pop("v"))) < VERSION:
            raise ValueError(f"a header of version {version}, which there never was")
        if version > VERSION:
            raise LedgerError(
                "This assessment was started by a newer Assay than this one; upgrade Assay on this "
                "machine."
            )
        raw["pool_stat"] = tuple(raw["pool_stat"])
        raw["labels"] = tuple(raw["labels"])
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A claimed item that is not settled, or that Label Studio still serves."""

    item: str
    cell: int
    row: int
    claim: int
    state: RecordState
    tasks: tuple[int, ...]
    open_tasks: tuple[int, ...]  # those that Label Studio still serves
    asked: tuple[int, ...]  # who answered or skipped it
    predicted: int
    outcome: str | None  # what it adds to the tally so far


@dataclass(frozen=True, slots=True)
class Claim:
    """One choice: which item, by which claim number, and why."""

    number: int
    item: str
    row: int
    cell: int
    predicted: int
    why: Mapping[str, Any]  # revision, strategy, pending, numbers: JSON-able


@dataclass(frozen=True, slots=True)
class State:
    """One consistent picture of an assessment."""

    status: Status
    revision: int  # grows by one with every change of an outcome
    claims: int  # how many items were ever claimed
    tally: Mapping[str, int]  # see `tally.TallyKey`
    taken: Mapping[int, int]  # cell -> items claimed
    unsettled: Mapping[str, Unsettled]
    authors: Mapping[str, int]  # who judged, and when last (microseconds)
    n_rejected: int
    metadata: Metadata = field(default_factory=Metadata)


# The items of tasks, the records of items, the metadata.
Stored = tuple[dict[int, str], dict[str, str], Metadata]


class StateStore(Protocol):
    """The state of one assessment: what was judged, claimed, decided."""

    assessment: str

    def begin(self, header: Header) -> None:
        """Keep the header and become `running`. Raises AlreadyStarted if there is one."""

    def header(self) -> Header | None:
        """The header, or None if there is no such assessment."""

    def state(self) -> State:
        """Everything that one turn of the loop needs, as of one moment."""

    def revision(self) -> int:
        """The revision alone (it is in `state` too)."""

    def metadata(self) -> Metadata:
        """The small facts alone (they are in `state` too)."""

    def next_reading(self) -> int:
        """A number that grows with every reading of Label Studio."""

    def records(self, items: Sequence[str]) -> dict[str, str]:
        """The stored records of those of `items` that were claimed."""

    def tasks(self) -> dict[int, tuple[int, int, int, str]]:
        """All known tasks: id -> (last change, answers, skips, item)."""

    def items_of(self, tasks: Sequence[int]) -> dict[int, str]:
        """Which item each of the known ones among `tasks` shows."""

    def known(self, tasks: Sequence[int], items: Sequence[str]) -> Stored:
        """`items_of`, `records` and `metadata` in one trip."""

    def mark_foreign(self, tasks: Mapping[int, str]) -> None:
        """Remember tasks of the project that we did not import (their briefs name no item)."""

    def forget_foreign(self, tasks: Sequence[int]) -> None:
        """Forget such tasks after they vanished."""

    def commit(self, changes: Sequence[Change]) -> list[str]:
        """Replace records, each only if it still is `before`; return the items that were not."""

    def claim(self, revision: int, claims: Sequence[Claim]) -> bool:
        """Claim items, all or none.

        Refused (False) when the status is not `running`, an outcome changed since `revision`, the
        first claim's number is not the next one, or an item was claimed before.
        """

    def publish(self, revision: int, text: str, *, stops: bool) -> bool:
        """Publish a decision, once per revision.

        Refused (False) when an outcome changed since `revision`, there is a decision of it
        already, or (`stops`) the assessment is not running or paused. With `stops` it becomes
        `stopped` in the same step.
        """

    def decisions(self) -> list[str]:
        """All published decisions, oldest first; the first one is the stop."""

    def choices(self) -> list[dict[str, Any]]:
        """The log of claims, in their order."""

    def changes(self, after: int = 0) -> list[dict[str, Any]]:
        """The log of changed outcomes with their revisions, in order: those after a revision."""

    def rejected(self) -> dict[int, dict[str, Any]]:
        """Rejected annotations with their reasons."""

    def every_record(self) -> Iterable[str]:
        """The stored records of all claimed items."""

    def move(self, before: Status, after: Status) -> bool:
        """Change the status if it is `before`."""

    def set_metadata(self, **facts: Unpack[Metadata]) -> None:
        """Keep small facts beside the state."""

    def compare_and_set(self, name: str, before: str | int, after: str | int) -> bool:
        """Change a small fact if it is `before` (empty: or not there); say whether it was."""

    def advance_cursor(self, cursor_us: int, **facts: Unpack[Metadata]) -> None:
        """Move the cursor forward, never back, and keep small facts in the same step."""

    def wakes(self) -> int:
        """How many turns were begun or asked for so far."""

    def wake(self) -> int:
        """Count one more, and return the count."""


class Ledger(StateStore, LeaseStore, OutboxStore, Protocol):
    """All that is kept of one assessment."""
