"""`assay up`: everything on one machine; whatever dies is started again."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from redis.exceptions import RedisError

from connector.own import write_private
from connector.settings import secret
from connector.supervised import tied
from worker.files import write_whole
from worker.service.context import Context
from worker.service.embedded import ensure_running
from worker.service.release import PROCESS, new_name, release
from worker.store.settings import Settings

# A child that dies at once is started again ever more slowly, so that a lasting fault (a port that
# is taken) neither floods the log nor the machine.
SLOWEST_RESTART_S = 10.0
# Who lived so long did not die at once: somebody killed it, and people wait for it.
STEADY_S = 10.0
GRACE_S = 15.0


@dataclass(slots=True)
class _Child:
    name: str
    arguments: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None
    called: str = ""  # a name for each process that was started
    began: float = 0.0
    wait_s: float = 0.0
    failures: int = field(default=0)


def environment(settings: Settings) -> dict[str, str]:
    """What our children need: the same home, a webhook secret for this run, a dashboard's token.

    The token stays from run to run, in a file that only its user may read.
    """
    env = dict(os.environ)
    env["ASSAY_HOME"] = str(settings.home)
    if secret("ASSAY_WEBHOOK_SECRET", env) is None:
        env["ASSAY_WEBHOOK_SECRET"] = secrets.token_hex(24)
    if secret("ASSAY_DASHBOARD_TOKEN", env) is None:
        kept = settings.home / "dashboard-token"
        if not kept.exists():
            write_private(kept, secrets.token_urlsafe(24) + "\n")
        env["ASSAY_DASHBOARD_TOKEN_FILE"] = str(kept)
    return env


def keep_up(
    context: Context,
    env: dict[str, str],
    children: Sequence[tuple[str, Sequence[str]]],
    say: Callable[[str], None],
    stop: Event,
    pids: Path,
    looks: Sequence[Callable[[], None]] = (),
) -> None:
    """Start the children and keep them running until `stop` is set; then end them in order.

    Args:
        context: for what a child that died was at.
        children: name and arguments of `assay` for each.
        pids: a file that always holds "name pid" lines of what runs.
        looks: called in every round, which they should not hold up for long.
    """
    settings = context.settings
    family = [_Child(name, tuple(arguments)) for name, arguments in children]
    try:
        while not stop.is_set():
            if settings.redis_url is None and ensure_running(settings.home) is not None:
                say("The embedded server had gone and was started again.")
            for child in family:
                _tend(child, context, env, say)
            _write_pids(pids, family)
            for look in looks:
                look()
            stop.wait(0.3)
    finally:
        _end(family)
        pids.unlink(missing_ok=True)


def _tend(child: _Child, context: Context, env: dict[str, str], say: Callable[[str], None]) -> None:
    now = time.monotonic()
    if child.process is not None and child.process.poll() is None:
        if now - child.began > STEADY_S:
            child.failures = 0
        return
    if child.process is not None:
        say(f"{child.name} ended ({child.process.returncode}); starting it again.")
        with suppress(RedisError):  # the lease runs out by itself
            release(context, child.called)
        child.failures += 1
        child.wait_s = min(SLOWEST_RESTART_S, 0.2 * 2**child.failures) if child.failures > 1 else 0
        child.process = None
    if now - child.began < child.wait_s:
        return
    child.began, child.called = now, new_name()
    child.process = subprocess.Popen(
        tied(command_of(child.name, child.arguments)),
        env=env | {PROCESS: child.called},
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches us alone; we end them in order
    )


def command_of(_name: str, arguments: Sequence[str]) -> list[str]:
    """Return what a child runs: `assay` with its arguments."""
    return [sys.executable, "-m", "worker.cli", *arguments]


def _write_pids(path: Path, family: Sequence[_Child]) -> None:
    lines = [f"{c.name} {c.process.pid}" for c in family if c.process is not None]
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)


def _end(family: Sequence[_Child]) -> None:
    running = [c.process for c in family if c.process is not None and c.process.poll() is None]
    for process in running:
        process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
