"""The service as real processes with a home of their own, and what it knows, for live tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from connector.local import LabelStudioServer
from connector.supervised import tied
from tests import commands
from tests.commands import Said
from worker.report.status import status_of
from worker.service.context import Context
from worker.service.embedded import embedded_url
from worker.store.records import Record, load
from worker.store.rules import Rules
from worker.store.settings import Settings

Found = TypeVar("Found")
Json = dict[str, Any]

# Longer than a worker's lease, which a killed worker takes with it.
PATIENCE_S = 300.0
# Settings of ours that a test must not inherit.
_OURS = ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "REDIS_URL", "ASSAY_STATE_URL")


@dataclass(slots=True)
class Service:
    """A home folder and a Label Studio to work with; `env` is what every process of it gets."""

    home: Path
    env: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _context: Context | None = None

    # --- processes ---------------------------------------------------------------------------

    def run(self, *arguments: str, **more: str) -> Said:
        """Run one command to its end, with `more` in its environment."""
        return commands.run(arguments, self.env | more)

    def json(self, *arguments: str) -> Any:
        """Run one command that must succeed; return the JSON that it prints."""
        said = self.run(*arguments, "--json")
        assert said.code == 0, said.err
        return json.loads(said.out)

    def begin(self, plan: Path) -> int:
        """Start an assessment; return its project."""
        return int(self.json("start", str(plan))["project"])

    def spawn(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a process that stays until `end` or the end of the test."""
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / f"{arguments[0]}.log").open("ab") as log:
            process = subprocess.Popen(
                tied([sys.executable, "-m", "worker.cli", *arguments]),
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def spawn_all(self, *options: str) -> subprocess.Popen[bytes]:
        """Start `assay up`, with one worker unless asked, and wait until all its processes run."""
        process = self.spawn("up", "--port", "0", "--every", "1", "--workers", "1", *options)
        eventually(lambda: "worker-1" in self.pids())
        eventually(lambda: self.context.state.get("assay:receiver"))
        return process

    def pids(self) -> dict[str, int]:
        """The processes of `assay up`, by their names."""
        with suppress(FileNotFoundError):
            lines = (self.home / "up.pids").read_text(encoding="utf-8").splitlines()
            return {name: int(pid) for name, pid in (line.split() for line in lines)}
        return {}

    def end(self, process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
        """Signal a process of ours and wait until it is gone."""
        if process.poll() is None:
            process.send_signal(number)
        process.wait(commands.TIMEOUT_S)
        self.processes.remove(process)

    def close(self) -> None:
        """End everything, the newest first."""
        if self._context is not None:
            self._context.close()
        for process in reversed(list(self.processes)):
            self.end(process)

    # --- what it knows -----------------------------------------------------------------------

    @property
    def context(self) -> Context:
        """Our own connection to the server that the processes started."""
        if self._context is None:
            eventually(lambda: (self.home / "valkey").exists())
            self._context = Context(Settings(self.home, None, None), embedded_url(self.home))
        return self._context

    def status(self, assessment: str) -> Json:
        """Where an assessment stands."""
        return status_of(self.context, assessment).as_json()

    def labels(self, assessment: str) -> int:
        """How many items have an outcome."""
        return int(sum(self.context.ledger(assessment).state().tally.values()))

    def state_of(self, assessment: str, item: str) -> str:
        """Where one item is on its way: intended, open, labelled, ..."""
        return self.records(assessment)[item].state(Rules())

    def records(self, assessment: str) -> dict[str, Record]:
        """All claimed items with their tasks, judgements and outcomes."""
        records = (load(text) for text in self.context.ledger(assessment).every_record())
        return {record.item: record for record in records}

    def decision_file(self, assessment: str) -> Json:
        """What stands in decision.json."""
        path = self.context.folder(assessment) / "decision.json"
        value: Json = json.loads(path.read_text(encoding="utf-8"))
        return value


@contextmanager
def service(
    home: Path, studio: LabelStudioServer, more: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """A service that has no process yet; at the end all of its processes are ended."""
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    env = kept | {
        "ASSAY_HOME": str(home),
        "LABEL_STUDIO_URL": studio.url,
        "LABEL_STUDIO_API_KEY": studio.token,
        "ASSAY_WEBHOOK_SECRET": "only-for-tests",
    }
    running = Service(home, env | dict(more or {}))
    try:
        yield running
    finally:
        running.close()


def eventually(look: Callable[[], Found | None], patience_s: float = PATIENCE_S) -> Found:
    """Look again and again until there is something; return it.

    Raises:
        AssertionError: nothing came; what was seen last is in the text.
    """
    deadline = time.monotonic() + patience_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"after {patience_s:.0f} s there is still {found!r}"
        time.sleep(0.1)
    return found
