"""Commands as processes of their own that need not import everything again.

Each is forked from a process that has: a command's imports take as long as all that a test does.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# As `python -m worker.cli` would see it, but for the time that it takes.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "worker.cli.main",
        "worker.cli.doctor",
        "worker.cli.printing",
        "worker.setup.replaying",
        "label_studio_sdk.client",
    ]
)
TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def run(arguments: tuple[str, ...], env: Mapping[str, str]) -> Said:
    """Run one command of `assay` to its end, in this environment and no other.

    Raises:
        TimeoutError: it has none; with what it wrote.
    """
    if "PYTHONPATH" in env:  # another release's: what is forked would be today's
        command = [sys.executable, "-m", "worker.cli", *arguments]
        said = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        return Said(said.returncode, said.stdout, said.stderr)
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name) / "out", Path(name) / "err"
        process = _CONTEXT.Process(target=_command, args=(arguments, dict(env), out, err))
        process.start()
        process.join(TIMEOUT_S)
        code = process.exitcode
        if code is None:
            process.kill()
            process.join()
        process.close()
        wrote = [path.read_text(encoding="utf-8") for path in (out, err)]
        if code is None:
            told = "\n".join(wrote)
            raise TimeoutError(f"`assay {' '.join(arguments)}` runs for {TIMEOUT_S:.0f} s: {told}")
        return Said(code, *wrote)


def _command(arguments: tuple[str, ...], env: Mapping[str, str], out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
    from worker.cli.main import cli

    cli(arguments, prog_name="assay")
