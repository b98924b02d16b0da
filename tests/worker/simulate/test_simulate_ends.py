"""Ctrl-C and kills of `assay simulate` and the processes that it started."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes import processes_of, wait_until_gone
from tests.worker.simulate.simulated_pool import write_plan


def _read_on(terminal: int) -> None:
    """Read what nobody needs until the terminal is gone: who writes to a full one would wait."""
    with suppress(OSError):
        while os.read(terminal, 1000):
            pass
    os.close(terminal)


def test_ctrl_c_reports_what_is_finished(tmp_path):
    plan = write_plan(tmp_path)
    ours, theirs = pty.openpty()  # the progress bar shows on a terminal only
    with subprocess.Popen(
        [
            sys.executable, "-m", "worker.cli", "simulate", str(plan), "--truth", "truth",
            "--runs", "2000", "--processes", "2", "--json",
        ],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"ASSAY_HOME": str(tmp_path / "home"), "TERM": "xterm"},
        cwd=Path(__file__).parents[3],
        start_new_session=True,
    ) as command:  # fmt: skip
        os.close(theirs)
        shown = b""
        while not re.search(rb" [1-9]\d*%", shown):
            shown += os.read(ours, 1000)
        # as a terminal does: to the command and to the processes that it started
        os.killpg(command.pid, signal.SIGINT)
        threading.Thread(target=_read_on, args=(ours,)).start()
        out, _ = command.communicate(timeout=300)

    assert command.returncode == 130
    report = json.loads(out)
    assert 0 < report["finished"] < report["runs"] == 2000
    assert report["results"][0]["runs"] == report["finished"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_the_processes_that_take_runs_end_with_the_command(tmp_path, how):
    plan, home = write_plan(tmp_path), tmp_path / "home"
    command = subprocess.Popen(
        [
            sys.executable, "-m", "worker.cli", "simulate", str(plan), "--truth", "truth",
            "--runs", "2000", "--processes", "2", "--json",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"ASSAY_HOME": str(home)},
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    # the command, two that take runs, and what Python has beside them
    while len(processes_of(home)) < 3 or not any("spawn_main" in p for p in processes_of(home)):
        assert command.poll() is None
    command.send_signal(how)
    command.wait(60)
    wait_until_gone(home)
