"""A server without memory left: the turn fails aloud, and nothing is lost once there is room."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import httpx
import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from connector.labels import Judgement, TaskSnapshot
from tests.live.service import eventually
from worker.cli.doctor import examine
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.server import check, connect
from worker.store import Claim, Header
from worker.store.rules import Rules
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger
from worker.turn.sync import record
from worker.web.serving import RECEIVER


@pytest.fixture
def connection(tmp_path: Path):
    with server(tmp_path, None) as url, connect(url) as connection:
        yield connection
        connection.config_set("maxmemory", 0)


def test_judgements_that_found_no_room_are_recorded_by_the_next_turn(connection):
    ledger = ValkeyLedger(connection, "full")
    ledger.begin(
        Header("full", "{}", "", "", "", "", (0, 0), 1, "http://localhost", "c", "t", ("A",), "")
    )
    assert ledger.claim(0, [Claim(0, "item-1", 0, 0, 0, {"revision": 0})])
    snapshot = TaskSnapshot(1, "item-1", 10, True, (Judgement(1, 1, "valid", "A", "", 10),))

    connection.config_set("maxmemory", 1)
    with pytest.raises(OutOfMemoryError):
        record(ledger, [snapshot], 1, Rules())
    assert ledger.state().tally == {}

    connection.config_set("maxmemory", 0)
    record(ledger, [snapshot], 2, Rules())
    assert ledger.state().tally == {"0:0:0:A": 1}


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"used_memory": 95, "maxmemory": 100}, "raise `maxmemory`"),
        ({"used_memory": 80, "maxmemory": 100}, ""),
        ({"used_memory": 95, "maxmemory": 0}, ""),
        ({"aof_last_write_status": "err"}, "cannot write to its disk"),
        ({"aof_last_write_status": "ok"}, ""),
    ],
)
def test_a_server_that_lacks_room_says_of_what(told: dict[str, object], word: str):
    class Told:
        def info(self) -> dict[str, object]:
            sizes = {"used_memory_human": "95B", "maxmemory_human": "100B"}
            return {"redis_version": "7.2.4", "maxmemory_policy": "noeviction"} | sizes | told

    full = check(cast(Redis, Told()), "redis://localhost")["full"]
    assert word in full
    assert bool(full) == bool(word)


def test_while_it_is_full_people_are_told_why_and_afterwards_all_goes_on_by_itself(tmp_path: Path):
    log = tmp_path / "log"
    env = os.environ | {"ASSAY_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "worker.cli", "up", "--port", "0", "--workers", "1"]
    with server(tmp_path, None) as url, connect(url) as state, log.open("wb") as said:
        up = subprocess.Popen(command, env=env, stderr=said)
        try:
            base = eventually(lambda: state.get(RECEIVER))
            is_ready = f"{base}/readyz"
            eventually(lambda: httpx.get(is_ready, timeout=60).status_code == 200)

            state.config_set("maxmemory", 1)
            eventually(lambda: "memory is full (maxmemory)" in log.read_text())
            os.kill(pids(tmp_path)["worker-1"], signal.SIGKILL)
            eventually(lambda: "worker-1 ended (1)" in log.read_text())
            token = (tmp_path / "dashboard-token").read_text().strip()
            bearer = {"authorization": f"Bearer {token}"}
            assert httpx.get(f"{base}/", headers=bearer, timeout=60).status_code == 200
            context = Context(Settings(tmp_path, url, None), url)
            (room,) = [one for one in examine(context.settings, context) if one.what == "Room"]
            assert (room.seen, room.kind) == ("too little", "problem")
            assert "raise `maxmemory`" in room.cure

            state.config_set("maxmemory", 0)
            state.delete(*state.keys("rq:worker:*"))  # what the killed one left counts for a minute
            eventually(lambda: httpx.get(is_ready, timeout=60).status_code == 200)
            assert "Room" in {
                one.what for one in examine(context.settings, context) if not one.cure
            }
            context.close()
        finally:
            up.terminate()
            up.wait(120)


def test_a_receiver_that_starts_at_a_full_server_shows_its_pages_and_is_told_of_later(
    tmp_path: Path,
):
    env = os.environ | {"ASSAY_HOME": str(tmp_path), "ASSAY_WEBHOOK_SECRET": "only-for-tests"}
    command = [sys.executable, "-m", "worker.cli", "serve", "--port", "0"]
    with server(tmp_path, None) as url, connect(url) as state:
        state.config_set("maxmemory", 1)
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as receiver:
            assert receiver.stderr is not None
            while "The dashboard is at" not in (line := receiver.stderr.readline()):
                assert line, "it ended before it began"
            base = line.partition(" at ")[2].strip()
            assert httpx.get(base, timeout=60).status_code == 200
            assert state.get(RECEIVER) is None
            state.config_set("maxmemory", 0)
            eventually(lambda: state.get(RECEIVER))
            receiver.terminate()


def pids(home: Path) -> dict[str, int]:
    lines = (home / "up.pids").read_text().splitlines()
    return {name: int(pid) for name, pid in (line.split() for line in lines)}
