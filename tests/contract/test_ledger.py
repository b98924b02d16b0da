"""What every ledger promises: the one in memory and the one in Valkey, the same tests for both."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from connector.labels import Judgement, Look
from tests.fakes import FakeDesk
from worker.changes import Change, Edit, tally_key
from worker.ledger import (
    AlreadyStarted,
    Claim,
    Header,
    Ledger,
    LedgerError,
    MemoryLedger,
    ValkeyLedger,
)
from worker.reading import record, take_stock
from worker.records import State, load
from worker.server import connect

ASSETS = Path(__file__).parents[1] / "assets"
SKIPS = 2
ODD = ["a:b:c", 'say "hi"', "näh\\é", "猫🐈", "{x}", "", " ", "line\nbreak", "nul\x00", "'"]


def header_of(assessment: str) -> Header:
    return replace(Header.load((ASSETS / "header-v1.json").read_text()), assessment=assessment)


@pytest.fixture(params=["memory", "valkey"])
def ledger(request: pytest.FixtureRequest, assessment_id: str) -> Ledger:
    """A ledger that has begun."""
    begun: Ledger
    if request.param == "memory":
        begun = MemoryLedger(assessment_id)
    else:
        begun = ValkeyLedger(request.getfixturevalue("valkey"), assessment_id)
    begun.begin(header_of(assessment_id))
    return begun


def claims_of(items: Sequence[str], first: int = 0, cell: int = 0) -> list[Claim]:
    """Claims with numbers, rows and classes that differ."""
    return [
        Claim(first + n, item, 10 * (first + n), cell, (first + n) % 3, {"strategy": "random"})
        for n, item in enumerate(items)
    ]


def claimed(ledger: Ledger, *items: str, cell: int = 0) -> None:
    standing = ledger.standing()
    assert ledger.claim(standing.revision, claims_of(items, standing.claims, cell))


def valid(annotation: int, label: str, at_us: int = 1, author: int = 7) -> Judgement:
    return Judgement(annotation, author, "valid", label, "", at_us, 1.0)


def skipped(annotation: int, author: int, at_us: int = 1) -> Judgement:
    return Judgement(annotation, author, "skipped", None, "", at_us)


def rejected(annotation: int, reason: str = "an empty result", at_us: int = 1) -> Judgement:
    return Judgement(annotation, 7, "rejected", None, reason, at_us)


def seen(ledger: Ledger, task: int, item: str, at_us: int, *judgements: Judgement) -> None:
    """Bring in a look at a task."""
    look = Look(task, item, at_us, any(j.status == "valid" for j in judgements), judgements)
    record(ledger, [look], ledger.next_reading(), SKIPS)


def edited(ledger: Ledger, item: str, *edits: Edit, note: str = "") -> list[str]:
    """Commit edits with a record that stays as it is."""
    text = ledger.records([item])[item]
    return ledger.commit([Change(item, text, text, edits, note)])


def in_parallel(n: int, call: Callable[[int], Any]) -> list[Any]:
    """Call in n threads that begin together."""
    barrier = threading.Barrier(n)

    def wait_and_call(k: int) -> Any:
        barrier.wait()
        return call(k)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(wait_and_call, range(n)))


class TestBeginning:
    """Header, status and small facts."""

    def test_the_header_comes_back_as_it_was_kept(self, ledger: Ledger) -> None:
        assert ledger.header() == header_of(ledger.assessment)
        assert ledger.standing().status == "running"

    def test_a_second_beginning_is_refused_and_changes_nothing(self, ledger: Ledger) -> None:
        with pytest.raises(AlreadyStarted, match=ledger.assessment):
            ledger.begin(replace(header_of(ledger.assessment), project=99))

        assert ledger.header() == header_of(ledger.assessment)

    def test_of_many_beginnings_at_once_one_succeeds(
        self, valkey: Redis, assessment_id: str
    ) -> None:
        def begin(k: int) -> bool:
            try:
                ValkeyLedger(valkey, assessment_id).begin(
                    replace(header_of(assessment_id), project=k)
                )
            except AlreadyStarted:
                return False
            return True

        assert sum(in_parallel(8, begin)) == 1

    def test_a_new_standing_is_empty(self, ledger: Ledger) -> None:
        standing = ledger.standing()

        assert (standing.revision, standing.claims, standing.n_rejected) == (0, 0, 0)
        empty = (standing.tally, standing.taken, standing.unsettled, standing.authors)
        assert not any(empty)
        assert not standing.notes

    def test_the_status_moves_only_from_where_it_is(self, ledger: Ledger) -> None:
        assert ledger.move("running", "paused")
        assert not ledger.move("running", "stopped")
        assert ledger.standing().status == "paused"
        assert ledger.move("paused", "running")
        assert ledger.standing().status == "running"

    def test_notes_are_kept_beside_the_state(self, ledger: Ledger) -> None:
        ledger.note(error='é: "x"', polled_at=12)
        ledger.note(polled_at=13)

        assert ledger.notes() == {"error": 'é: "x"', "polled_at": "13"}
        assert dict(ledger.standing().notes) == ledger.notes()

    def test_the_cursor_never_goes_back(self, ledger: Ledger) -> None:
        at_us = 1_750_000_000_123_457
        for cursor in (at_us - 1, at_us, 5, at_us - 1):
            ledger.advance_cursor(cursor)

        assert ledger.notes()["cursor"] == str(at_us)

    def test_readings_and_wakes_are_counted_one_by_one(self, ledger: Ledger) -> None:
        assert sorted(in_parallel(8, lambda _: ledger.next_reading())) == list(range(1, 9))
        assert ledger.wakes() == 0
        assert sorted(in_parallel(8, lambda _: ledger.wake())) == list(range(1, 9))
        assert ledger.wakes() == 8


class TestLease:
    """Only its holder may import."""

    def test_one_holds_it_and_may_take_it_again(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 60_000)
        assert ledger.take_lease("ada", 60_000)
        assert not ledger.take_lease("ben", 60_000)

    def test_it_runs_out(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 30)
        time.sleep(0.06)

        assert ledger.take_lease("ben", 60_000)
        assert not ledger.take_lease("ada", 60_000)

    def test_taking_it_again_prolongs_it(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 30)
        assert ledger.take_lease("ada", 60_000)
        time.sleep(0.06)

        assert not ledger.take_lease("ben", 60_000)

    def test_its_holder_may_keep_it_longer(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 500)
        assert not ledger.keep_lease("ben", 60_000)
        assert ledger.keep_lease("ada", 60_000)
        time.sleep(0.6)

        assert not ledger.take_lease("ben", 60_000)

    def test_one_that_ran_out_cannot_be_kept(self, ledger: Ledger) -> None:
        assert not ledger.keep_lease("ada", 60_000)
        assert ledger.take_lease("ada", 30)
        time.sleep(0.06)

        assert not ledger.keep_lease("ada", 60_000)
        assert ledger.take_lease("ben", 60_000)

    def test_only_the_holder_drops_it(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 60_000)

        ledger.drop_lease("ben")
        assert not ledger.take_lease("ben", 60_000)
        ledger.drop_lease("ada")
        assert ledger.take_lease("ben", 60_000)

    def test_of_many_at_once_one_gets_it(self, ledger: Ledger) -> None:
        assert sum(in_parallel(8, lambda k: ledger.take_lease(f"worker {k}", 60_000))) == 1


class TestClaims:
    """An item is given once."""

    def test_claimed_items_are_unsettled_and_their_choices_logged(self, ledger: Ledger) -> None:
        why = {"revision": 0, "strategy": "thompson", "numbers": {"theta": [0.5, 0.25]}}
        claims = [Claim(0, "a", 4, 2, 1, why), Claim(1, "b", 5, 2, 0, why)]

        assert ledger.claim(0, claims)

        standing = ledger.standing()
        assert (standing.claims, dict(standing.taken)) == (2, {2: 2})
        assert set(standing.unsettled) == {"a", "b"}
        a = standing.unsettled["a"]
        assert (a.cell, a.row, a.claim, a.state, a.tasks) == (2, 4, 0, "intended", ())
        assert ledger.choices() == [
            {"claim": 0, "item": "a", "row": 4, "cell": 2, **why},
            {"claim": 1, "item": "b", "row": 5, "cell": 2, **why},
        ]
        kept = load(ledger.records(["a", "nobody"])["a"])
        assert (kept.item, kept.claim, kept.row, kept.cell, kept.predicted) == ("a", 0, 4, 2, 1)

    def test_all_are_claimed_or_none(self, ledger: Ledger) -> None:
        claimed(ledger, "a")

        assert not ledger.claim(0, claims_of(["b", "a"], first=1))

        standing = ledger.standing()
        assert (standing.claims, dict(standing.taken)) == (1, {0: 1})
        assert set(standing.unsettled) == {"a"}
        assert len(ledger.choices()) == 1

    @pytest.mark.parametrize("status", ["paused", "stopped"])
    def test_none_is_claimed_unless_it_runs(self, ledger: Ledger, status: Any) -> None:
        assert ledger.move("running", status)

        assert not ledger.claim(0, claims_of(["a"]))

    def test_none_is_claimed_for_a_choice_that_is_out_of_date(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        seen(ledger, 1, "a", 5, valid(1, "cat"))

        assert not ledger.claim(0, claims_of(["b"], first=1))
        assert ledger.claim(1, claims_of(["b"], first=1))

    @pytest.mark.parametrize("number", [0, 2])
    def test_none_is_claimed_by_a_number_that_is_not_the_next(
        self, ledger: Ledger, number: int
    ) -> None:
        claimed(ledger, "a")

        assert not ledger.claim(0, claims_of(["b"], first=number))

    def test_nothing_at_all_is_no_claim(self, ledger: Ledger) -> None:
        assert not ledger.claim(0, [])
        assert ledger.standing().claims == 0

    def test_an_item_is_never_given_twice_to_workers_in_a_hurry(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(40)]

        def take(_: int) -> list[str]:
            mine: list[str] = []
            while (n := ledger.standing().claims) < len(items):
                if ledger.claim(0, claims_of(items[n : n + 2], first=n)):
                    mine += items[n : n + 2]
            return mine

        given_out = [item for mine in in_parallel(6, take) for item in mine]

        assert sorted(given_out) == sorted(items)
        assert [c["claim"] for c in ledger.choices()] == list(range(len(items)))


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
        assert dict(ledger.standing().tally) == {"0:0:0:cat": 1}
        assert ledger.standing().revision == 1

    def test_an_item_that_nobody_claimed_is_a_conflict(self, ledger: Ledger) -> None:
        assert ledger.commit([Change("ghost", "", "text")]) == ["ghost"]
        assert ledger.records(["ghost"]) == {}

    def test_no_changes_are_no_conflicts(self, ledger: Ledger) -> None:
        assert ledger.commit([]) == []

    def test_adding_sums_up_and_leaves_no_zero(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        for step in (1, 2, -1):
            edited(ledger, "a", Edit("add", "tally", "k", step))
        assert dict(ledger.standing().tally) == {"k": 2}

        edited(ledger, "a", Edit("add", "tally", "k", -2))

        assert dict(ledger.standing().tally) == {}

    def test_the_largest_stays_to_the_microsecond(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        for at_us in (1_750_000_000_123_456, 1_750_000_000_123_457, 3):
            edited(ledger, "a", Edit("max", "authors", "7", at_us))

        assert dict(ledger.standing().authors) == {"7": 1_750_000_000_123_457}

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
            revisions.append(ledger.standing().revision)

        assert revisions == [0, 0, 1, 1, 2, 3]
        log = [(c["revision"], c["item"], c["before"], c["now"]) for c in ledger.changes()]
        assert log == [(1, "a", None, "cat"), (2, "a", "cat", "dog"), (3, "a", "dog", None)]

    def test_the_tally_follows_edits_and_deletions(self, ledger: Ledger) -> None:
        claimed(ledger, "a", "b")
        seen(ledger, 1, "a", 1, valid(1, "cat"))
        seen(ledger, 2, "b", 1, valid(2, "cat"))
        assert dict(ledger.standing().tally) == {"0:0:0:cat": 1, "0:0:1:cat": 1}

        seen(ledger, 1, "a", 2, valid(1, "cow", at_us=2))
        assert dict(ledger.standing().tally) == {"0:0:0:cow": 1, "0:0:1:cat": 1}

        seen(ledger, 1, "a", 3)
        assert dict(ledger.standing().tally) == {"0:0:1:cat": 1}

    def test_a_burst_larger_than_one_script_call_is_exact(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(1201)]
        claimed(ledger, *items)
        looks = [
            Look(n, item, 5, True, (valid(n, "cat"),)) for n, item in enumerate(items, start=1)
        ]

        record(ledger, looks, ledger.next_reading(), SKIPS)

        standing = ledger.standing()
        assert sum(standing.tally.values()) == standing.revision == len(items)
        assert not standing.unsettled

    def test_writers_at_once_lose_nothing(self, ledger: Ledger) -> None:
        """Each sees other annotations on the same items; the last look of each task wins."""
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
        assert dict(ledger.standing().tally) == fold


class TestStanding:
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
        self, ledger: Ledger, judgements: tuple[Judgement, ...], state: State
    ) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, *judgements)

        unsettled = ledger.standing().unsettled["a"]

        assert (unsettled.state, unsettled.tasks, unsettled.open_tasks) == (state, (5,), (5,))
        assert unsettled.is_skipped == any(j.status == "skipped" for j in judgements)

    def test_a_labelled_item_is_settled_until_its_label_goes(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, valid(1, "cat"))
        assert ledger.standing().unsettled == {}

        seen(ledger, 5, "a", 2)

        assert ledger.standing().unsettled["a"].state == "open"

    def test_a_rejected_annotation_is_kept_with_its_reason_until_it_goes(
        self, ledger: Ledger
    ) -> None:
        claimed(ledger, "a")
        seen(ledger, 5, "a", 1, rejected(9, 'the label "é:猫" is not one of the classes'))
        assert ledger.standing().n_rejected == 1
        assert ledger.rejected() == {
            9: {"item": "a", "author": 7, "reason": 'the label "é:猫" is not one of the classes'}
        }

        seen(ledger, 5, "a", 2, valid(9, "cat", at_us=2))

        assert ledger.standing().n_rejected == 0
        assert ledger.rejected() == {}

    def test_an_author_is_known_by_the_time_of_the_latest_judgement(self, ledger: Ledger) -> None:
        claimed(ledger, "a", "b")
        seen(ledger, 1, "a", 30, valid(1, "cat", at_us=30, author=7))
        seen(ledger, 2, "b", 20, valid(2, "cat", at_us=20, author=7), skipped(3, 8, at_us=10))

        assert dict(ledger.standing().authors) == {"7": 30, "8": 10}

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

        ledger.forget_foreign([3, 4, 99])
        assert set(ledger.tasks()) == {1, 2}

    def test_foreign_tasks_count_for_nothing_but_are_followed(self, ledger: Ledger) -> None:
        seen(ledger, 3, "", 40, valid(9, "cat"))
        seen(ledger, 3, "", 50, valid(9, "cat"), valid(10, "dog"))

        assert ledger.tasks() == {3: (50, 2, 0, "")}
        standing = ledger.standing()
        assert (standing.revision, dict(standing.tally), standing.n_rejected) == (0, {}, 0)

    def test_a_task_id_that_comes_again_belongs_to_the_new_item_alone(self, ledger: Ledger) -> None:
        claimed(ledger, *"abcdefgh")
        for n, item in enumerate("abcd"):
            seen(ledger, n, item, 1, valid(n, "cat"))
        looks = [Look(n, item, 2, False, ()) for n, item in enumerate("efgh")]

        record(ledger, looks, ledger.next_reading(), SKIPS)

        standing = ledger.standing()
        assert dict(standing.tally) == {}
        states = {item: u.state for item, u in standing.unsettled.items()}
        assert states == dict.fromkeys("abcd", "deleted") | dict.fromkeys("efgh", "open")
        assert ledger.tasks() == {n: (2, 0, 0, item) for n, item in enumerate("efgh")}

    def test_a_standing_is_of_one_moment(self, ledger: Ledger) -> None:
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
                standing = ledger.standing()
                revision = standing.revision
                assert sum(standing.tally.values()) == revision
                assert len(standing.unsettled) == len(items) - revision

        in_parallel(3, write_or_look)

    def test_every_record_comes_once(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(30)]
        claimed(ledger, *items)

        assert sorted(load(text).item for text in ledger.every_record()) == sorted(items)

    @pytest.mark.parametrize("odd", ODD)
    def test_odd_ids_and_labels_stay_as_they_are(self, ledger: Ledger, odd: str) -> None:
        claimed(ledger, f"item {odd}")
        seen(ledger, 1, f"item {odd}", 1, valid(1, odd))

        assert dict(ledger.standing().tally) == {tally_key(0, 0, 0, odd): 1}
        assert load(ledger.records([f"item {odd}"])[f"item {odd}"]).outcome == odd
        assert ledger.items_of([1]) == {1: f"item {odd}"}
        assert ledger.changes()[0]["now"] == odd


class TestDecisions:
    """A decision is published once, and a stop stays."""

    def test_a_stop_sets_the_status_and_is_published_once(self, ledger: Ledger) -> None:
        assert ledger.publish(0, '{"finding": "é"}', stops=True)
        assert not ledger.publish(0, "again", stops=True)
        assert not ledger.publish(0, "again", stops=False)

        assert ledger.standing().status == "stopped"
        assert ledger.decisions() == ['{"finding": "é"}']

    def test_a_decision_of_an_older_or_newer_revision_is_refused(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        seen(ledger, 1, "a", 1, valid(1, "cat"))

        assert not ledger.publish(0, "older", stops=True)
        assert not ledger.publish(2, "newer", stops=True)
        assert ledger.standing().status == "running"
        assert ledger.publish(1, "now", stops=True)

    def test_a_review_follows_the_stop_and_leaves_it(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        assert ledger.publish(0, "stop", stops=True)
        seen(ledger, 1, "a", 1, valid(1, "cat"))

        assert not ledger.publish(1, "a second stop", stops=True)
        assert ledger.publish(1, "review", stops=False)

        assert ledger.decisions() == ["stop", "review"]
        assert ledger.standing().status == "stopped"

    def test_a_paused_assessment_can_be_stopped(self, ledger: Ledger) -> None:
        assert ledger.move("running", "paused")

        assert ledger.publish(0, "stop", stops=True)

    def test_of_many_workers_one_publishes(self, ledger: Ledger) -> None:
        assert sum(in_parallel(8, lambda k: ledger.publish(0, f"{k}", stops=True))) == 1
        assert len(ledger.decisions()) == 1

    def test_who_listens_hears_of_a_decision_and_finds_it(
        self, valkey: Redis, assessment_id: str
    ) -> None:
        ledger = ValkeyLedger(valkey, assessment_id)
        ledger.begin(header_of(assessment_id))
        prefix = f"assay:{{{assessment_id}}}:"
        with valkey.pubsub() as listener:
            listener.subscribe(f"{prefix}decisions")
            assert listener.get_message(timeout=5)["type"] == "subscribe"

            ledger.publish(0, "enough", stops=True)

            assert listener.get_message(timeout=5)["data"] == "enough"
        assert valkey.get(f"{prefix}decision") == "enough"
        (entry,) = valkey.xrange(f"{prefix}decisions")
        assert entry[1] == {"revision": "0", "decision": "enough"}


class TestStoredVersions:
    """What older releases wrote is read; what newer ones wrote is refused."""

    def test_a_header_of_version_1_is_read(self) -> None:
        header = Header.load((ASSETS / "header-v1.json").read_text())

        assert (header.assessment, header.project) == ("digits", 12)
        assert header.labels == ("cat", "dog", "cow")
        assert header.pool_stat == (1024, 1_750_000_000_000_000_000)

    def test_a_header_of_a_newer_release_is_refused_with_the_cure(self) -> None:
        text = json.dumps({"v": 2, "something": "else"})

        with pytest.raises(LedgerError, match=r"newer Assay.*upgrade"):
            Header.load(text)

    def test_all_of_a_header_is_kept(self) -> None:
        header = header_of("x")

        assert asdict(Header.load(header.dump())) == asdict(header)

    def test_state_shares_one_slot_and_is_no_pickle(
        self, valkey: Redis, assessment_id: str
    ) -> None:
        ledger = ValkeyLedger(valkey, assessment_id)
        ledger.begin(header_of(assessment_id))
        claimed(ledger, "a")
        seen(ledger, 1, "a", 1, valid(1, "cat"))
        ledger.publish(1, "enough", stops=True)

        keys = list(valkey.scan_iter(f"*{assessment_id}*"))

        assert keys
        assert all(key.startswith(f"assay:{{{assessment_id}}}:") for key in keys)
        assert json.loads(ledger.records(["a"])["a"])["v"] == 1


# --- any history, delivered in any way ------------------------------------------------------------

ITEMS = ("a", "b:é", 'c"')
steps = st.lists(
    st.tuples(
        st.sampled_from(["annotate", "odd", "skip", "edit", "delete", "remove", "put", "close"]),
        st.integers(0, 20),
        st.sampled_from(["cat", "dog", "cow"]),
    ),
    max_size=14,
)


def take_step(desk: FakeDesk, action: str, n: int, label: str) -> None:
    """Do one thing to one of the tasks or annotations there are."""
    tasks = desk.task_ids()
    annotations = [j.annotation for look in desk.looks() for j in look.judgements]
    if action == "put":
        desk.put([{"item_id": [*ITEMS, "a stranger's", ""][n % 5]}])
    elif action in ("edit", "delete") and annotations:
        annotation = annotations[n % len(annotations)]
        if action == "edit":
            desk.edit(annotation, label)
        else:
            desk.delete_annotation(annotation)
    elif tasks:
        task = tasks[n % len(tasks)]
        if action == "annotate":
            desk.annotate(task, label, author=n % 3)
        elif action == "odd":
            desk.submit(task, [], author=n % 3)
        elif action == "skip":
            desk.skip(task, author=n % 3)
        elif action == "remove":
            desk.delete_task(task)
        elif action == "close":
            desk.close([task])


def fold(looks: Sequence[Look], items: Sequence[str]) -> dict[str, int]:
    """The tally that the truth amounts to: of each item, the lowest valid annotation."""
    tally: Counter[str] = Counter()
    for number, item in enumerate(items):
        labels = {
            j.annotation: str(j.label)
            for look in looks
            if look.item == item
            for j in look.judgements
            if j.status == "valid"
        }
        if labels:
            tally[f"0:0:{number % 3}:{labels[min(labels)]}"] += 1
    return dict(tally)


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(history=steps, data=st.data())
def test_any_delivery_of_any_history_ends_with_the_fold_of_the_last_looks_on_both_ledgers(
    valkey_url: str, history: list[tuple[str, int, str]], data: st.DataObject
) -> None:
    desk = FakeDesk()
    desk.put([{"item_id": item} for item in ITEMS])
    readings = [desk.looks()]  # everything as it was, after each step
    for step in history:
        take_step(desk, *step)
        readings.append(desk.looks())
    deliveries = data.draw(
        st.lists(
            st.integers(1, len(readings)).flatmap(
                lambda n: st.tuples(
                    st.just(n),
                    st.lists(st.sampled_from(readings[n - 1]), max_size=6)
                    if readings[n - 1]
                    else st.just([]),
                )
            ),
            max_size=12,
        ),
        label="what arrives: (number of the reading, its looks)",
    )

    with connect(valkey_url) as connection:
        name = secrets.token_hex(8)
        twins: list[Ledger] = [MemoryLedger(name), ValkeyLedger(connection, name)]
        for ledger in twins:
            ledger.begin(header_of(name))
            claimed(ledger, *ITEMS)
            for reading, looks in deliveries:
                record(ledger, looks, reading, SKIPS)
            for _ in readings:
                ledger.next_reading()
            take_stock(ledger, desk, SKIPS)
        memory, stored = twins

        assert dict(memory.standing().tally) == fold(desk.looks(), ITEMS)
        assert set(memory.tasks()) == set(desk.task_ids())
        rejected = [
            j.annotation
            for look in desk.looks()
            if look.item in ITEMS
            for j in look.judgements
            if j.status == "rejected"
        ]
        assert sorted(memory.rejected()) == sorted(rejected)
        assert_equal(memory, stored)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    history=steps.map(lambda made: [step for step in made if step[0] != "remove"]),
    order=st.randoms(use_true_random=False),
)
def test_readings_in_any_order_and_twice_amount_to_the_last_one(
    valkey_url: str, history: list[tuple[str, int, str]], order: Random
) -> None:
    desk = FakeDesk()
    desk.put([{"item_id": item} for item in ITEMS])
    looks = desk.looks()
    for step in history:
        take_step(desk, *step)
        looks += desk.looks()
    sent = list(enumerate(looks, start=1)) * 2
    order.shuffle(sent)

    with connect(valkey_url) as connection:
        name = secrets.token_hex(8)
        twins: list[Ledger] = [MemoryLedger(name), ValkeyLedger(connection, name)]
        for ledger in twins:
            ledger.begin(header_of(name))
            claimed(ledger, *ITEMS)
            for reading, look in sent:
                record(ledger, [look], reading, SKIPS)

        assert dict(twins[0].standing().tally) == fold(desk.looks(), ITEMS)
        assert_equal(*twins)


def assert_equal(memory: Ledger, stored: Ledger) -> None:
    """Hold the twins to saying the same about everything."""
    assert stored.standing() == memory.standing()
    assert stored.records(ITEMS) == memory.records(ITEMS)
    assert stored.tasks() == memory.tasks()
    assert stored.rejected() == memory.rejected()
    assert stored.changes() == memory.changes()
    assert stored.choices() == memory.choices()
