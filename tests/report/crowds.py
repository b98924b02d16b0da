"""Several people who label a pool, some of them badly, carried on by the loop itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from connector.schema import Schema
from tests.fakes import FakeDesk
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import Assessment, assess
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.report.contents import Report
from worker.report.gathering import gather
from worker.store import Header, Ledger, MemoryLedger
from worker.store.records import load
from worker.store.rules import votes_of
from worker.turn.loop import advance

ANIMALS = ("cat", "dog", "cow", "horse", "sheep", "bird")
INFERRED = "{per_item: 3, rule: dawid-skene, gold: {items: gold.csv, rate: 0.2}}"


@dataclass
class Crowd:
    """An assessment, and people who answer all that lies before them."""

    work: Assessment
    header: Header
    ledger: Ledger
    desk: FakeDesk
    truth: Mapping[str, str]  # of all items, gold ones too
    folder: Path
    rng: np.random.Generator
    turns: int = 0

    def turn(self) -> None:
        self.turns += 1
        name = f"turn-{self.turns}"
        advance(self.work, self.header, self.ledger, self.desk, self.folder, name)

    def answer(self, author: int, said: str | None = None, most: int = 1) -> list[str]:
        """Give the author's next tasks their class, or what is `said`; return their items."""
        items = []
        while len(items) < most and (task := self.desk.next_task(author)) is not None:
            items.append(self.desk.data_of(task)["item_id"])
            self.desk.annotate(task, self.truth[items[-1]] if said is None else said, author)
        return items

    def label(self, rights: Sequence[float], turns: int) -> None:
        """Let people 1, 2, ... empty the queue after every turn, each right so often.

        A rate of 0 makes a spammer, who gives any class; wrong answers are mostly the next class.
        """
        names = self.work.pool.classes
        for _ in range(turns):
            self.turn()
            served = True
            while served:
                served = False
                for author in self.rng.permutation(len(rights)) + 1:
                    task = self.desk.next_task(int(author))
                    if task is None:
                        continue
                    served = True
                    true = names.index(self.truth[self.desk.data_of(task)["item_id"]])
                    rate, u = rights[author - 1], self.rng.random(2)
                    said = true
                    if rate == 0:
                        said = int(self.rng.integers(len(names)))
                    elif u[0] > rate:
                        step = 1 if u[1] < 0.8 else int(self.rng.integers(1, len(names)))
                        said = (true + step) % len(names)
                    self.desk.annotate(task, names[said], int(author))
        self.turn()


def crowd(
    folder: Path,
    annotation: str,
    *,
    classes: tuple[str, ...] = ANIMALS[:3],
    n_items: int = 60,
    n_gold: int = 12,
    stop: str = "{mrr: {confidence: 0.9999}}",
    look_ahead: int = 10,
    more: str = "",
) -> Crowd:
    """Begin an assessment under this `annotation`; it may name gold.csv."""
    rng = np.random.default_rng(11)
    folder.mkdir(parents=True, exist_ok=True)
    k, truth = len(classes), dict[str, str]()
    rows = ["item_id,predicted,score"]
    for n in range(n_items):
        score, true = rng.uniform(0.5, 1.0), int(rng.integers(k))
        predicted = true if rng.random() < score - 0.1 * (n % 3) else int(rng.integers(k))
        truth[f"i{n:04d}"] = classes[true]
        rows.append(f"i{n:04d},{classes[predicted]},{score:.4f}")
    gold = ["item_id,label", *(f"g{n:03d},{classes[n % k]}" for n in range(n_gold))]
    truth |= {f"g{n:03d}": classes[n % k] for n in range(n_gold)}
    (folder / "predictions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "gold.csv").write_text("\n".join(gold) + "\n", encoding="utf-8")
    plan_file = folder / "plan.yaml"
    listed = ", ".join(f"'{name}'" for name in classes)
    plan_file.write_text(
        "assessment: crowd\nseed: 7\n"
        "pool: {predictions: predictions.csv, predicted: predicted, score: score,"
        f" data: {{text: item_id}}, classes: [{listed}]}}\n"
        f"question: {{task: identify}}\nstop: {stop}\nannotation: {annotation}\n"
        f"queue: {{look_ahead: {look_ahead}}}\n{more}",
        encoding="utf-8",
    )
    plan = load_plan(plan_file)
    work = assess(plan, compile_pool(plan, folder / "pools"))
    schema = Schema("answer", "text", classes)
    header = replace(header_of(plan, work.pool), labels=classes)
    ledger = MemoryLedger(plan.assessment)
    ledger.begin(header)
    desk = FakeDesk(schema, overlap=work.rules.per_item_max)
    return Crowd(work, header, ledger, desk, truth, folder / "decisions", rng)


def report_of(one: Crowd) -> Report:
    return gather(one.work, one.header, one.ledger)


def votes_in(one: Crowd, *, gold: bool) -> dict[str, dict[int, str]]:
    """Item -> who said what, of the items of the pool or of the gold items."""
    records = [load(text) for text in one.ledger.every_record()]
    found = {r.item: votes_of(r.judgements()) for r in records if (r.cell < 0) == gold}
    return {item: votes for item, votes in found.items() if votes}
