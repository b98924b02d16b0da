"""Valkeys of a test's own: a cluster of three masters, and a master with its replica."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from connector.local import free_port
from worker.service.embedded import find_binary

PATIENCE_S = 30.0
N_SLOTS = 16384


@dataclass(frozen=True, slots=True)
class Node:
    """One server process on loopback (or on another address of this machine)."""

    host: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def connect(self) -> Redis:
        """A connection for what a test arranges and looks at."""
        return Redis(self.host, self.port, decode_responses=True)

    def freeze(self) -> None:
        """Keep it from running; its connections stay open."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """As a machine that is gone; call it once."""
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def node(folder: Path, *options: str, host: str = "127.0.0.1") -> Iterator[Node]:
    """A server with options of its own, until the block ends."""
    folder.mkdir(parents=True)
    port = free_port()
    command = [
        *(find_binary().path, "--port", str(port), "--bind", host, "--dir", str(folder)),
        *("--appendonly", "yes", "--maxmemory-policy", "noeviction", "--save", ""),
        *("--protected-mode", "no", *options),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        made = Node(host, port, process.pid)
        with made.connect() as connection:
            until(lambda: connection.ping())
        yield made
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


@contextmanager
def cluster(folder: Path, n_masters: int = 3) -> Iterator[list[Node]]:
    """Masters that share the slots between them."""
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(
                node(
                    folder / f"node-{n}",
                    *("--cluster-enabled", "yes", "--cluster-port", str(free_port())),
                )
            )
            for n in range(n_masters)
        ]
        connections = [stack.enter_context(one.connect()) for one in nodes]
        bounds = [N_SLOTS * n // n_masters for n in range(n_masters + 1)]
        for n, connection in enumerate(connections):
            connection.execute_command(
                "CLUSTER", "ADDSLOTSRANGE", str(bounds[n]), str(bounds[n + 1] - 1)
            )
        for one in nodes[1:]:
            bus = _bus(one)
            connections[0].execute_command("CLUSTER", "MEET", one.host, str(one.port), str(bus))
        for connection in connections:
            until(lambda connection=connection: _is_whole(connection, n_masters))
        yield nodes


def cluster_url(nodes: list[Node]) -> str:
    """The address that a user writes: any node of it."""
    return f"redis+cluster://{nodes[0].host}:{nodes[0].port}"


@contextmanager
def pair(folder: Path) -> Iterator[tuple[Node, Node]]:
    """A master and its replica, which has all that the master has at the moment."""
    with node(folder / "master", "--repl-diskless-sync-delay", "0") as master:
        follow = ("--replicaof", f"{master.host} {master.port}")
        with node(folder / "replica", *follow) as replica, replica.connect() as connection:
            until(lambda: connection.info("replication")["master_link_status"] == "up")
            yield master, replica


def caught_up(master: Node, replica: Node) -> None:
    """Wait until the replica has all that the master wrote."""
    with master.connect() as one, replica.connect() as other:
        wanted = one.info("replication")["master_repl_offset"]
        until(lambda: other.info("replication")["slave_repl_offset"] >= wanted)


def cut_off(replica: Node) -> None:
    """Let it follow an address where nobody is: it keeps what it has, and hears no more."""
    with replica.connect() as connection:
        connection.execute_command("REPLICAOF", replica.host, "1")


def promote(replica: Node) -> None:
    """Make it a master with what it has, as a Sentinel would."""
    with replica.connect() as connection:
        connection.execute_command("REPLICAOF", "NO", "ONE")
        until(lambda: connection.info("replication")["role"] == "master")


def until(look: Callable[[], object]) -> None:
    """Look again and again; a server that is not up yet counts as no."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(RedisError):
            if look():
                return
        assert time.monotonic() < deadline, f"not so within {PATIENCE_S:.0f} s"
        time.sleep(0.05)


def _bus(one: Node) -> int:
    with one.connect() as connection:
        return int(connection.config_get("cluster-port")["cluster-port"])


def _is_whole(connection: Redis, n_masters: int) -> bool:
    told = connection.execute_command("CLUSTER", "INFO")
    text = told if isinstance(told, str) else "\n".join(f"{k}:{v}" for k, v in told.items())
    return "cluster_state:ok" in text and f"cluster_known_nodes:{n_masters}" in text
