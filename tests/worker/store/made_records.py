"""Made-up judgements and snapshots, and what records become by them under the rule `first`."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from connector.labels import Judgement, Status, TaskSnapshot
from worker.store.changes import Edit, change
from worker.store.records import Record, dump, lost, with_snapshot
from worker.store.rules import Rules, votes_of

RULES = Rules()
FRESH = Record("a", claim=3, row=41, cell=2, predicted=1)


def judgement_of(annotation: int, status: Status, label: str, author: int | None) -> Judgement:
    return Judgement(
        annotation,
        author,
        status,
        label if status == "valid" else None,
        "an empty result" if status == "rejected" else "",
        annotation,
    )


judgements = st.builds(
    judgement_of,
    st.integers(1, 9),
    st.sampled_from(["valid", "skipped", "rejected"]),
    st.sampled_from(["cat", "dog"]),
    st.sampled_from([1, 2, 3, None]),
)
some_judgements = st.lists(judgements, max_size=4, unique_by=lambda j: j.annotation).map(tuple)
snapshots = st.builds(
    TaskSnapshot, st.integers(1, 3), st.just("a"), st.integers(0, 5), st.booleans(), some_judgements
)


def valid(annotation: int, label: str = "cat") -> Judgement:
    return judgement_of(annotation, "valid", label, author=1)


def snapshot(task: int, at_us: int, *judged: Judgement, is_closed: bool = False) -> TaskSnapshot:
    return TaskSnapshot(task, "a", at_us, is_closed, judged)


def _with(record: Record, one: TaskSnapshot, reading: int) -> Record:
    return with_snapshot(record, one, reading, RULES, 10**18)


def _lost(record: Record, task: int) -> Record:
    return lost(record, task, RULES)


def _outcome(judged: Iterable[Judgement]) -> str | None:
    return RULES.outcome(votes_of(judged), row=0)


def after(*made: TaskSnapshot) -> Record:
    record = FRESH
    for reading, one in enumerate(made, start=1):
        record = _with(record, one, reading)
    return record


def edits_of(before: Record, now: Record) -> set[Edit]:
    made = change(dump(before), before, now, RULES)
    assert made is not None
    return set(made.edits)
