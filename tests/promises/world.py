"""A small assessment with people who label, workers that die or stall, and the truth about both.

A step of a history is a name and two numbers that pick whom or what it is about; so every history
is possible at every moment, and hypothesis can shorten it.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from hypothesis import strategies as st

from connector.errors import InDoubt
from connector.port import Desk
from tests.fakes import FakeDesk
from tests.promises.faults import FATES, Fate, Frail, Import, Killed, Process
from tests.promises.small import CLASSES, predicted, shown
from worker.assessment import Assessment
from worker.service.server import connect
from worker.store import Header, Ledger, MemoryLedger
from worker.store.records import load
from worker.store.valkey import ValkeyLedger
from worker.turn.leasing import LeaseLost
from worker.turn.loop import advance

N_PEOPLE = 3
# Longer than the window that every reading overlaps with the one before.
LONG_US = 60_000_000

Step = tuple[str, int, int]


@dataclass(slots=True)
class World:
    """An assessment at work: its ledger, its desk, and the people before it."""

    assessment: Assessment
    header: Header
    ledger: Ledger
    folder: Path
    desk: FakeDesk = field(default_factory=FakeDesk)
    workers: Iterator[int] = field(default_factory=itertools.count)

    # --- workers -----------------------------------------------------------------------------

    def turn(
        self,
        fate: Fate | None = None,
        at: int = 0,
        *,
        lost: Import | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Process:
        """Let a new worker take a turn; if it ended badly, let its lease run out.

        Args:
            meanwhile: what happens if it stalls; else its lease runs out and another takes a turn.
        """
        holder = f"worker-{next(self.workers)}"

        def another_turn() -> None:
            self.ledger.drop_lease(holder)
            self.turn()

        process = Process(fate, at, meanwhile or another_turn, lost)
        try:
            advance(
                self.assessment,
                self.header,
                cast(Ledger, Frail(self.ledger, process)),
                cast(Desk, Frail(self.desk, process)),
                self.folder,
                holder,
            )
        except (Killed, InDoubt, LeaseLost):
            self.ledger.drop_lease(holder)
            self.end_doubts()
        return process

    def intended(self) -> list[int]:
        """The claims that were perhaps imported."""
        unsettled = self.ledger.state().unsettled.values()
        return [u.claim for u in unsettled if u.state == "intended"]

    def end_doubts(self) -> None:
        """Let the time pass in which an import may be under way."""
        self.ledger.doubt(self.intended(), 1)
        time.sleep(0.002)

    def settle(self) -> None:
        """Let all be quiet until everything has been noticed."""
        for _ in range(3):
            self.ledger.set_metadata(swept_at=0)
            self.turn()

    # --- people ------------------------------------------------------------------------------

    def happen(self, step: Step) -> None:
        """Let one thing happen, if at this moment it can."""
        name, a, b = step
        getattr(self, f"_{name}")(a, b)

    def _turn(self, a: int, b: int) -> None:
        self.turn()

    def _bad_turn(self, a: int, b: int) -> None:
        self.turn(FATES[a % len(FATES)], 1 + b % 30)

    def _lost_import(self, a: int, b: int) -> None:
        self.turn(lost="arrives" if a % 2 else "never arrives")

    def _label(self, a: int, b: int) -> None:
        task = self.desk.next_task(a % N_PEOPLE)
        if task is not None:
            self.desk.annotate(task, CLASSES[b % len(CLASSES)], a % N_PEOPLE)

    def _label_again(self, a: int, b: int) -> None:
        if task := _one_of(self.desk.task_ids(), a):
            self.desk.annotate(task, CLASSES[b % len(CLASSES)], b % N_PEOPLE)

    def _nonsense(self, a: int, b: int) -> None:
        if task := self.desk.next_task(a % N_PEOPLE):
            self.desk.annotate(task, "zebra", a % N_PEOPLE)

    def _skip(self, a: int, b: int) -> None:
        if task := self.desk.next_task(a % N_PEOPLE):
            self.desk.skip(task, a % N_PEOPLE)

    def _edit(self, a: int, b: int) -> None:
        if annotation := _one_of(self._annotations(), a):
            self.desk.edit(annotation, CLASSES[b % len(CLASSES)])

    def _delete_annotation(self, a: int, b: int) -> None:
        if annotation := _one_of(self._annotations(), a):
            self.desk.delete_annotation(annotation)

    def _delete_task(self, a: int, b: int) -> None:
        if task := _one_of(self.desk.task_ids(), a):
            self.desk.delete_task(task)

    def _delete_last_task(self, a: int, b: int) -> None:
        if tasks := self.desk.task_ids():
            self.desk.delete_task(tasks[-1])

    def _foreign_task(self, a: int, b: int) -> None:
        self.desk.put([{"text": "not one of ours"}])

    def _change_text(self, a: int, b: int) -> None:
        """Another text, or the first one again; every second time its task keeps its stamp."""
        if (task := _one_of(self.desk.task_ids(), a)) and self.desk.data_of(task).get("item_id"):
            text = "another picture" if self._shows_its_item(task) else self._text_of(task)
            self.desk.change_data(task, {"text": text}, is_stamped=b % 2 == 0)

    def _swap_items(self, a: int, b: int) -> None:
        tasks = [t for t in self.desk.task_ids() if "item_id" in self.desk.data_of(t)]
        if (one := _one_of(tasks, a)) and (other := _one_of(tasks, b)):
            items = [self.desk.data_of(task)["item_id"] for task in (one, other)]
            self.desk.change_data(one, {"item_id": items[1]})
            self.desk.change_data(other, {"item_id": items[0]})

    def _ask_otherwise(self, a: int, b: int) -> None:
        """Another labelling configuration, or the first one again."""
        asked, other = '"cat"', '"cat" alias="dog"'
        self.desk.config = (
            self.desk.config.replace(other, asked)
            if other in self.desk.config
            else self.desk.config.replace(asked, other)
        )

    def _long_pause(self, a: int, b: int) -> None:
        self.desk.now_us += LONG_US
        self.ledger.set_metadata(swept_at=0)

    def _annotations(self) -> list[int]:
        return sorted(
            j.annotation for snapshot in self.desk.snapshots() for j in snapshot.judgements
        )

    # --- the truth and what is kept ----------------------------------------------------------

    def true_outcomes(self) -> dict[str, str]:
        """Item -> class, of all that Label Studio holds: the lowest valid annotation counts.

        Of tasks that show what the item is.
        """
        first: dict[str, tuple[int, str]] = {}
        for snapshot in self.desk.snapshots():
            for j in snapshot.judgements:
                if snapshot.item and j.label is not None and self._shows_its_item(snapshot.task):
                    mine = (j.annotation, j.label)
                    first[snapshot.item] = min(first.get(snapshot.item, mine), mine)
        return {item: label for item, (_, label) in first.items()}

    def _shows_its_item(self, task: int) -> bool:
        return self.desk.data_of(task)["text"] == self._text_of(task)

    def _text_of(self, task: int) -> str:
        return shown(self.desk.data_of(task)["item_id"])

    def true_tally(self) -> Counter[tuple[str, str]]:
        """(predicted class, true class) -> items."""
        return Counter((predicted(item), label) for item, label in self.true_outcomes().items())

    def kept_outcomes(self) -> dict[str, str]:
        """Item -> class, as the ledger's records have it."""
        records = [load(text) for text in self.ledger.every_record()]
        return {r.item: r.outcome for r in records if r.outcome is not None}

    def kept_tally(self) -> Counter[tuple[str, str]]:
        """(predicted class, true class) -> items, as the ledger counts."""
        counts: Counter[tuple[str, str]] = Counter()
        for key, count in self.ledger.state().tally.items():
            *_, number, label = key.split(":", 3)
            counts[CLASSES[int(number)], label] += count
        return counts

    def tasks_of_items(self) -> Counter[str]:
        """Item -> how many tasks show it."""
        return Counter(snapshot.item for snapshot in self.desk.snapshots() if snapshot.item)


