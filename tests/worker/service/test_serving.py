"""`assay serve` as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_without_a_complaint(tmp_path: Path, number: int, code: int) -> None:
    env = os.environ | {"ASSAY_HOME": str(tmp_path), "ASSAY_WEBHOOK_SECRET": "only-for-tests"}
    for name in ("REDIS_URL", "ASSAY_STATE_URL"):
        env.pop(name, None)
    command = [sys.executable, "-m", "worker.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "The dashboard is at" not in (line := process.stderr.readline()):
            assert line, "it ended before it began"
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=300)
        finally:
            process.kill()
    assert (process.returncode, said) == (code, "")
