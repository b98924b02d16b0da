"""Every Lua script of the ledger, stopped before and after each of its calls, on a real server.

A server runs a script as one piece: nobody sees its middle, and its writes reach the append-only
file together, after its end. What Lua itself does not do is undo: an error in the middle would
leave what was written before it. So these tests show that nothing outside can stop a script once
it wrote: not SCRIPT KILL, not a full memory; and that a killed server forgets all of it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from tests.amount import IS_SHORT
from tests.contract.killed import (
    CALLS,
    Home,
    told,
    told_after,
)
from worker.store import Ledger, MemoryLedger
from worker.store.valkey import ValkeyLedger

# Put before a script: at its call number STOP it turns in circles, before the call or after it.
_STOPPING = """
local real, n = redis, 0
local function here(at) if at == '{stop}' then while true do end end end
local redis = {{call = function(...)
  n = n + 1
  here('before ' .. n)
  local answer = real.call(...)
  here('after ' .. n)
  return answer
end}}
"""


class Stopping:
    """A connection whose scripts stop at one of their calls, for ever."""

    def __init__(self, connection: Redis, stop: str) -> None:
        self._connection, self._head = connection, _STOPPING.format(stop=stop)

    def register_script(self, text: str) -> Any:
        return self._connection.register_script(self._head + text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.mark.parametrize("name", CALLS)
def test_a_script_that_is_stopped_at_any_of_its_calls_did_all_or_nothing(
    home: Home, name: str
) -> None:
    """Killed by SCRIPT KILL before its first write, or with the whole server after it."""
    prepare, call = CALLS[name]
    moments = ["after"] if IS_SHORT and name in ("claim", "commit") else ["before", "after"]
    n, kills = 0, dict.fromkeys(("script", "server"), 0)
    while n < 60:
        n += 1
        for moment in moments:
            assessment = f"stopped-{secrets.token_hex(6)}"
            with home.connected() as connection:
                prepare(ValkeyLedger(connection, assessment))
            killed = stopped(home, assessment, call, f"{moment} {n}")
            if killed is None:
                assert n > 1, "it must stop at least once"
                assert kills["server"], "no stop was after a write"
                return
            kills[killed] += 1
            with home.connected() as connection:
                ledger = ValkeyLedger(connection, assessment)
                seen_after_the_kill = [ledger.state(), ledger.notices(), ledger.choices()]
                twin = MemoryLedger(assessment)
                prepare(twin)
                assert seen_after_the_kill == [twin.state(), twin.notices(), twin.choices()]
                call(ledger)  # the worker's next turn
                assert told(ledger) == told_after(prepare, call)
    raise AssertionError("the script never came to its end")


def test_a_script_with_a_mistake_in_its_middle_leaves_halves(home: Home) -> None:
    """Why no error may come from within, and what the test above would see."""
    assessment = f"halves-{secrets.token_hex(6)}"
    prepare, call = CALLS["claim"]
    with home.connected() as connection:
        prepare(ValkeyLedger(connection, assessment))
        stop = "after 5' then error('a mistake') elseif at == '"  # two are asked for, one is kept
        with pytest.raises(ResponseError, match="a mistake"):
            call(ValkeyLedger(Stopping(connection, stop), assessment))  # type: ignore[arg-type]
        ledger = ValkeyLedger(connection, assessment)
        assert set(ledger.records(["c", "d"])) == {"c"}
        assert ledger.state().claims == 2
        assert not call(ledger), "its item is lost for good"


def stopped(home: Home, assessment: str, call: Callable[[Ledger], object], stop: str) -> str | None:
    """Call until the script stops, and kill it; None if it never came to that point.

    A script that wrote nothing yet can be killed alone; else the server is killed, as by the
    kernel when the machine has no memory left.
    """
    done = threading.Event()

    def work() -> None:
        with home.connected() as connection, suppress(RedisError):
            call(ValkeyLedger(Stopping(connection, stop), assessment))  # type: ignore[arg-type]
        done.set()  # also when it was killed, which is after we saw that it had stopped

    with home.connected() as connection, ExitStack() as until_it_ended:
        connection.config_set("busy-reply-threshold", 5)
        pid = int(connection.info("server")["process_id"])
        worker = threading.Thread(target=work)
        worker.start()
        until_it_ended.callback(worker.join, 30)
        while not (is_busy := refused(connection.ping, "BUSY")) and not done.is_set():
            time.sleep(0.001)
        if not is_busy:
            return None
        if not refused(connection.script_kill, "UNKILLABLE"):
            return "script"
        home.kill(pid)
        return "server"


def refused(call: Callable[[], object], why: str) -> bool:
    """Whether the server refused it for this reason."""
    try:
        call()
    except ResponseError as error:
        if why in str(error):
            return True
        raise
    return False
