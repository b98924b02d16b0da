"""The process beside that writes a report: the same files, the same errors, and no orphan."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.report.examples import ordinary
from worker.report.beside import WriterGone, writer
from worker.report.page import write_report

_WAITING = """
import time
from worker.report.beside import writer
if __name__ == "__main__":
    with writer():
        print("begun", flush=True)
        time.sleep(60)
"""


def test_it_writes_what_this_process_would_write(tmp_path: Path):
    report = ordinary()
    with writer() as write:
        page = write(report, tmp_path / "beside", "report")
    here = write_report(report, tmp_path / "here", "report")
    assert page == tmp_path / "beside" / "report.html"
    for suffix in (".html", ".json", ".csv"):
        assert page.with_suffix(suffix).read_bytes() == here.with_suffix(suffix).read_bytes()


def test_what_fails_there_fails_here_as_it_would(tmp_path: Path):
    (tmp_path / "file").touch()
    with writer() as write, pytest.raises(FileExistsError, match="file"):
        write(ordinary(), tmp_path / "file", "report")


def test_one_that_was_ended_from_outside_is_said(tmp_path: Path):
    with writer() as write:
        (beside,) = multiprocessing.active_children()
        os.kill(beside.pid, signal.SIGKILL)
        with pytest.raises(WriterGone, match=r"-9.*ask for the report again"):
            write(ordinary(), tmp_path, "report")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_the_process_that_began_it(tmp_path: Path, how: signal.Signals):
    script = tmp_path / "waiting.py"
    script.write_text(_WAITING)
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        if how is signal.SIGINT:
            os.killpg(process.pid, how)  # as a terminal sends Ctrl-C: to all of them
        else:
            process.kill()
        process.wait(120)  # the one beside may be at work on matplotlib's list of fonts
        assert process.stderr.read().count("Traceback") == (how is signal.SIGINT)  # its own
    deadline = time.monotonic() + 120
    while _has_members(process.pid):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.05)


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_draws_loads_nothing_of_what_counts():
    code = "import sys, worker.report.page; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert "matplotlib" in loaded
    assert not loaded & {"scipy", "pyarrow", "redis", "rq", "worker.assessment", "worker.store"}
