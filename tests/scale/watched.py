"""A master and its replica under a Sentinel, with the users of `deploy/`; over TLS if asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connector.local import free_port
from tests.scale.servers import Node, node, running, until
from worker.service.embedded import find_binary

DEPLOY = Path(__file__).parents[2] / "deploy"
HOST, MASTER = "127.0.0.1", "kept"
PASSWORDS = {"assay": "of/assay", "replica": "of-replicas", "sentinel": "of-sentinels"}
# Longer than a server that lives is kept waiting by a busy machine.
DOWN_AFTER_MS = 5_000


@dataclass(frozen=True, slots=True)
class Watched:
    """Two servers of which one is the master, and what watches them.

    url: what a user writes into REDIS_URL; the first Sentinel that it names is away.
    """

    nodes: tuple[Node, Node]
    sentinel: Node
    url: str

    def master(self) -> Node:
        """Which of them the Sentinel calls the master."""
        with self.sentinel.connect() as connection:
            port = int(connection.sentinel_master(MASTER)["port"])
        return next(one for one in self.nodes if one.port == port)

    def replica_follows(self) -> None:
        """Wait until the other one follows the master and has what that has."""
        master = self.master()
        (other,) = (one for one in self.nodes if one is not master)
        with other.connect() as connection, master.connect() as followed:
            until(lambda: connection.info("replication").get("master_link_status") == "up")
            wanted = followed.info("replication")["master_repl_offset"]
            until(lambda: connection.info("replication")["slave_repl_offset"] >= wanted)
        with self.sentinel.connect() as connection:
            until(lambda: _is_well(connection.sentinel_slaves(MASTER)))

    def switch(self) -> None:
        """Have the Sentinel change their roles, as before work on a machine."""
        before = self.master()
        with self.sentinel.connect() as connection:
            connection.sentinel_failover(MASTER)
            until(lambda: self.master() is not before)


def _is_well(replicas: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        not one["is_sdown"] and not one["is_disconnected"] and one["master-link-status"] == "ok"
        for one in replicas
    )


@contextmanager
def watched(folder: Path, certificates: Path | None = None) -> Iterator[Watched]:
    """Start all three.

    Args:
        certificates: a folder with cert.pem, key.pem and ca.pem; then all of them speak TLS only.
    """
    folder.mkdir(parents=True)
    tls = _tls(certificates) if certificates else ()
    secured = {"ssl": True, "ssl_ca_certs": f"{certificates}/ca.pem"} if certificates else {}
    admin = {"username": "admin", "password": "all", **secured}
    options = [
        *("--include", str(_users(folder)), "--masteruser", "replica"),
        *("--masterauth", PASSWORDS["replica"], "--repl-diskless-sync-delay", "0"),
        *(word for name, value in tls for word in (f"--{name}", value)),
    ]
    with ExitStack() as stack:
        master = stack.enter_context(node(folder / "one", *options, login=admin))
        follow = ("--replicaof", f"{master.host} {master.port}")
        other = stack.enter_context(node(folder / "other", *options, *follow, login=admin))
        sentinel = stack.enter_context(_sentinel(folder, master, tls, secured))
        scheme = "rediss" if certificates else "redis"
        password = PASSWORDS["assay"].replace("/", "%2F")
        places = f"{HOST}:{free_port()},{HOST}:{sentinel.port}"
        url = f"{scheme}+sentinel://assay:{password}@{places}/{MASTER}/0"
        made = Watched((master, other), sentinel, url)
        made.replica_follows()
        yield made


def _users(folder: Path) -> Path:
    """Our two files with passwords, as `operations.md` says, and one who may do everything."""
    lines = []
    for name in ("valkey-acl.conf", "valkey-replicas.conf"):
        for line in (DEPLOY / name).read_text(encoding="utf-8").splitlines():
            who = line.split(" ")[1]
            if line.startswith("user ") and who in PASSWORDS:
                digest = hashlib.sha256(PASSWORDS[who].encode()).hexdigest()
                assert "#PASSWORD_SHA256" in line
                line = line.replace("PASSWORD_SHA256", digest)
            lines.append(line)
    path = folder / "users.conf"
    path.write_text("\n".join([*lines, "user admin on >all ~* &* +@all", ""]), encoding="utf-8")
    return path


def _tls(certificates: Path) -> tuple[tuple[str, str], ...]:
    return (
        ("tls-cert-file", f"{certificates}/cert.pem"),
        ("tls-key-file", f"{certificates}/key.pem"),
        ("tls-ca-cert-file", f"{certificates}/ca.pem"),
        ("tls-auth-clients", "no"),
        ("tls-replication", "yes"),
    )


@contextmanager
def _sentinel(
    folder: Path, master: Node, tls: Sequence[tuple[str, str]], secured: Mapping[str, Any]
) -> Iterator[Node]:
    config = folder / "sentinel.conf"

    def command(port: int) -> list[str]:
        lines = [
            *([f"port 0\ntls-port {port}"] if tls else [f"port {port}"]),
            *(f"{name} {value}" for name, value in tls),
            f"bind {HOST}\ndir {folder}",
            f"sentinel monitor {MASTER} {master.host} {master.port} 1",
            f"sentinel auth-user {MASTER} sentinel",
            f"sentinel auth-pass {MASTER} {PASSWORDS['sentinel']}",
            f"sentinel down-after-milliseconds {MASTER} {DOWN_AFTER_MS}",
        ]
        config.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return [find_binary().path, str(config), "--sentinel"]

    with running(folder / "sentinel", command, HOST, secured) as made:
        yield made
