"""An assessment of the small labelled pool, carried to some label by the loop itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes import FakeDesk
from tests.worker.simulate.simulated_pool import CLASSES, header_of, plan_at_work
from worker.assessment import Assessment, assess
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.store import Header, Ledger, MemoryLedger
from worker.turn.loop import advance


@dataclass
class AtWork:
    """What a report is gathered from, and people who go on labelling."""

    work: Assessment
    header: Header
    ledger: Ledger
    desk: FakeDesk
    truth: dict[str, str]
    folder: Path
    turns: int = 0

    def turn(self) -> None:
        self.turns += 1
        name = f"turn-{self.turns}"
        advance(self.work, self.header, self.ledger, self.desk, self.folder, name)

    def label(self, n: int, people: int = 1) -> None:
        """Give so many labels, in turns, one after every turn of the loop."""
        for i in range(n):
            self.turn()
            task = self.desk.next_task(1 + i % people)
            if task is None:
                break
            self.desk.annotate(task, self.truth[self.desk.data_of(task)["item_id"]], 1 + i % people)
        self.turn()


def at_work(folder: Path, n_labels: int = 0, **parts: Any) -> AtWork:
    """Begin an assessment and give it some labels."""
    plan = plan_at_work(folder, **parts)
    pool = compile_pool(plan, folder / "pools")
    codes = read_truth(plan, pool, "truth")
    ids = [pool.item(row).item_id for row in range(pool.n_items)]
    truth = {item: CLASSES[code] for item, code in zip(ids, codes, strict=True)}
    ledger = MemoryLedger(plan.assessment)
    header = header_of(plan, pool)
    ledger.begin(header)
    begun = AtWork(assess(plan, pool), header, ledger, FakeDesk(), truth, folder / "decisions")
    begun.label(n_labels)
    return begun
