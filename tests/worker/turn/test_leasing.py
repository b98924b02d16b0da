"""The lease of a turn: given back however the turn ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import cast

import pytest
from redis import Redis
from redis.exceptions import RedisError

from worker.service.embedded import ensure_running, server
from worker.service.server import connect
from worker.store.valkey import ValkeyLedger
from worker.turn import leasing
from worker.turn.leasing import Lease, LeaseLost, leased

AWAY_S = 8.0  # longer than two calls to it wait


def test_the_lease_of_a_turn_that_fails_is_given_back(valkey: Redis, assessment_id: str):
    ledger = ValkeyLedger(valkey, assessment_id)
    with pytest.raises(ValueError, match="broken"), leased(ledger, "ada"):
        raise ValueError("broken")
    assert ledger.take_lease("ben", 1000)


def test_who_does_not_get_the_lease_gives_none_back(valkey: Redis, assessment_id: str):
    ledger = ValkeyLedger(valkey, assessment_id)
    assert ledger.take_lease("ben", 60_000)
    with leased(ledger, "ada") as lease:
        assert lease is None
    assert not ledger.take_lease("ada", 1000)


def test_a_turn_that_gets_on_keeps_its_lease_and_one_that_dies_leaves_it_for_seconds(
    valkey: Redis, assessment_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leasing, "LEASE_MS", 2_000)
    monkeypatch.setattr(leasing, "BEAT_S", 0.1)
    ledger, key = ValkeyLedger(valkey, assessment_id), f"assay:{{{assessment_id}}}:lease"
    with leased(ledger, "ada") as lease:
        assert lease is not None
        time.sleep(2.5)
        assert not ledger.take_lease("ben", 1000)
        lease.begin_import([0], 60_000)
        assert cast(int, valkey.pttl(key)) <= 2_000
        lease.hold()
        assert cast(int, valkey.pttl(key)) <= 2_000
    assert not valkey.exists(key)


def test_one_thread_renews_the_leases_of_all_turns_and_ends_after_them(
    valkey: Redis, assessment_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leasing, "LEASE_MS", 2_000)
    monkeypatch.setattr(leasing, "BEAT_S", 0.1)
    ledgers = [ValkeyLedger(valkey, f"{assessment_id}-{n}") for n in range(2)]

    def n_threads() -> int:
        return sum(thread.name == "leases" for thread in threading.enumerate())

    def wait_for(n: int) -> None:
        ends = time.monotonic() + 60
        while n_threads() != n:
            assert time.monotonic() < ends
            time.sleep(0.02)

    with leased(ledgers[0], "ada"):
        wait_for(1)  # one that an earlier test left behind goes first
        for number in range(20):
            with leased(ledgers[1], f"ada-{number}"):
                assert n_threads() == 1
        with leased(ledgers[1], "ada"):
            time.sleep(2.5)
            assert not any(ledger.take_lease("ben", 1000) for ledger in ledgers)
    wait_for(0)
    assert all(ledger.take_lease("ben", 60_000) for ledger in ledgers)


def test_a_lease_that_was_given_back_is_not_renewed(
    valkey: Redis, assessment_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leasing, "BEAT_S", 0.0)
    ledger, key = ValkeyLedger(valkey, assessment_id), f"assay:{{{assessment_id}}}:lease"
    assert ledger.take_lease("ada", 1000)
    lease = Lease(ledger, "ada")
    lease.renew()
    assert cast(int, valkey.pttl(key)) > 1000
    lease.give_back()
    lease.renew()  # the thread may have been about to
    assert not valkey.exists(key)


def test_a_turn_that_hangs_loses_its_lease_and_imports_nothing(
    valkey: Redis, assessment_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leasing, "LEASE_MS", 200)
    monkeypatch.setattr(leasing, "BEAT_S", 0.05)
    monkeypatch.setattr(leasing, "STEP_S", 0.4)
    ledger, ends = ValkeyLedger(valkey, assessment_id), time.monotonic() + 60
    with leased(ledger, "ada") as lease:
        assert lease is not None
        while not ledger.take_lease("ben", 60_000):
            assert time.monotonic() < ends
            time.sleep(0.02)
        with pytest.raises(LeaseLost):
            lease.begin_import([0], 60_000)
        with pytest.raises(LeaseLost):
            lease.hold()
    assert ledger.take_lease("ben", 60_000)
    assert not ledger.take_lease("ada", 60_000)


def test_a_lease_that_a_worker_of_an_earlier_version_took_is_not_kept(
    valkey: Redis, assessment_id: str
):
    ledger = ValkeyLedger(valkey, assessment_id)
    assert ledger.take_lease("ada", 60_000)
    valkey.set(f"assay:{{{assessment_id}}}:lease", "ben", px=60_000)  # all that such a one writes
    assert not ledger.keep_lease("ada", 60_000)
    assert not ledger.take_lease("ada", 60_000)


@pytest.mark.slow
def test_the_lease_is_given_back_as_soon_as_the_server_is_there_again(tmp_path: Path):
    with server(tmp_path, None) as url, connect(url) as state:
        ledger = ValkeyLedger(state, "broken-off")
        came_back = []

        def return_later() -> None:
            time.sleep(AWAY_S)
            ensure_running(tmp_path)
            came_back.append(time.monotonic())

        back = threading.Thread(target=return_later)

        def break_off() -> None:
            os.kill(int(state.info()["process_id"]), signal.SIGKILL)
            back.start()
            ledger.state()

        with pytest.raises(RedisError), leased(ledger, "ada"):
            break_off()
        back.join()
        assert came_back, "the turn waited for the server"
        assert ledger.take_lease("ben", 1000)
