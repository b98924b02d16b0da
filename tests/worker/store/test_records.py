"""What a snapshot of a task makes of an item's record."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.labels import Judgement, TaskSnapshot
from tests.worker.store.made_records import (
    FRESH,
    RULES,
    _lost,
    _outcome,
    _with,
    after,
    edits_of,
    judgement_of,
    snapshot,
    snapshots,
    valid,
)
from worker.store.records import Record, RecordState


def skipped(annotation: int, author: int) -> Judgement:
    return judgement_of(annotation, "skipped", "", author)


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
