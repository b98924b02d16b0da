"""What a snapshot of a task makes of an item's record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.labels import Judgement, Status, TaskSnapshot
from worker.errors import AssayError
from worker.store.changes import Edit, change
from worker.store.records import (
    Record,
    RecordState,
    Seen,
    dump,
    load,
    lost,
    with_snapshot,
)
from worker.store.rules import Rules, votes_of
from worker.store.tally import tally_key

ASSETS = Path(__file__).parents[2] / "assets"
RULES = Rules()
FRESH = Record("a", claim=3, row=41, cell=2, predicted=1)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
stamps = st.integers(0, 2**52)


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
seens = st.builds(Seen, stamps, st.integers(0, 99), st.booleans(), some_judgements)
records = st.builds(
    Record,
    texts,
    claim=st.integers(0, 10**9),
    row=st.integers(0, 10**9),
    cell=st.integers(0, 10**4),
    predicted=st.integers(0, 10**4),
    tasks=st.dictionaries(st.integers(1, 99), seens, max_size=3).map(
        lambda found: tuple(sorted(found.items()))
    ),
    was_deleted=st.booleans(),
    outcome=st.none() | texts,
)


def valid(annotation: int, label: str = "cat") -> Judgement:
    return judgement_of(annotation, "valid", label, author=1)


def skipped(annotation: int, author: int) -> Judgement:
    return judgement_of(annotation, "skipped", "", author)


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


class TestOutcome:
    """The rule `first`."""

    def test_the_lowest_valid_annotation_decides(self) -> None:
        rejected = judgement_of(1, "rejected", "", 1)

        assert _outcome([valid(5, "dog"), valid(4, "cat"), skipped(2, 1), rejected]) == "cat"
        assert _outcome([skipped(2, 1), rejected]) is None
        assert _outcome([]) is None

    def test_an_edit_replaces_the_outcome_and_a_deletion_passes_it_on(self) -> None:
        two = snapshot(1, 1, valid(4, "cat"), valid(5, "dog"))

        assert after(two).outcome == "cat"
        assert after(two, snapshot(1, 2, valid(4, "cow"), valid(5, "dog"))).outcome == "cow"
        assert after(two, snapshot(1, 2, valid(5, "dog"))).outcome == "dog"
        assert after(two, snapshot(1, 2)).outcome is None

    def test_it_is_taken_over_all_tasks_of_the_item(self) -> None:
        assert (
            after(snapshot(1, 1, valid(9, "cat")), snapshot(2, 1, valid(4, "dog"))).outcome == "dog"
        )

    def test_a_lost_task_takes_its_judgements_along(self) -> None:
        record = after(snapshot(1, 1, valid(4, "cat")), snapshot(2, 1, valid(9, "dog")))

        assert _lost(record, 1).outcome == "dog"
        assert _lost(_lost(record, 1), 2).outcome is None


class TestSnapshots:
    """Twice, late, in any order."""

    @given(st.lists(snapshots, max_size=8), snapshots)
    def test_a_repeated_snapshot_changes_nothing(
        self, history: list[TaskSnapshot], last: TaskSnapshot
    ) -> None:
        record = _with(after(*history), last, 50)

        assert _with(record, last, 51) == record

    @given(st.lists(snapshots, max_size=7), st.randoms(use_true_random=False))
    def test_the_order_in_which_snapshots_arrive_does_not_matter(
        self, history: list[TaskSnapshot], order: Random
    ) -> None:
        # As in Label Studio, each change of a task moves its stamp.
        in_order = [(n, replace(one, at_us=n)) for n, one in enumerate(history, start=1)]
        arrived = in_order * 2
        order.shuffle(arrived)
        expected, found = FRESH, FRESH
        for reading, one in in_order:
            expected = _with(expected, one, reading)
        for reading, one in arrived:
            found = _with(found, one, reading)

        assert found == expected

    def test_an_older_snapshot_does_not_undo_a_newer_one(self) -> None:
        newer = _with(FRESH, snapshot(1, 20, valid(4, "dog")), reading=9)

        assert _with(newer, snapshot(1, 10, valid(4, "cat")), reading=10) == newer

    def test_of_two_snapshots_of_one_moment_the_later_reading_counts(self) -> None:
        """Raising the number of annotations reopens a task without moving its stamp."""
        first = _with(FRESH, snapshot(1, 20, is_closed=True), reading=4)

        assert _with(first, snapshot(1, 20), reading=3) == first
        assert _with(first, snapshot(1, 20), reading=5) != first

    def test_losing_a_task_that_it_does_not_have_changes_nothing(self) -> None:
        record = after(snapshot(1, 1))

        assert _lost(record, 2) is record

    def test_tasks_stay_ascending(self) -> None:
        record = after(snapshot(7, 1), snapshot(3, 1), snapshot(5, 1))

        assert [task for task, _ in record.tasks] == [3, 5, 7]


class TestState:
    """Where an item is on its way."""

    @pytest.mark.parametrize(
        ("record", "state"),
        [
            (FRESH, "intended"),
            (after(snapshot(1, 1)), "open"),
            (after(snapshot(1, 1, skipped(1, 8))), "open"),
            (after(snapshot(1, 1, skipped(1, 8), skipped(2, 8))), "open"),  # by one person twice
            (after(snapshot(1, 1, skipped(1, 8), skipped(2, 9))), "skipped"),
            (after(snapshot(1, 1, skipped(1, 8), skipped(2, 9), valid(3))), "labelled"),
            (after(snapshot(1, 1, judgement_of(1, "rejected", "", 1))), "rejected"),
            (after(snapshot(1, 1, valid(1))), "labelled"),
            (_lost(after(snapshot(1, 1, valid(1))), 1), "deleted"),
            (_with(_lost(after(snapshot(1, 1)), 1), snapshot(2, 2), 9), "open"),
        ],
    )
    def test_it_follows_from_the_judgements(self, record: Record, state: RecordState) -> None:
        assert record.state(RULES) == state

    @pytest.mark.parametrize(
        ("record", "is_kept"),
        [
            (after(snapshot(1, 1, valid(4))), False),
            (after(snapshot(1, 1), snapshot(2, 1, valid(4))), True),
            (after(snapshot(1, 1, is_closed=True), snapshot(2, 1, valid(4))), False),
        ],
        ids=["one task", "another is open", "the other is closed"],
    )
    def test_a_labelled_item_is_listed_while_a_second_task_of_it_is_open(
        self, record: Record, is_kept: bool
    ) -> None:
        listed = [e for e in edits_of(FRESH, record) if e.hash == "open" and e.verb == "set"]
        assert bool(listed) == is_kept


class TestChange:
    """What is written when a record is replaced."""

    @given(records)
    def test_nothing_is_written_for_an_equal_record(self, record: Record) -> None:
        assert change(dump(record), record, replace(record), RULES) is None

    def test_a_first_label_enters_the_tally(self) -> None:
        now = after(snapshot(5, 1, valid(4, "dog")))
        made = change(dump(FRESH), FRESH, now, RULES)

        assert made is not None
        assert Edit("add", "tally", "0:2:1:dog", 1) in made.edits
        assert (made.item, made.before, made.after) == ("a", dump(FRESH), dump(now))
        assert json.loads(made.note) == {"item": "a", "cell": 2, "before": None, "now": "dog"}

    def test_a_changed_label_moves_in_the_tally(self) -> None:
        before = after(snapshot(5, 1, valid(4, "dog")))
        edits = edits_of(before, _with(before, snapshot(5, 2, valid(4, "cat")), 2))

        moved = {edit for edit in edits if edit.hash == "tally"}
        assert moved == {
            Edit("add", "tally", "0:2:1:dog", -1),
            Edit("add", "tally", "0:2:1:cat", 1),
        }

    @given(st.lists(snapshots, min_size=1, max_size=8))
    def test_the_tally_is_moved_by_what_the_record_contributed(
        self, history: list[TaskSnapshot]
    ) -> None:
        tally: dict[str, int] = {}
        record = FRESH
        for reading, one in enumerate(history, start=1):
            before, record = record, _with(record, one, reading)
            made = change(dump(before), before, record, RULES)
            assert (made is not None and made.note != "") == (before.outcome != record.outcome)
            for edit in made.edits if made else ():
                if edit.hash == "tally":
                    tally[edit.key] = tally.get(edit.key, 0) + int(edit.value)

        contributed = (
            {} if record.outcome is None else {tally_key(FRESH.claim, 2, 1, record.outcome): 1}
        )
        assert {key: n for key, n in tally.items() if n} == contributed

    def test_a_task_that_is_gone_is_forgotten(self) -> None:
        before = after(snapshot(5, 1), snapshot(6, 1))

        assert Edit("del", "tasks", "5") in edits_of(before, _lost(before, 5))


class TestStoredForm:
    """JSON with a version."""

    @given(records)
    def test_what_is_written_is_read_back(self, record: Record) -> None:
        assert load(dump(record)) == record

    def test_a_record_of_version_1_is_read(self) -> None:
        record = load((ASSETS / "record-v1.json").read_text())

        assert (record.item, record.claim, record.row) == ('img "7":é', 3, 41)
        assert (record.cell, record.predicted, record.outcome) == (2, 1, "cat")
        assert record.was_deleted
        (first, seen), (second, unseen) = record.tasks
        assert (first, second) == (12, 15)
        assert seen.judgements[0] == Judgement(90, 5, "valid", "cat", "", 1750000000000000, 2.5)
        assert seen.judgements[1].reason == "nobody is named as its author"
        assert unseen == Seen(0, 3, False, ())
        assert record.outcome == _outcome(record.judgements())

    def test_a_record_of_a_newer_release_is_refused_with_the_cure(self) -> None:
        text = json.dumps(json.loads(dump(FRESH)) | {"v": 2})

        with pytest.raises(AssayError, match=r"version 2(?s:.*)upgrade"):
            load(text)
