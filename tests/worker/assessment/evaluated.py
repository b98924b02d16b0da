"""A small subjective assessment before the fake desk, with people who vote as people do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from connector.schema import Schema
from tests.fakes import FakeDesk
from worker.assessment import Assessment, assess
from worker.assessment.verdicts import assess_now
from worker.plan import Plan, load_plan, plan_hash
from worker.pool import check_question, compile_pool
from worker.store import Header, Ledger, MemoryLedger
from worker.turn.loop import advance

MOODS = ("anger", "fear", "joy", "sad")
N_ITEMS, N_VOTES = 120, 4


@dataclass
class Evaluated:
    """The assessment, its people, and what is true of its items."""

    work: Assessment
    header: Header
    human: np.ndarray  # (n, K) in the order of the file
    predicted: np.ndarray
    folder: Path
    ledger: Ledger = field(default_factory=lambda: MemoryLedger("moods"))
    desk: FakeDesk = field(default_factory=FakeDesk)
    turns: int = 0

    def turn(self) -> None:
        self.turns += 1
        name = f"turn-{self.turns}"
        advance(self.work, self.header, self.ledger, self.desk, self.folder, name)

    def vote(self, rounds: int = 1_000, seed: int = 5) -> None:
        """Let everybody vote on what they are served, until it stops or the rounds are over."""
        rng = np.random.default_rng(seed)
        for _ in range(rounds):
            self.turn()
            if self.ledger.state().status != "running":
                return
            for who in range(N_VOTES):
                for _ in range(4):
                    if (task := self.desk.next_task(who)) is not None:
                        row = int(self.desk.data_of(task)["item_id"].removeprefix("i"))
                        mood = MOODS[rng.choice(len(MOODS), p=self.human[row])]
                        self.desk.annotate(task, mood, who)
        self.turn()

    @property
    def truth(self) -> float:
        """The mean L2 over all items, if everybody had voted."""
        return float(np.sqrt(((self.human - self.predicted) ** 2).sum(axis=1) / 2).mean())

    def text(self) -> str:
        from worker.findings.wording import headline

        _, belief, verdict = assess_now(self.work, self.ledger)
        return headline(self.work, belief, verdict)


def write_moods(
    folder: Path, more: str = "", people: int = 1
) -> tuple[Path, np.ndarray, np.ndarray]:
    """Write predictions and a plan; return the plan, human frequencies and predictions.

    Args:
        more: lines of the plan. people: seed of what they say, and of what is predicted.
    """
    rng = np.random.default_rng(people)
    human = rng.dirichlet(np.full(len(MOODS), 0.7), N_ITEMS)
    predicted = np.exp(np.log(human + 1e-3) + rng.normal(0, 0.6, human.shape))
    predicted /= predicted.sum(axis=1, keepdims=True)
    folder.mkdir(exist_ok=True)
    names = ",".join(f"p_{mood}" for mood in MOODS)
    rows = [f"i{n},text {n},{','.join(f'{x:.9f}' for x in predicted[n])}" for n in range(N_ITEMS)]
    (folder / "moods.csv").write_text(f"item_id,text,{names}\n" + "\n".join(rows) + "\n")
    text = (
        "assessment: moods\n"
        "pool: {predictions: moods.csv, data: {text: text}, strata: 3,"
        f" probabilities: [{names}]}}\n"
        "question: {task: evaluate}\n"
    )
    if "annotation:" not in more:
        text += f"annotation: {{per_item: {N_VOTES}}}\n"
    (folder / "plan.yaml").write_text(text + more)
    return folder / "plan.yaml", human, predicted


def header_of(plan: Plan, work: Assessment) -> Header:
    """A header that points to no Label Studio."""
    pool = work.pool
    return Header(
        plan.assessment, plan.model_dump_json(), plan_hash(plan), pool.hash, str(pool.path),
        pool.file_sha256, pool.stat, 1, "http://fake", "answer", "text", pool.classes,
        "2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def evaluated(folder: Path, more: str = "", people: int = 1) -> Evaluated:
    """Begin an assessment of moods."""
    path, human, predicted = write_moods(folder, more, people)
    plan = load_plan(path)
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    work = assess(plan, pool)
    desk = FakeDesk(Schema("answer", "text", MOODS), overlap=work.rules.per_item_max)
    begun = Evaluated(work, header_of(plan, work), human, predicted, folder, desk=desk)
    begun.ledger.begin(begun.header)
    return begun
