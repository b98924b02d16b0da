"""`assay` as a child of `assay up`: it ends when `up` is killed, so the next one finds its port.

It ties itself to its parent: a function between fork and exec is not safe where threads run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tie_to(parent: int) -> None:
    """Get a SIGTERM when the parent dies; end at once if it is dead already (Linux only)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(f"`assay up` ({parent}) has ended")


if __name__ == "__main__":
    tie_to(int(sys.argv.pop(1)))
    from worker.cli.main import cli

    cli(prog_name="assay")
