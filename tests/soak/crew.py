"""Our processes under `assay up`, as users run them; it is started again when it is killed, too."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from redis.exceptions import RedisError

from connector.supervised import tied
from tests.live.service import Service
from worker.service.embedded import embedded_url
from worker.service.server import connect
from worker.service.unused import USERS

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
DISK = "64m"
ENDS_S = 40.0


@dataclass(slots=True)
class Crew:
    """`assay up` in a home of its own, and its Valkey; `rest` lets the dead lie.

    clock: the file by which the watcher and a worker are told to be ahead or behind.
    """

    service: Service
    command: list[str]
    clock: Path
    rest: threading.Event = field(default_factory=threading.Event)
    _up: subprocess.Popen[bytes] | None = None
    _starts: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tend(self) -> None:
        """Start `assay up` if it is dead."""
        with self._lock:
            if self._over.is_set() or self.rest.is_set():
                return
            if self._up is None or self._up.poll() is not None:
                with self._log.open("ab") as log:
                    self._up = subprocess.Popen(
                        tied([sys.executable, "-m", *self.command]),
                        env=self.service.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    )  # fmt: skip
                self._starts += 1

    @property
    def _log(self) -> Path:
        return self.service.home / "up.log"

    @property
    def restarts(self) -> int:
        """How often something was started again."""
        text = self._log.read_text("utf-8", errors="replace")
        return self._starts - 1 + text.count("; starting it again.")

    def workers(self) -> list[str]:
        """The names of the workers."""
        return [name for name in self.service.pids() if name.startswith("worker")]

    def signal(self, name: str, number: int) -> None:
        """Signal a child of `assay up`."""
        if (pid := self.service.pids().get(name)) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_all(self) -> None:
        """kill -9 of `assay up` and its children, itself first: it starts nothing again."""
        pids = self.service.pids().values()
        assert self._up is not None
        self._up.kill()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End them all; who does not listen is killed."""
        self._over.set()
        with self._lock:
            for name in self.service.pids():
                self.signal(name, signal.SIGCONT)
            if self._up is not None:
                self._up.terminate()
                try:
                    self._up.wait(ENDS_S)
                except subprocess.TimeoutExpired:
                    self.kill_all()
                    self._up.wait()
        self._end_server()

    def _end_server(self) -> None:
        """End the Valkey, which outlives whoever was killed; its disk is to be unmounted."""
        url = embedded_url(self.service.home)
        with suppress(RedisError), connect(url, is_patient=False) as state:
            state.shutdown(nosave=True)


@contextmanager
def crew(
    service: Service, port: int, public_url: str, n_workers: int, module: str
) -> Iterator[Crew]:
    """A crew at work, for as long as the block runs."""
    home = service.home
    clock = home / "clock"
    clock.write_text("+0\n", encoding="utf-8")
    (home / "valkey").mkdir(exist_ok=True, mode=0o700)
    command = ["tests.soak.as_up", module, str(clock), "up", "--workers", str(n_workers)]
    command += ["--port", str(port), "--public-url", public_url]
    at_work = Crew(service, command, clock)

    def keep() -> None:
        while not at_work._over.wait(0.2):
            at_work.tend()

    keeper = threading.Thread(target=keep, daemon=True)
    # Where all of the others are killed, the server stays.
    with (home / "valkey" / USERS).open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        # What it starts ends with the thread that starts it, so that one stays to the end.
        keeper.start()
        try:
            yield at_work
        finally:
            at_work.close()
            keeper.join()


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A small file system under a folder, if we may mount one; whether there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", str(folder)]
    has_one = (
        shutil.which("mount") is not None
        and not subprocess.run(command, capture_output=True, check=False).returncode
    )
    try:
        yield has_one
    finally:
        for _ in range(50 if has_one else 0):
            if not subprocess.run(
                ["umount", str(folder)], capture_output=True, check=False
            ).returncode:
                break
            time.sleep(0.2)
