"""Which processes are there that have to do with a folder, and which port is free."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

PATIENCE_S = 120.0


def free_port() -> int:
    """One that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processes_of(home: Path) -> list[str]:
    """Command lines of living processes that name the folder there or in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        if entry.name == str(os.getpid()):
            continue
        try:
            texts = [(entry / name).read_bytes() for name in ("cmdline", "environ")]
        except OSError:
            continue
        if any(str(home).encode() in text for text in texts):
            found.append(f"{entry.name} {texts[0]!r}")
    return found


def wait_until_gone(home: Path) -> None:
    """Wait until there is none; fail with those that stay."""
    deadline = time.monotonic() + PATIENCE_S
    while left := processes_of(home):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
