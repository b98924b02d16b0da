"""What a server that was killed, is full, or forgot our scripts holds: whole steps only."""

from __future__ import annotations

import secrets
from contextlib import suppress

import pytest
from redis.exceptions import NoScriptError, OutOfMemoryError

from tests.contract.killed import (
    CALLS,
    Home,
    append_file,
    appended,
    as_stored,
    begin,
    claim_two,
    commit_two,
    told,
    told_after,
    two_claimed,
)
from tests.contract.ledgers import claims_of
from worker.store import Ledger
from worker.store.valkey import ValkeyLedger


def test_a_file_that_was_cut_off_anywhere_holds_whole_steps_only(new_home: Home) -> None:
    """The disk was full, or the machine lost power while the server wrote its file."""
    steps = [two_claimed, claim_two, commit_two, publish_now]
    sound = [as_stored(told_after(*steps[:n])) for n in range(1, len(steps) + 1)]
    with new_home.connected() as connection:
        ledger = ValkeyLedger(connection, "torn")
        steps[0](ledger)
        begun = len(appended(new_home, connection))
        for step in steps[1:]:
            step(ledger)
        whole = appended(new_home, connection)
    found = []
    for cut in [begun + (len(whole) - begun) * k // 16 for k in range(17)]:
        with new_home.connected() as connection:
            pid = int(connection.info("server")["process_id"])
        new_home.kill(pid, lambda cut=cut: append_file(new_home).write_bytes(whole[:cut]))
        with new_home.connected() as connection:
            state = as_stored(told(ValkeyLedger(connection, "torn")))
        assert state in sound, f"cut off at byte {cut} of {len(whole)}: a step in halves"
        found.append(sound.index(state))
    assert found == sorted(found)
    assert set(found) == set(range(len(sound)))


def publish_now(ledger: Ledger) -> object:
    return ledger.publish(ledger.revision(), "enough", stops=True)


def test_a_server_that_gets_full_in_the_middle_of_a_script_ends_it(home: Home) -> None:
    """With noeviction a write is refused only if it is the script's first one."""
    many = claims_of([f"item {n} {'x' * 2_000}" for n in range(1_000)])
    outcomes = []
    for spare_mb in (0, 2, 4, 6, 8, 10, 12, 30):
        with home.connected() as connection:
            ledger = ValkeyLedger(connection, f"full-{secrets.token_hex(6)}")
            begin(ledger)
            assert not ledger.claim(1, many)  # so it knows the script, and how large a call is
            limit = int(connection.info("memory")["used_memory"]) + spare_mb * 1_000_000
            connection.config_set("maxmemory", limit)
            try:
                with suppress(OutOfMemoryError):
                    assert ledger.claim(0, many)
                is_beyond = int(connection.info("memory")["used_memory"]) > limit
            finally:
                connection.config_set("maxmemory", 0)
            state = ledger.state()
            n = state.claims
            assert n in (0, len(many))
            assert n == len(state.unsettled) == len(ledger.choices())
            assert n == sum(state.taken.values()) == len(list(ledger.every_record()))
            outcomes.append((bool(n), is_beyond))
            connection.flushdb()
    assert outcomes[0] == (False, True)
    assert (True, True) in outcomes, "it never got full in the middle"
    assert outcomes[-1] == (True, False)


@pytest.mark.parametrize("name", CALLS)
def test_a_server_that_forgot_a_script_is_told_it_again(home: Home, name: str) -> None:
    """As a replica that was promoted, or after SCRIPT FLUSH, answers NOSCRIPT."""
    prepare, call = CALLS[name]
    assessment = f"flushed-{secrets.token_hex(6)}"
    with home.connected() as connection:
        ledger = ValkeyLedger(connection, assessment)
        prepare(ledger)
        connection.script_flush()
        with pytest.raises(NoScriptError):
            connection.evalsha("0" * 40, 0)
        call(ledger)
        assert told(ledger) == told_after(prepare, call)
