"""The command at a terminal: colours, Ctrl-C and completion; and what scripts get instead."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.worker.cli.commands import CSV, PLAN

ROOT = Path(__file__).parents[3]
PATIENCE_S = 240.0
AGAIN_S = 20.0
RED, YELLOW, BOLD = "\x1b[31m", "\x1b[33m", "\x1b[1m"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with an empty home, without Label Studio."""
    (tmp_path / "p.csv").write_text(CSV)
    (tmp_path / "plan.yaml").write_text(PLAN)
    left_out = ("REDIS_URL", "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "ASSAY_STATE_URL")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    home = {"ASSAY_HOME": str(tmp_path / "home"), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    return {**kept, **home, "NO_COLOR": ""}


@dataclass(slots=True)
class Terminal:
    """A command whose input and outputs are one terminal."""

    command: subprocess.Popen[bytes]
    ours: int
    seen: str = field(default="")
    pressed_at: float = float("inf")  # Ctrl-C

    def read_until(self, pattern: str) -> None:
        """Read on until something is shown.

        Raises:
            AssertionError: it ended, or waits, without it.
        """
        until = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.seen):
            assert time.monotonic() < until, self.seen
            assert self._read_some() or self.command.poll() is None, self.seen

    def interrupt(self) -> None:
        """Press Ctrl-C: the terminal sends it to the command and to what it started."""
        os.write(self.ours, b"\x03")
        self.pressed_at = time.monotonic()

    def end(self) -> tuple[int, str]:
        """Read to the end; return exit code and all that was shown."""
        until = time.monotonic() + PATIENCE_S
        while self.command.poll() is None:
            assert time.monotonic() < until, self.seen
            self._read_some()
            # Python hears nothing of it in the instant before it waits for a key; a person
            # presses again
            if time.monotonic() - self.pressed_at > AGAIN_S:
                self.interrupt()
        while self._read_some():
            pass
        os.close(self.ours)
        return self.command.returncode, self.seen

    def _read_some(self) -> bool:
        if not select.select([self.ours], [], [], 0.2)[0]:
            return False
        with suppress(OSError):  # the other end is closed
            some = os.read(self.ours, 10_000)
            self.seen += some.decode(errors="replace")
            return bool(some)
        return False


def at_terminal(env: dict[str, str], folder: Path, *arguments: str, code: str = "") -> Terminal:
    """Start a command as a terminal's foreground process.

    Args:
        code: Python to run in place of the command.
    """
    ours, theirs = pty.openpty()
    first = ["-c", code] if code else ["-m", "worker.cli"]
    command = subprocess.Popen(
        [sys.executable, "-m", "tests.worker.cli.foreground", sys.executable, *first, *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=folder, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    return Terminal(command, ours)


def piped(env: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worker.cli", *arguments]
    return subprocess.run(
        command,
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_terminal_gets_colours(env: dict[str, str], tmp_path: Path) -> None:
    code, seen = at_terminal(env, tmp_path, "check", "nothing.yaml").end()
    assert code == 1
    assert f"{RED}{BOLD}Error:" in seen
    code, seen = at_terminal(env, tmp_path, "doctor").end()
    assert code == 1
    assert f"{RED}{BOLD}Problem:" in seen
    assert f"{YELLOW}{BOLD}Hint:" in seen


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_a_terminal_that_wants_no_colours_gets_none(
    env: dict[str, str], tmp_path: Path, more: dict[str, str]
) -> None:
    _, seen = at_terminal(env | more, tmp_path, "doctor").end()
    assert "Problem:" in seen
    assert "\x1b" not in seen


def test_pipes_and_scripts_get_no_colours(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("text}}", "text}, classes: [a, b, c]}"))
    for arguments in (["doctor"], ["doctor", "--json"], ["check", "plan.yaml"], ["status", "x"]):
        said = piped(env, tmp_path, *arguments)
        assert said.stdout + said.stderr
        assert "\x1b" not in said.stdout + said.stderr
    _, seen = at_terminal(env, tmp_path, "doctor", "--json").end()
    assert "\x1b" not in seen
    assert json.loads(seen)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["status", "nobody", "--json"], 1, "nobody"),
        (["check", "nothing.yaml", "--json"], 1, "nothing.yaml"),
        (["forget", "../x", "--yes", "--json"], 1, "x"),
        (["status", "--jsn", "--json"], 2, "--jsn"),
        (["check", "--json"], 2, "PLAN"),
        (["nonsense", "--json"], 2, "nonsense"),
    ],
)
def test_with_json_an_error_is_one_object_where_a_script_reads_the_result(
    assay, arguments: list[str], code: int, told: str
) -> None:
    result = assay(*arguments)
    assert result.exit_code == code
    value = json.loads(result.stdout)
    assert list(value) == ["error"]
    assert told in value["error"]
    assert result.stderr == ""


def test_wrong_use_says_how_it_is_used_and_what_is_wrong(assay) -> None:
    result = assay("check")
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
    assert "Error: Missing argument 'PLAN'." in result.stderr
    assert assay().exit_code == 2
    assert assay().output.startswith("Usage: ")


def test_without_a_yes_nothing_is_taken_away(assay) -> None:
    result = assay("forget", "x")  # there is no answer
    assert result.exit_code == 1
    assert result.stderr.endswith("Error: without a yes nothing is changed.\n")


def test_ctrl_c_at_a_prompt_ends_quietly(env: dict[str, str], tmp_path: Path) -> None:
    terminal = at_terminal(env, tmp_path, "forget", "x")
    terminal.read_until("Take it away")
    terminal.interrupt()
    code, seen = terminal.end()
    assert code == 130
    assert "Abort" not in seen
    assert "Traceback" not in seen


# Both wait at a known place: while commands are loaded, and within one.
_LOADING = """
import builtins, sys
real = builtins.__import__
def slow(name, *rest):
    if name == "worker.cli.main":
        import time
        print("here", flush=True)
        time.sleep(600)
    return real(name, *rest)
builtins.__import__ = slow
from worker.cli.__main__ import main
main()
"""
_WORKING = """
import sys, time
from worker.setup import checking
def slow(*_):
    print("here", flush=True)
    time.sleep(600)
checking.check_plan = slow
sys.argv = ["assay", "check", "plan.yaml", *sys.argv[1:]]
from worker.cli.__main__ import main
main()
"""


# As a library does that was called back in the middle of its own work.
_TURNED = _WORKING.replace(
    "    time.sleep(600)\n",
    "    try:\n        time.sleep(600)\n    except KeyboardInterrupt:\n"
    "        raise TypeError('argument') from None\n",
)


@pytest.mark.parametrize(
    "code", [_LOADING, _WORKING, _TURNED], ids=["loading", "working", "turned into another error"]
)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["", "json"])
def test_ctrl_c_ends_any_command_with_130_and_no_word(
    env: dict[str, str], tmp_path: Path, code: str, more: list[str]
) -> None:
    terminal = at_terminal(env, tmp_path, *more, code=code)
    terminal.read_until("here")
    terminal.interrupt()
    assert terminal.end()[0] == 130
    assert re.sub(r"\s|here|\^C", "", terminal.seen) == ""


