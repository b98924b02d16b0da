"""`assay up` whose children run a module of ours, two of them by a clock that can be moved."""

from __future__ import annotations

import sys

from tests.soak.crew import FAKETIME
from worker.cli.main import cli
from worker.service import supervisor

OF_ANOTHER_TIME = ("watcher", "worker-1")


def command_of(name: str, arguments: list[str], module: str, clock: str) -> list[str]:
    """Return what runs a child in place of `assay` with its arguments."""
    command = [module, *arguments]
    if FAKETIME is None or name not in OF_ANOTHER_TIME:
        return [sys.executable, "-m", *command]
    # fmt: off
    another_time = [
        "env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1",
    ]
    # fmt: on
    return [*another_time, sys.executable, "-m", "tests.soak.other_time", *command]


if __name__ == "__main__":
    ours, moved = sys.argv.pop(1), sys.argv.pop(1)
    supervisor.command_of = lambda name, arguments: command_of(name, list(arguments), ours, moved)
    cli()