@contextmanager
def new_world(
    small: tuple[Assessment, Header],
    folder: Path,
    valkey_url: str | None,
    kind: type[World] | None = None,
) -> Iterator[World]:
    """A world in which nothing has happened; its ledger is in memory without a `valkey_url`."""
    new = kind or World
    assessment, header = small
    name = f"promise-{secrets.token_hex(6)}"
    desk = FakeDesk(overlap=assessment.rules.per_item_max)
    if valkey_url is None:
        world = new(assessment, header, MemoryLedger(name), folder / name, desk)
        world.ledger.begin(header)
        yield world
        return
    with connect(valkey_url) as connection:
        world = new(assessment, header, ValkeyLedger(connection, name), folder / name, desk)
        world.ledger.begin(header)
        yield world


_TURNS = ("turn", "turn", "bad_turn", "lost_import")
_PEOPLE = ("label", "label", "label", "label_again", "nonsense", "skip", "edit")
_GONE = ("delete_annotation", "delete_task", "delete_last_task", "foreign_task", "long_pause")


def histories(*more: str, max_size: int = 40) -> st.SearchStrategy[list[Step]]:
    """Anything that people and workers do, in any order; it begins with a turn."""
    names = st.sampled_from((*_TURNS, *_PEOPLE, *_GONE, *more))
    steps = st.tuples(names, st.integers(0, 200), st.integers(0, 200))
    return st.lists(steps, max_size=max_size).map(lambda rest: [("turn", 0, 0), *rest])


def live_through(world: World, history: Sequence[Step]) -> World:
    """Let a history happen; return the world after it."""
    for step in history:
        world.happen(step)
    return world


def _one_of(numbers: Sequence[int], which: int) -> int | None:
    return numbers[which % len(numbers)] if numbers else None
