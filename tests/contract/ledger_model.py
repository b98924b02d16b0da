"""What a ledger is, said with plain dictionaries; it shares no code with the ledgers.

It follows the contract's words and the rule `first` with two skips, and is slow on purpose:
everything that can be derived is derived anew whenever it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from connector.labels import Judgement, TaskSnapshot


@dataclass
class Shown:
    """The snapshot of a task that counts."""

    item: str
    at_us: int
    reading: int
    is_closed: bool
    judgements: tuple[Judgement, ...]


@dataclass
class Model:
    """One assessment; items are claimed in cell 0, and predicted as their claim's number mod 3."""

    status: str = "running"
    claims: list[str] = field(default_factory=list)  # items by claim number
    shown: dict[int, Shown] = field(default_factory=dict)  # our tasks
    foreign: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)  # items of which a task vanished once
    outcomes: dict[str, str] = field(default_factory=dict)
    log: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    decided: set[int] = field(default_factory=set)
    authors: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    readings: int = 0
    wakes: int = 0
    holder: str | None = None
    turn: str | None = None  # who took the lease last
    doubtful: set[int] = field(default_factory=set)  # claims whose import may be under way
    notices: dict[str, str] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)

    @property
    def revision(self) -> int:
        return len(self.log)

    def read(self, snapshots: Sequence[TaskSnapshot], reading: int) -> None:
        """Snapshots of one reading arrive, whenever it was taken; items count once, at its end."""
        shown = [snapshot.item for snapshot in snapshots if self._show(snapshot, reading)]
        for item in dict.fromkeys(shown):
            self._count(item)

    def _show(self, snapshot: TaskSnapshot, reading: int) -> bool:
        """Whether the snapshot changes what is shown of an item of ours."""
        known = self.shown.get(snapshot.task)
        if known is not None and known.item != snapshot.item:
            self.vanish([snapshot.task])
            known = None
        if snapshot.item not in self.claims:
            skips = sum(j.status == "skipped" for j in snapshot.judgements)
            self.foreign[snapshot.task] = (snapshot.at_us, len(snapshot.judgements) - skips, skips)
            return False
        if known is not None:
            if (snapshot.at_us, reading) < (known.at_us, known.reading):
                return False
            same = (known.at_us, known.is_closed, known.judgements)
            if same == (snapshot.at_us, snapshot.is_closed, snapshot.judgements):
                return False
        self.foreign.pop(snapshot.task, None)
        self.shown[snapshot.task] = Shown(
            snapshot.item, snapshot.at_us, reading, snapshot.is_closed, snapshot.judgements
        )
        for j in snapshot.judgements:
            self.authors[str(j.author)] = max(self.authors.get(str(j.author), 0), j.at_us)
        return True

    def vanish(self, tasks: Iterable[int]) -> None:
        """Some of our tasks are gone; their items count once, at the end."""
        items = dict.fromkeys(self.shown.pop(task).item for task in tasks)
        self.lost |= items.keys()
        for item in items:
            self._count(item)

    def _count(self, item: str) -> None:
        valid = {j.annotation: str(j.label) for j in self.judged(item) if j.status == "valid"}
        before, now = self.outcomes.get(item), valid[min(valid)] if valid else None
        if now == before:
            return
        self.log.append((item, before, now))
        if now is None:
            del self.outcomes[item]
            return
        self.outcomes[item] = now
        claim = self.claims.index(item)
        self.notes["latest_answered"] = str(max(int(self.notes.get("latest_answered", 0)), claim))

    def judged(self, item: str) -> list[Judgement]:
        """All live judgements on an item."""
        return [j for shown in self.shown.values() if shown.item == item for j in shown.judgements]

    def tally(self) -> dict[str, int]:
        """How many items stand where."""
        keys = [
            f"0:0:{self.claims.index(item) % 3}:{label}" for item, label in self.outcomes.items()
        ]
        return dict(Counter(keys))

    def tasks(self) -> dict[int, tuple[int, int, int, str]]:
        """Ours and the others'."""
        briefs = {task: (*brief, "") for task, brief in self.foreign.items()}
        for task, shown in self.shown.items():
            skips = sum(j.status == "skipped" for j in shown.judgements)
            answers = len(shown.judgements) - skips
            briefs[task] = (shown.at_us, answers, skips, shown.item)
        return briefs

    def rejected(self) -> dict[int, tuple[str, str]]:
        """Annotation -> item and reason."""
        return {
            j.annotation: (shown.item, j.reason)
            for shown in self.shown.values()
            for j in shown.judgements
            if j.status == "rejected"
        }

    def unsettled(self) -> dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Item -> its state, its tasks, and those of them that are still given out."""
        found = {}
        for item in self.claims:
            tasks = {t: shown for t, shown in sorted(self.shown.items()) if shown.item == item}
            still_open = tuple(t for t, shown in tasks.items() if not shown.is_closed)
            is_served = any(not tasks[t].judgements for t in still_open)
            if item not in self.outcomes or is_served:
                found[item] = (self._state(item, bool(tasks)), tuple(tasks), still_open)
        return found

    def _state(self, item: str, has_tasks: bool) -> str:
        judged = self.judged(item)
        if item in self.outcomes:
            return "labelled"
        if not has_tasks:
            return "deleted" if item in self.lost else "intended"
        if len({j.author for j in judged if j.status == "skipped"}) >= 2:
            return "skipped"
        return "rejected" if any(j.status == "rejected" for j in judged) else "open"
