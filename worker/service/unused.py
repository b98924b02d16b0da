"""Ends the embedded server when nobody uses it any more, also where its users were killed.

They hold a shared lock, which the kernel takes from whoever dies. So a process of its own waits for
the lock, as long as the server lives: `python -m worker.service.unused FOLDER LIFE PROGRAM ...`
becomes the program, and leaves that process beside it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connector.supervised import tie_to

USERS = "users.lock"
END_TIMEOUT_S = 10.0


@contextmanager
def gate(folder: Path) -> Iterator[None]:
    """One process at a time comes or goes."""
    with (folder / "gate.lock").open("a") as at_gate:
        fcntl.flock(at_gate, fcntl.LOCK_EX)
        yield


def locked_at_once(fileno: int) -> bool:
    """Lock a file for us alone if nobody has it."""
    try:
        fcntl.flock(fileno, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def end_when_unused(folder: Path, server: int) -> None:
    """Wait until nobody uses the server, and end it; who comes meanwhile is a user as any other."""
    with (folder / USERS).open("a") as users:
        while os.getppid() == server:
            fcntl.flock(users, fcntl.LOCK_EX)
            # Not to be had inside the gate: who comes holds that and waits for this.
            fcntl.flock(users, fcntl.LOCK_UN)
            with gate(folder):
                if locked_at_once(users.fileno()) and os.getppid() == server:
                    os.kill(server, signal.SIGTERM)
                    _wait_for_end(server)
                    return
                fcntl.flock(users, fcntl.LOCK_UN)


def _wait_for_end(server: int) -> None:
    """Inside the gate: who comes now must not take one for running that is about to end."""
    ends = time.monotonic() + END_TIMEOUT_S
    while os.getppid() == server and time.monotonic() < ends:
        time.sleep(0.02)


def main(folder: Path, life: int, command: list[str]) -> None:
    """Become the server; `life` is the lock that only it may keep."""
    server = os.getpid()
    if os.fork() == 0:
        os.close(life)
        tie_to(server)
        end_when_unused(folder, server)
        os._exit(0)
    os.execv(command[0], command)  # noqa: S606 (a command of ours)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
