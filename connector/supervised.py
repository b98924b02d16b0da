"""A program that ends with the process that started it, however that one dies.

The kernel is asked to signal the child when its parent is gone: it needs no thread that watches, no
pipe that a child of the child could keep open, and holds for programs that know nothing of it, as
it outlives exec (Linux only). The child asks for it, since a function between fork and exec is
not safe where threads run. To the kernel the parent is the thread that starts the child: let one
start it that stays for as long as the child may.

What several processes share ends with the last of them: `worker.service.embedded`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tied(command: Sequence[str]) -> list[str]:
    """Return what to start in place of `command`, so that it gets a SIGTERM when we are gone."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def tie_to(parent: int) -> None:
    """Get a SIGTERM when the parent dies; end at once if it is dead already (Linux only)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(f"the process that started this one ({parent}) has ended")


if __name__ == "__main__":
    tie_to(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 (a command of ours)
