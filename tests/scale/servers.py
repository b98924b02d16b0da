"""Valkeys of a test's own: a cluster of three masters, and a master with its replica."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from connector.local import free_port
from connector.supervised import tied
from worker.service.embedded import find_binary

PATIENCE_S = 300.0
N_SLOTS = 16384
N_TRIES = 5


@dataclass(frozen=True, slots=True)
class Node:
    """One server process on loopback (or on another address of this machine)."""

    host: str
    port: int
    pid: int
    # How a test gets in: user, password, and whether over TLS.
    login: Mapping[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def connect(self, **more: Any) -> Redis:
        """A connection for what a test arranges and looks at."""
        return Redis(self.host, self.port, decode_responses=True, **self.login, **more)

    def freeze(self) -> None:
        """Keep it from running; its connections stay open."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """As a machine that is gone; call it once."""
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def node(
    folder: Path,
    *options: str,
    host: str = "127.0.0.1",
    is_in_cluster: bool = False,
    login: Mapping[str, Any] | None = None,
) -> Iterator[Node]:
    """A server with options of its own, until the block ends."""

    def command(port: int) -> list[str]:
        at = ("--tls-port", str(port), "--port", "0") if is_tls else ("--port", str(port))
        bus = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        return [
            *(find_binary().path, *at, "--bind", host, "--dir", str(folder)),
            *("--appendonly", "yes", "--maxmemory-policy", "noeviction", "--save", ""),
            *("--protected-mode", "no", *options, *(bus if is_in_cluster else ())),
        ]

    is_tls = bool((login or {}).get("ssl"))
    with running(folder, command, host, login or {}) as made:
        yield made


@contextmanager
def running(
    folder: Path, command: Callable[[int], list[str]], host: str, login: Mapping[str, Any]
) -> Iterator[Node]:
    """A process that listens on a port that it is given, until the block ends."""
    folder.mkdir(parents=True)
    process, made = _started(folder, command, host, login)
    try:
        yield made
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def _started(
    folder: Path, command: Callable[[int], list[str]], host: str, login: Mapping[str, Any]
) -> tuple[subprocess.Popen[bytes], Node]:
    """Start it; on other ports where somebody takes one of them before it does."""
    for _ in range(N_TRIES):
        port = free_port()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                tied(command(port)), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        made = Node(host, port, process.pid, login)
        try:
            until(lambda process=process, made=made: process.poll() is not None or _is_up(made))
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.poll() is None:
            return process, made
    raise AssertionError((folder / "log").read_text(encoding="utf-8"))


def _is_up(made: Node) -> bool:
    """Whether this very process answers there, and no other one that has its port."""
    # an impostor may take the call and say nothing
    with made.connect(socket_timeout=1, retry=Retry(NoBackoff(), 0)) as connection:
        return bool(connection.info("server")["process_id"] == made.pid)


@contextmanager
def cluster(folder: Path, n_masters: int = 3) -> Iterator[list[Node]]:
    """Masters that share the slots between them."""
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(node(folder / f"node-{n}", is_in_cluster=True))
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
