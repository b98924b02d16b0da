"""What every ledger promises: a lease has one holder, an item is given once, a decision stands."""

from __future__ import annotations

import time
from typing import Any

import pytest
from redis import Redis

from tests.contract.ledgers import (
    claimed,
    claims_of,
    header_of,
    in_parallel,
    seen,
    valid,
)
from worker.store import (
    Claim,
    Ledger,
)
from worker.store.records import load
from worker.store.valkey import ValkeyLedger


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

    def test_who_took_it_last_may_keep_it_even_after_it_ran_out(self, ledger: Ledger) -> None:
        assert not ledger.keep_lease("ada", 60_000)  # a server that knows of no such turn
        assert ledger.take_lease("ada", 30)
        assert not ledger.keep_lease("ben", 60_000)
        time.sleep(0.06)

        assert ledger.keep_lease("ada", 60_000)
        assert not ledger.take_lease("ben", 60_000)

    def test_who_came_after_another_may_not_keep_it(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 30)
        time.sleep(0.06)
        assert ledger.take_lease("ben", 60_000)
        ledger.drop_lease("ben")

        assert not ledger.keep_lease("ada", 60_000)
        assert ledger.take_lease("ben", 60_000)

    def test_its_holder_may_import_and_keeps_it_longer(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 2_000)
        before = ledger.next_reading()
        assert ledger.begin_import("ben", 60_000, [0], 60_000) == 0
        assert ledger.in_doubt([0, 1]) == frozenset()
        assert ledger.begin_import("ada", 60_000, [0, 1], 60_000) == before + 1
        assert ledger.next_reading() == before + 2
        assert ledger.in_doubt([0, 1]) == {0, 1}
        time.sleep(2.1)

        assert not ledger.take_lease("ben", 60_000)

    def test_who_let_it_run_out_may_not_import(self, ledger: Ledger) -> None:
        assert not ledger.begin_import("ada", 60_000, [0], 60_000)
        assert ledger.take_lease("ada", 30)
        time.sleep(0.06)

        assert not ledger.begin_import("ada", 60_000, [0], 60_000)
        assert ledger.take_lease("ben", 60_000)

    def test_only_the_holder_drops_it(self, ledger: Ledger) -> None:
        assert ledger.take_lease("ada", 60_000)

        ledger.drop_lease("ben")
        assert not ledger.take_lease("ben", 60_000)
        ledger.drop_lease("ada")
        assert ledger.take_lease("ben", 60_000)

    def test_who_saw_a_process_die_takes_it_from_that_ones_turn_and_from_no_other(
        self, ledger: Ledger
    ) -> None:
        assert not ledger.release_lease("host-1")
        assert ledger.take_lease("host-12-7", 60_000)
        assert not ledger.release_lease("host-1")
        assert not ledger.take_lease("host-1-8", 60_000)
        assert ledger.release_lease("host-12")
        assert ledger.take_lease("host-1-8", 60_000)
        assert not ledger.release_lease("host-12")
        assert not ledger.begin_import("host-12-7", 60_000, [0], 60_000)
        assert not ledger.keep_lease("host-12-7", 60_000)

    def test_a_doubt_of_a_claim_lasts_as_long_as_was_said(self, ledger: Ledger) -> None:
        assert ledger.in_doubt([]) == ledger.in_doubt([0, 1, 2]) == frozenset()
        ledger.doubt([0, 1], 60_000)
        ledger.doubt([2], 60_000)
        assert ledger.in_doubt([0, 2, 3]) == {0, 2}
        assert ledger.take_lease("ada", 60_000)  # it bars nobody
        ledger.doubt([1], 30)  # a later word replaces an earlier one, of this claim only
        time.sleep(0.06)
        assert ledger.in_doubt([0, 1, 2]) == {0, 2}
        ledger.doubt([2, 7], 0)
        assert ledger.in_doubt([0, 1, 2]) == {0}

    def test_of_many_at_once_one_gets_it(self, ledger: Ledger) -> None:
        assert sum(in_parallel(8, lambda k: ledger.take_lease(f"worker {k}", 60_000))) == 1


class TestClaims:
    """An item is given once."""

    def test_claimed_items_are_unsettled_and_their_choices_logged(self, ledger: Ledger) -> None:
        why = {"revision": 0, "strategy": "thompson", "numbers": {"theta": [0.5, 0.25]}}
        claims = [Claim(0, "a", 4, 2, 1, why), Claim(1, "b", 5, 2, 0, why)]

        assert ledger.claim(0, claims)

        state = ledger.state()
        assert (state.claims, dict(state.taken)) == (2, {2: 2})
        assert set(state.unsettled) == {"a", "b"}
        a = state.unsettled["a"]
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

        state = ledger.state()
        assert (state.claims, dict(state.taken)) == (1, {0: 1})
        assert set(state.unsettled) == {"a"}
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
        assert ledger.state().claims == 0

    def test_an_item_is_never_given_twice_to_workers_in_a_hurry(self, ledger: Ledger) -> None:
        items = [f"item {n}" for n in range(40)]

        def take(_: int) -> list[str]:
            mine: list[str] = []
            while (n := ledger.state().claims) < len(items):
                if ledger.claim(0, claims_of(items[n : n + 2], first=n)):
                    mine += items[n : n + 2]
            return mine

        given_out = [item for mine in in_parallel(6, take) for item in mine]

        assert sorted(given_out) == sorted(items)
        assert [c["claim"] for c in ledger.choices()] == list(range(len(items)))


class TestDecisions:
    """A decision is published once, and a stop stays."""

    def test_a_stop_sets_the_status_and_is_published_once(self, ledger: Ledger) -> None:
        assert ledger.publish(0, '{"finding": "é"}', stops=True)
        assert not ledger.publish(0, "again", stops=True)
        assert not ledger.publish(0, "again", stops=False)

        assert ledger.state().status == "stopped"
        assert ledger.decisions() == ['{"finding": "é"}']

    def test_a_decision_of_an_older_or_newer_revision_is_refused(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        seen(ledger, 1, "a", 1, valid(1, "cat"))

        assert not ledger.publish(0, "older", stops=True)
        assert not ledger.publish(2, "newer", stops=True)
        assert ledger.state().status == "running"
        assert ledger.publish(1, "now", stops=True)

    def test_a_review_follows_the_stop_and_leaves_it(self, ledger: Ledger) -> None:
        claimed(ledger, "a")
        assert ledger.publish(0, "stop", stops=True)
        seen(ledger, 1, "a", 1, valid(1, "cat"))

        assert not ledger.publish(1, "a second stop", stops=True)
        assert ledger.publish(1, "review", stops=False)

        assert ledger.decisions() == ["stop", "review"]
        assert ledger.state().status == "stopped"

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
            assert listener.get_message(timeout=60)["type"] == "subscribe"

            ledger.publish(0, "enough", stops=True)

            assert listener.get_message(timeout=60)["data"] == "enough"
        assert valkey.get(f"{prefix}decision") == "enough"
        (entry,) = valkey.xrange(f"{prefix}decisions")
        assert entry[1] == {"revision": "0", "decision": "enough"}
