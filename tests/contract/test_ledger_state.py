"""What every ledger promises: one consistent picture of an assessment."""

from __future__ import annotations

import time

import pytest

from connector.labels import Judgement, TaskSnapshot
from tests.contract.ledgers import (
    ODD,
    RULES,
    claimed,
    in_parallel,
    rejected,
    seen,
    skipped,
    valid,
)
from worker.store import (
    Ledger,
)
from worker.store.records import RecordState, load
from worker.store.tally import tally_key
from worker.turn.sync import record


class TestState:
    """Everything that a turn needs."""

    @pytest.mark.parametrize(
        ("judgements", "state"),
        [
            ((), "open"),
            ((skipped(1, 3),), "open"),
            ((skipped(1, 3), skipped(2, 3)), "open"),
            ((skipped(1, 3), skipped(2, 4)), "skipped"),
            ((rejected(1),), "rejected"),
        ],
    )
    def test_an_item_without_an_outcome_is_unsettled(
        self, ledger: Ledger, judgements: tuple[Judgement, ...], state: RecordState
    ) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, *judgements)

        unsettled = ledger.state().unsettled["a"]

        assert (unsettled.state, unsettled.tasks, unsettled.open_tasks) == (state, (5,), (5,))
        assert unsettled.asked == tuple(sorted({j.author for j in judgements if j.author}))
        assert unsettled.outcome is None

    def test_a_labelled_item_is_settled_until_its_label_goes(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, valid(1, "cat"))
        assert ledger.state().unsettled == {}

        seen(ledger, 5, "a", 2)

        assert ledger.state().unsettled["a"].state == "open"

    def test_a_rejected_annotation_is_kept_with_its_reason_until_it_goes(
        self, ledger: Ledger
    ) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, rejected(9, 'the label "é:猫" is not one of the classes'))
        assert ledger.state().n_rejected == 1
        assert ledger.rejected() == {
            9: {"item": "a", "author": 7, "reason": 'the label "é:猫" is not one of the classes'}
        }

        seen(ledger, 5, "a", 2, valid(9, "cat", at_us=2))

        assert ledger.state().n_rejected == 0
        assert ledger.rejected() == {}

    def test_an_author_is_known_by_the_time_of_the_latest_judgement(self, ledger: Ledger) -> None:
        claimed(ledger, "a", "b")
        seen(ledger, 1, "a", 30, valid(1, "cat", at_us=30, author=7))
        seen(ledger, 2, "b", 20, valid(2, "cat", at_us=20, author=7), skipped(3, 8, at_us=10))

        assert dict(ledger.state().authors) == {"7": 30, "8": 10}

    def test_tasks_are_known_by_change_counts_and_item(self, ledger: Ledger) -> None:
        claimed(ledger, "a:1", "b")
        seen(ledger, 1, "a:1", 30, valid(1, "cat"), rejected(2), skipped(3, 8))
        seen(ledger, 2, "b", 20)
        seen(ledger, 3, "a stranger's", 40, valid(9, "cat"), skipped(10, 8))
        seen(ledger, 4, "", 41)

        known = {1: (30, 2, 1, "a:1"), 2: (20, 0, 0, "b"), 3: (40, 1, 1, ""), 4: (41, 0, 0, "")}
        assert ledger.tasks() == known
        assert ledger.items_of([1, 2, 3, 99]) == {1: "a:1", 2: "b", 3: ""}
        assert ledger.items_of([]) == {}
        owners, records, metadata = ledger.known([2, 99], ["b", "ghost"])
        assert (owners, records, metadata) == ({2: "b"}, ledger.records(["b"]), ledger.metadata())
        assert (records.keys(), ledger.known([], [])) == ({"b"}, ({}, {}, metadata))

        ledger.forget_foreign([3, 4, 99])
        assert set(ledger.tasks()) == {1, 2}

    def test_foreign_tasks_count_for_nothing_but_are_followed(self, ledger: Ledger) -> None:
        seen(ledger, 3, "", 40, valid(9, "cat"))
        seen(ledger, 3, "", 50, valid(9, "cat"), valid(10, "dog"))

        assert ledger.tasks() == {3: (50, 2, 0, "")}
        state = ledger.state()
        assert (state.revision, dict(state.tally), state.n_rejected) == (0, {}, 0)

    def test_a_task_id_that_comes_again_belongs_to_the_new_item_alone(self, ledger: Ledger) -> None:
        claimed(ledger, *"abcdefgh")
        for n, item in enumerate("abcd"):
            seen(ledger, n, item, 1, valid(n, "cat"))
        snapshots = [TaskSnapshot(n, item, 2, False, ()) for n, item in enumerate("efgh")]

        record(ledger, snapshots, ledger.next_reading(), RULES)

        state = ledger.state()
        assert dict(state.tally) == {}
        states = {item: u.state for item, u in state.unsettled.items()}
        assert states == dict.fromkeys("abcd", "deleted") | dict.fromkeys("efgh", "open")
        assert ledger.tasks() == {n: (2, 0, 0, item) for n, item in enumerate("efgh")}

    def test_a_state_is_of_one_moment(self, ledger: Ledger) -> None:
        """Tally, unsettled and revision belong together while others write."""
        items = [f"item {n}" for n in range(60)]
        claimed(ledger, *items)

        def write_or_look(k: int) -> None:
            if k == 0:
                for n, item in enumerate(items, start=1):
                    seen(ledger, n, item, 1, valid(n, "cat"))
                return
            revision = 0
            while revision < len(items):
                time.sleep(0.001)  # let the writer in
                state = ledger.state()
                revision = state.revision
                assert sum(state.tally.values()) == revision
                assert len(state.unsettled) == len(items) - revision

        in_parallel(3, write_or_look)

    def test_every_record_comes_once(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(30)]
        claimed(ledger, *items)

        assert sorted(load(text).item for text in ledger.every_record()) == sorted(items)

    @pytest.mark.parametrize("odd", ODD)
    def test_odd_ids_and_labels_stay_as_they_are(self, ledger: Ledger, odd: str) -> None:
        claimed(ledger, f"item {odd}")
        seen(ledger, 1, f"item {odd}", 1, valid(1, odd))

        assert dict(ledger.state().tally) == {tally_key(0, 0, 0, odd): 1}
        assert load(ledger.records([f"item {odd}"])[f"item {odd}"]).outcome == odd
        assert ledger.items_of([1]) == {1: f"item {odd}"}
        assert ledger.changes()[0]["now"] == odd
