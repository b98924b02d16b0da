"""A server that is killed, steps of an assessment to kill it in, and what is left of them."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from connector.labels import TaskSnapshot
from tests.contract.ledgers import RULES, claimed, claims_of, header_of, rejected, seen, valid
from worker.service.embedded import ensure_running
from worker.service.server import connect
from worker.store import Header, Ledger, MemoryLedger
from worker.turn.sync import record


def wait_until_written(connection: Redis) -> None:
    """Wait until what was answered is in the file, too.

    With `appendfsync everysec` a server holds back what it appends while it syncs the file: up to
    two seconds of it are lost with the process, although they were answered.
    """
    deadline = time.monotonic() + 120
    with suppress(RedisError):  # it was killed
        while int(connection.info("persistence")["aof_buffer_length"]):
            assert time.monotonic() < deadline
            time.sleep(0.002)


@dataclass
class Home:
    """A Valkey of the test's own, that is killed and comes back."""

    folder: Path
    url: str

    @contextmanager
    def connected(self) -> Iterator[Redis]:
        """A connection that does not try again: a stopped script must not be sent twice."""
        with connect(self.url, is_patient=False) as connection:
            yield connection
            wait_until_written(connection)

    def kill(self, pid: int, while_it_is_away: Callable[[], object] = lambda: None) -> None:
        """End the server as a lack of memory would, and start it again."""
        os.kill(pid, signal.SIGKILL)
        with (self.folder / "valkey" / "server.lock").open("a") as life:
            fcntl.flock(life, fcntl.LOCK_EX)  # it holds this for as long as it lives
        while_it_is_away()
        ensure_running(self.folder)


def begin(ledger: Ledger) -> None:
    ledger.begin(header_of(ledger.assessment))


def two_claimed(ledger: Ledger) -> None:
    begin(ledger)
    claimed(ledger, "a", "b")
    seen(ledger, 1, "a", 1, valid(1, "cat"))
    ledger.put_notice("n", "text")
    ledger.take_lease("w1", 600_000)


def claim_two(ledger: Ledger) -> object:
    return ledger.claim(1, claims_of(["c", "d"], first=2))


def commit_two(ledger: Ledger) -> object:
    snapshots = [
        TaskSnapshot(1, "a", 2, False, (rejected(1, at_us=2), valid(2, "dog", at_us=3))),
        TaskSnapshot(2, "b", 2, True, (valid(3, "cow", at_us=4),)),
    ]
    return record(ledger, snapshots, 9, RULES)


CALLS: dict[str, tuple[Callable[[Ledger], object], Callable[[Ledger], object]]] = {
    "claim": (two_claimed, claim_two),
    "commit": (two_claimed, commit_two),
    "publish": (two_claimed, lambda ledger: ledger.publish(1, "enough", stops=True)),
    "begin": (lambda ledger: None, begin),
    "move": (two_claimed, lambda ledger: ledger.move("running", "paused")),
    "cursor": (two_claimed, lambda ledger: ledger.advance_cursor(7)),
    "swap": (two_claimed, lambda ledger: ledger.compare_and_set("x", "", "1")),
    "put notice": (two_claimed, lambda ledger: ledger.put_notice("m", "text")),
    "replace notice": (two_claimed, lambda ledger: ledger.replace_notice("n", "text", "told")),
    "take out a notice": (two_claimed, lambda ledger: ledger.replace_notice("n", "text", "")),
    "take lease": (two_claimed, lambda ledger: ledger.take_lease("w1", 500_000)),
    "keep lease": (two_claimed, lambda ledger: ledger.keep_lease("w1", 500_000)),
    "begin import": (
        two_claimed,
        lambda ledger: ledger.begin_import("w1", 500_000, [0, 1], 500_000),
    ),
    "drop lease": (two_claimed, lambda ledger: ledger.drop_lease("w1")),
}


def told(ledger: Ledger) -> list[object]:
    """Everything that a ledger can be asked; who holds the lease is asked last."""
    header: Header | None = ledger.header()
    return [
        None if header is None else header.project,
        ledger.state(),
        ledger.tasks(),
        ledger.choices(),
        ledger.changes(),
        ledger.decisions(),
        ledger.rejected(),
        sorted(ledger.every_record()),
        ledger.notices(),
        ledger.put_notice("n", "text"),
        ledger.take_lease("w2", 1_000),
        ledger.in_doubt([0, 1]),
    ]


def told_after(*steps: Callable[[Ledger], object]) -> list[object]:
    """What the twin in memory says after the same steps."""
    twin = MemoryLedger("twin")
    for step in steps:
        step(twin)
    return told(twin)


def as_stored(everything: list[object]) -> list[object]:
    """Without the answers of who is asked to write."""
    return everything[:-2]


def append_file(home: Home) -> Path:
    """Where the server appends what happens."""
    (path,) = (home.folder / "valkey").glob("appendonlydir/*.incr.aof")
    return path


def appended(home: Home, connection: Redis) -> bytes:
    """All of that so far: while the disk is busy the server answers before it has written."""
    while connection.info("persistence")["aof_buffer_length"]:
        time.sleep(0.05)
    return append_file(home).read_bytes()
