"""What every ledger promises: records are replaced whole, and the tally moves with them."""

from __future__ import annotations

import json
from collections import Counter

from connector.labels import Judgement, TaskSnapshot
from tests.contract.ledgers import (
    RULES,
    claimed,
    edited,
    in_parallel,
    seen,
    skipped,
    valid,
)
from worker.store import (
    Ledger,
)
from worker.store.changes import Change, Edit
from worker.store.records import load
from worker.store.tally import tally_key
from worker.turn.sync import record


class TestCommits:
    """Records are replaced whole, only while they are what the writer saw."""

    def test_a_record_that_changed_meanwhile_is_a_conflict_and_stays(self, ledger: Ledger) -> None:
        claimed(ledger, "a", "b")
        old = ledger.records(["a", "b"])
        seen(ledger, 1, "a", 5, valid(1, "cat"))
        new = ledger.records(["a"])["a"]
        edit = Edit("add", "tally", "0:0:0:dog", 1)

        conflicts = ledger.commit(
            [Change("a", old["a"], "never", (edit,), "{}"), Change("b", old["b"], old["b"])]
        )

        assert conflicts == ["a"]
        assert ledger.records(["a"])["a"] == new
        assert dict(ledger.state().tally) == {"0:0:0:cat": 1}
        assert ledger.state().revision == 1

    def test_an_item_that_nobody_claimed_is_a_conflict(self, ledger: Ledger) -> None:
        assert ledger.commit([Change("ghost", "", "text")]) == ["ghost"]
        assert ledger.records(["ghost"]) == {}

    def test_no_changes_are_no_conflicts(self, ledger: Ledger) -> None:
        assert ledger.commit([]) == []

    def test_adding_sums_up_and_leaves_no_zero(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        for step in (1, 2, -1):
            edited(ledger, "a", Edit("add", "tally", "k", step))
        assert dict(ledger.state().tally) == {"k": 2}

        edited(ledger, "a", Edit("add", "tally", "k", -2))

        assert dict(ledger.state().tally) == {}

    def test_the_largest_stays_to_the_microsecond(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        for at_us in (1_750_000_000_123_456, 1_750_000_000_123_457, 3):
            edited(ledger, "a", Edit("max", "authors", "7", at_us))

        assert dict(ledger.state().authors) == {"7": 1_750_000_000_123_457}

    def test_setting_replaces_and_deleting_removes_also_what_is_not_there(
        self, ledger: Ledger
    ) -> None:
        claimed(ledger, "a")
        for reason in ("first", "second"):
            text = json.dumps({"reason": reason})
            edited(ledger, "a", Edit("set", "rejected", "4", text))
        assert ledger.rejected() == {4: {"reason": "second"}}

        edited(ledger, "a", Edit("del", "rejected", "4"), Edit("del", "rejected", "5"))

        assert ledger.rejected() == {}

    def test_only_a_changed_outcome_makes_a_revision(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        revisions = []
        history: list[tuple[Judgement, ...]] = [
            (),
            (skipped(1, author=3),),
            (valid(2, "cat"),),
            (valid(2, "cat"), valid(3, "dog")),
            (valid(2, "dog", at_us=9),),
            (),
        ]
        for at_us, judgements in enumerate(history, start=1):
            seen(ledger, 1, "a", at_us, *judgements)
            revisions.append(ledger.state().revision)
            assert ledger.revision() == revisions[-1]

        assert revisions == [0, 0, 1, 1, 2, 3]
        log = [(c["revision"], c["item"], c["before"], c["now"]) for c in ledger.changes()]
        assert log == [(1, "a", None, "cat"), (2, "a", "cat", "dog"), (3, "a", "dog", None)]
        for after in range(5):  # somebody who knows some of them reads the others only
            assert [c["revision"] for c in ledger.changes(after)] == [1, 2, 3][after:]

    def test_the_tally_follows_edits_and_deletions(self, ledger: Ledger) -> None:
        claimed(ledger, "a", "b")
        seen(ledger, 1, "a", 1, valid(1, "cat"))
        seen(ledger, 2, "b", 1, valid(2, "cat"))
        assert dict(ledger.state().tally) == {"0:0:0:cat": 1, "0:0:1:cat": 1}

        seen(ledger, 1, "a", 2, valid(1, "cow", at_us=2))
        assert dict(ledger.state().tally) == {"0:0:0:cow": 1, "0:0:1:cat": 1}

        seen(ledger, 1, "a", 3)
        assert dict(ledger.state().tally) == {"0:0:1:cat": 1}

    def test_a_burst_larger_than_one_script_call_is_exact(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(1201)]
        claimed(ledger, *items)
        snapshots = [
            TaskSnapshot(n, item, 5, True, (valid(n, "cat"),))
            for n, item in enumerate(items, start=1)
        ]

        record(ledger, snapshots, ledger.next_reading(), RULES)

        state = ledger.state()
        assert sum(state.tally.values()) == state.revision == len(items)
        assert not state.unsettled

    def test_writers_at_once_lose_nothing(self, ledger: Ledger) -> None:
        """Each sees other annotations on the same items; the last snapshot of each task wins."""
        items = [f"item {n}" for n in range(6)]
        claimed(ledger, *items)

        def write(k: int) -> None:
            for n, item in enumerate(items, start=1):
                label = "cat" if (k + n) % 2 else "dog"
                seen(ledger, 10 * n + k, item, k, valid(100 * n + k, label))

        in_parallel(5, write)

        for n, item in enumerate(items, start=1):
            kept = load(ledger.records([item])[item])
            assert [task for task, _ in kept.tasks] == [10 * n + k for k in range(5)]
        fold = Counter(tally_key(n, 0, n % 3, "cat" if (n + 1) % 2 else "dog") for n in range(6))
        assert dict(ledger.state().tally) == fold
