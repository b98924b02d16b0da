"""Runs one of our commands with a clock of its own (libfaketime), where `time.sleep` fails.

libfaketime 0.9.10 answers `time.sleep` with EINVAL as long as it leaves the monotonic clock alone.
A process would end whenever it waited for a server that is away, which is no fault of a clock.
"""

from __future__ import annotations

import runpy
import sys
import threading
import time


def _sleep(seconds: float) -> None:
    threading.Event().wait(seconds)


if __name__ == "__main__":
    time.sleep = _sleep
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
