"""Our processes, each on its own, started again by a supervisor whenever they die."""

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

from connector.tethered import tied
from worker.service.embedded import embedded_url, ensure_running
from worker.service.server import connect
from worker.service.unused import USERS

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
DISK = "64m"


@dataclass(slots=True)
class Crew:
    """Receiver, watcher and workers of a home, and its Valkey; `rest` lets the dead lie.

    clock: the file by which the watcher and the last worker are told to be ahead or behind.
    """

    home: Path
    env: dict[str, str]
    commands: dict[str, list[str]]
    module: str
    clock: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    rest: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tend(self) -> None:
        """Start whatever is dead."""
        with self._lock:
            if self._over.is_set() or self.rest.is_set():
                return
            with suppress(Exception):  # a full disk, say: it is tried again
                ensure_running(self.home)
            for name, arguments in self.commands.items():
                process = self.running.get(name)
                if process is None or process.poll() is not None:
                    self.running[name] = self._spawn(name, arguments)
                    self.starts[name] = self.starts.get(name, 0) + 1

    def _spawn(self, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        env, command = dict(self.env), [self.module, *arguments]
        if FAKETIME is not None and name in self.of_another_time():
            env |= {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_DONT_RESET": "1",
            }
            command = ["tests.soak.other_time", *command]
        with (self.home / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                tied([sys.executable, "-m", *command]),
                env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def of_another_time(self) -> list[str]:
        """The processes whose clock can be moved."""
        return ["watcher", max(name for name in self.commands if name.startswith("worker"))]

    def workers(self) -> list[str]:
        """The names of the workers."""
        return [name for name in self.commands if name.startswith("worker")]

    def signal(self, name: str, number: int) -> None:
        """Signal one of ours."""
        with suppress(ProcessLookupError):
            os.kill(self.running[name].pid, number)

    def close(self) -> None:
        """End them all; who does not listen is killed."""
        self._over.set()
        with self._lock:
            for process in self.running.values():
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.terminate()
            for process in self.running.values():
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self._end_server()

    def _end_server(self) -> None:
        """End the Valkey, which outlives whoever was killed; its disk is to be unmounted."""
        with suppress(RedisError), connect(embedded_url(self.home), is_patient=False) as state:
            state.shutdown(nosave=True)


@contextmanager
def crew(
    home: Path, env: dict[str, str], port: int, public_url: str, n_workers: int, module: str
) -> Iterator[Crew]:
    """A crew at work, for as long as the block runs."""
    clock = home / "clock"
    clock.write_text("+0\n", encoding="utf-8")
    (home / "valkey").mkdir(exist_ok=True, mode=0o700)
    serve = ["serve", "--port", str(port), "--public-url", public_url]
    commands = {"receiver": serve, "watcher": ["watch", "--every", "1"]}
    commands |= {f"worker-{n + 1}": ["worker"] for n in range(n_workers)}
    at_work = Crew(home, env, commands, module, clock)

    def keep() -> None:
        while not at_work._over.wait(0.2):
            at_work.tend()

    keeper = threading.Thread(target=keep, daemon=True)
    # Where all of the others are killed, the server stays.
    with (home / "valkey" / USERS).open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
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
