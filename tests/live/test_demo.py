"""The demo from its start to its decision, and when somebody loses patience with it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import processes_of, wait_until_gone

pytestmark = [pytest.mark.live, pytest.mark.slow]


def demo(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "worker.cli", "demo"],
        env={**os.environ, "ASSAY_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until_it_runs(process: subprocess.Popen[str], home: Path) -> None:
    deadline = time.monotonic() + 600
    while not (home / "demo/up.pids").exists():
        assert time.monotonic() < deadline, "the demo does not get going"
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.2)


def test_the_demo_ends_with_a_conclusive_decision_on_real_annotations(tmp_path):
    process = demo(tmp_path)
    output, _ = process.communicate(timeout=900)

    assert process.returncode == 0, output
    decision = json.loads(
        (tmp_path / "demo/assessments/digits-worst-class/decision.json").read_text()
    )
    assert decision["is_conclusive"]
    assert decision["chosen"] == ["8"]
    assert decision["confidence"] >= 0.95
    assert decision["annotators"] == 2
    assert decision["text"] in output
    assert decision["opinions"]["text"] in output
    assert processes_of(tmp_path) == []


def test_ctrl_c_in_the_middle_of_the_demo_leaves_nothing_running(tmp_path):
    process = demo(tmp_path)
    wait_until_it_runs(process, tmp_path)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)

    assert "Traceback" not in output
    assert processes_of(tmp_path) == []


def test_killed_in_the_middle_it_leaves_no_open_toy_server_and_nothing_else_running(tmp_path):
    process = demo(tmp_path)
    wait_until_it_runs(process, tmp_path)
    process.kill()
    process.communicate(timeout=300)
    wait_until_gone(tmp_path)