@pytest.mark.parametrize("command", ["worker", "watch", "serve"])
def test_ctrl_c_ends_what_runs_until_then_with_130_and_no_trace(
    env: dict[str, str], tmp_path: Path, command: str
) -> None:
    more = ["--port", "0"] if command == "serve" else []
    secret = {"ASSAY_WEBHOOK_SECRET": "only-for-tests"}
    terminal = at_terminal(env | secret, tmp_path, command, *more)
    until = time.monotonic() + PATIENCE_S
    while not (tmp_path / "home" / "valkey").exists():  # its imports are done
        assert time.monotonic() < until, terminal.seen
        time.sleep(0.05)
    if command == "serve":
        terminal.read_until("The dashboard is at")
    terminal.interrupt()
    code, seen = terminal.end()
    assert code == 130
    assert "Traceback" not in seen
    assert "Abort" not in seen


@pytest.mark.parametrize("command", ["worker", "watch", "serve"])
def test_ctrl_c_ends_it_at_once_while_its_server_is_not_up(
    env: dict[str, str], tmp_path: Path, command: str
) -> None:
    slow = tmp_path / "bin" / "valkey-server"
    slow.parent.mkdir()
    answer = 'if [ "$1" = --version ]; then echo v=9.0.0; else echo > begun; exec sleep 100; fi'
    slow.write_text(f"#!/bin/sh\n{answer}\n")
    slow.chmod(0o755)
    path = f"{slow.parent}:{env['PATH']}"
    terminal = at_terminal(
        env | {"ASSAY_WEBHOOK_SECRET": "only-for-tests", "PATH": path}, tmp_path, command
    )
    until = time.monotonic() + PATIENCE_S
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until, terminal.seen
        time.sleep(0.05)
    terminal.interrupt()
    code, seen = terminal.end()
    assert code == 130, seen
    assert "Error" not in seen


def test_a_person_is_asked_what_cannot_be_guessed_and_the_answer_is_in_the_plan(
    env: dict[str, str], tmp_path: Path
) -> None:
    rows = [f"{n},{'ab'[n % 2]},0.5,{n % 3}" for n in range(40)]
    (tmp_path / "q.csv").write_text("\n".join(["id,prediction,score,where", *rows]) + "\n")
    terminal = at_terminal(env, tmp_path, "init", "q.csv", "--plan", "q.yaml")
    terminal.read_until("Which column do annotators look at")
    os.write(terminal.ours, b"where\n")
    code, seen = terminal.end()
    assert code == 0, seen
    assert "data: {where: where}" in (tmp_path / "q.yaml").read_text()


def test_a_shell_completes_commands(env: dict[str, str], tmp_path: Path) -> None:
    """As the README has it, in a real bash."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "assay"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'assay'\n"
        "from worker.cli.__main__ import main\nmain()\n"
    )
    script.chmod(0o755)
    asked = (
        'eval "$(_ASSAY_COMPLETE=bash_source assay)" || exit 9\n'
        "COMP_WORDS=(assay pa); COMP_CWORD=1; _assay_completion assay pa assay\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    said = subprocess.run(
        ["bash", "--norc", "-c", asked],
        env=env | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert said.stdout == "pause\n", said.stderr
