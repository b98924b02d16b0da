"""What every ledger promises: beginnings, notices, and what is stored in which version."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from redis import Redis

from tests.contract.ledgers import (
    ASSETS,
    ODD,
    claimed,
    header_of,
    in_parallel,
    seen,
    valid,
)
from worker.store import (
    AlreadyStarted,
    Header,
    Ledger,
    LedgerError,
)
from worker.store.valkey import ValkeyLedger


class TestBeginning:
    """Header, status and small facts."""

    def test_the_header_comes_back_as_it_was_kept(self, ledger: Ledger) -> None:
        assert ledger.header() == header_of(ledger.assessment)
        assert ledger.state().status == "running"

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

    def test_a_new_state_is_empty(self, ledger: Ledger) -> None:
        state = ledger.state()

        assert (state.revision, state.claims, state.n_rejected) == (0, 0, 0)
        empty = (state.tally, state.taken, state.unsettled, state.authors)
        assert not any(empty)
        assert not state.metadata

    def test_the_status_moves_only_from_where_it_is(self, ledger: Ledger) -> None:
        assert ledger.move("running", "paused")
        assert not ledger.move("running", "stopped")
        assert ledger.state().status == "paused"
        assert ledger.move("paused", "running")
        assert ledger.state().status == "running"

    def test_metadata_is_kept_beside_the_state(self, ledger: Ledger) -> None:
        ledger.set_metadata(error='é: "x"', polled_at=12)
        ledger.set_metadata(polled_at=13)

        assert ledger.metadata() == {"error": 'é: "x"', "polled_at": 13.0}
        assert dict(ledger.state().metadata) == ledger.metadata()

    def test_the_cursor_never_goes_back(self, ledger: Ledger) -> None:
        at_us = 1_750_000_000_123_457
        for cursor in (at_us - 1, at_us, 5, at_us - 1):
            ledger.advance_cursor(cursor)
        ledger.advance_cursor(7, error="", polled_at=12)

        assert ledger.metadata() == {"cursor": at_us, "error": "", "polled_at": 12.0}

    def test_readings_and_wakes_are_counted_one_by_one(self, ledger: Ledger) -> None:
        assert sorted(in_parallel(8, lambda _: ledger.next_reading())) == list(range(1, 9))
        assert ledger.wakes() == 0
        assert sorted(in_parallel(8, lambda _: ledger.wake())) == list(range(1, 9))
        assert ledger.wakes() == 8


class TestNotices:
    """What is to be told, and small facts that two may want to change."""

    def test_a_notice_is_put_once_for_its_id_also_after_it_was_told(self, ledger: Ledger) -> None:
        assert ledger.put_notice("decision:3", "first")
        assert not ledger.put_notice("decision:3", "second")
        assert ledger.notices() == {"decision:3": "first"}

        assert ledger.replace_notice("decision:3", "first", "")
        assert not ledger.put_notice("decision:3", "third")
        assert ledger.notices() == {}

    def test_a_notice_is_replaced_only_while_it_is_what_was_seen(self, ledger: Ledger) -> None:
        ledger.put_notice("a", "0 tries")
        assert ledger.replace_notice("a", "0 tries", "1 try")
        assert not ledger.replace_notice("a", "0 tries", "2 tries")
        assert not ledger.replace_notice("b", "", "never put")
        assert ledger.notices() == {"a": "1 try"}

    def test_of_many_who_take_a_notice_at_once_one_gets_it(self, ledger: Ledger) -> None:
        ledger.put_notice("a", "free")
        got = in_parallel(8, lambda k: ledger.replace_notice("a", "free", f"taken by {k}"))
        assert sum(got) == 1

    @pytest.mark.parametrize("text", ODD)
    def test_ids_and_texts_of_any_kind_come_back(self, ledger: Ledger, text: str) -> None:
        assert ledger.put_notice(text, text or "-")
        assert ledger.notices() == {text: text or "-"}

    def test_a_small_fact_is_changed_only_while_it_is_what_was_seen(self, ledger: Ledger) -> None:
        assert ledger.compare_and_set("slot", "", "1")
        assert not ledger.compare_and_set("slot", "", "2")
        assert ledger.compare_and_set("slot", "1", "2")
        assert ledger.metadata()["slot"] == "2"


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
