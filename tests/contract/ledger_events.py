"""What the machine of the ledgers reads: snapshots of six tasks, and a census of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from connector.labels import Judgement, TaskSnapshot
from connector.port import TaskBrief
from tests.contract.ledger_model import Model
from tests.fakes import FakeDesk

ITEMS = ("a", "b:é", 'c"', "d", "e", "{f}")


def judgement(annotation: int, status: Any, label: str, author: int, at_us: int) -> Judgement:
    if status == "valid":
        return Judgement(annotation, author, "valid", label, "", at_us)
    return Judgement(annotation, author, status, None, "why" * (status == "rejected"), at_us)


@st.composite
def snapshots(draw: st.DrawFn) -> TaskSnapshot:
    """A snapshot of one of six tasks; what a task shows may be another item than before."""
    task, at_us = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    item = draw(st.sampled_from([ITEMS[task - 1], ITEMS[task - 1], *ITEMS]))
    judged = [
        judgement(
            10 * task + n,
            draw(st.sampled_from(["valid", "valid", "skipped", "rejected"])),
            draw(st.sampled_from(["cat", 'd"og'])),
            draw(st.integers(1, 3)),
            draw(st.integers(0, 9)),
        )
        for n in sorted(draw(st.sets(st.integers(1, 4), max_size=3)))
    ]
    return TaskSnapshot(task, item, at_us, draw(st.booleans()), tuple(judged))


class Census(FakeDesk):
    """A project of which nothing changed but that some tasks are gone."""

    def __init__(self, model: Model, gone: set[int]) -> None:
        super().__init__()
        self._briefs = {t: brief for t, brief in model.tasks().items() if t not in gone}

    def census(self) -> list[TaskBrief]:
        return [TaskBrief(task, *brief[:3]) for task, brief in self._briefs.items()]
