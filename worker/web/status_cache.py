"""What a process knows of the assessments: worked out once for every change, for all readers."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from rq import Queue
from rq.serializers import JSONSerializer

from worker.assessment import Assessment, reopen
from worker.findings.fates import open_tasks
from worker.report.scheduled import reports_folder
from worker.report.status import Status, status_of
from worker.service.context import Context
from worker.service.counters import Counters, counters
from worker.service.job_data import QUEUE
from worker.service.readable import readable
from worker.store import State
from worker.web.health import WorkerSeen, is_watched, workers
from worker.web.history import History

# What moves without any label (ages, heartbeats) is looked at anew this often.
PULSE_S = 5.0


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works, for all assessments together."""

    workers: tuple[WorkerSeen, ...]
    is_watched: bool
    jobs: tuple[str, ...]  # RQ's queue, next one first


@dataclass(frozen=True, slots=True)
class Traffic:
    """How the labels of one assessment move, at `now` (seconds since 1970)."""

    now: float
    state: State
    counted: Counters
    pending: int  # turns asked for and not begun
    open_items: int  # before the annotators
    open_tasks: int
    polled_at: float | None
    label_at: float | None  # by Label Studio's clock
    error: str


@dataclass(slots=True)
class _Known:
    lock: Lock = field(default_factory=Lock)
    work: Assessment | None = None
    glance: tuple[str, ...] = ()
    status: Status | None = None
    history: History = field(default_factory=History)


class StatusCache:
    """Reads the ledgers; keeps what is costly until the ledger changes. For many threads."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._known: defaultdict[str, _Known] = defaultdict(_Known)
        self._queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)

    def mark(self, assessment: str) -> str:
        """A text that differs after every change that a page shows.

        Raises:
            NoSuchAssessment.
        """
        with readable(assessment):
            glance = self.context.ledger(assessment).glance()
        if glance[0] == "None":
            self.context.header(assessment)
        known = self._known.get(assessment)
        steps = 0 if known is None else known.history.steps
        return ".".join((*glance, str(int(time.time() / PULSE_S)), str(steps)))

    def status(self, assessment: str) -> Status:
        """Where it stands; worked out by one thread while the others wait for it.

        Raises:
            NoSuchAssessment, PoolChanged, Unreadable.
        """
        with readable(assessment):
            return self._status(assessment)

    def _status(self, assessment: str) -> Status:
        known = self._known[assessment] if assessment in self._known else self._meet(assessment)
        glance = self.context.ledger(assessment).glance()
        with known.lock:
            if known.status is None or known.glance != glance:
                # The glance first: what changes in between is looked at again.
                glance = self.context.ledger(assessment).glance()
                header = self.context.header(assessment)
                known.work = known.work or reopen(header, self.context.settings.pools)
                known.status = status_of(self.context, assessment, known.work)
                known.glance = glance
            return known.status

    def work(self, assessment: str) -> Assessment:
        """The opened assessment."""
        self.status(assessment)
        work = self._known[assessment].work
        assert work is not None, "a status is worked out of an open assessment"
        return work

    def history(self, assessment: str, state: State) -> History:
        """The time before now, as far as it is worked out; a page that shows it goes on with it."""
        work, known = self.work(assessment), self._known[assessment]
        with readable(assessment), known.lock:
            known.history.follow(work, self.context.ledger(assessment), state)
        return known.history

    def crew(self) -> Crew:
        """Who works now."""
        return Crew(workers(self.context), is_watched(self.context), tuple(self._queue.job_ids))

    def traffic(self, assessment: str, crew: Crew) -> Traffic:
        """How its labels move now.

        Raises:
            Unreadable.
        """
        with readable(assessment):
            return self._traffic(assessment, crew)

    def _traffic(self, assessment: str, crew: Crew) -> Traffic:
        ledger = self.context.ledger(assessment)
        state = ledger.state()
        metadata, stamps = state.metadata, state.authors.values()
        shown = open_tasks(state)
        prefix = f"advance-{assessment}-"
        return Traffic(
            now=time.time(),
            state=state,
            counted=counters(self.context.state, assessment),
            pending=sum(
                job.startswith(prefix) and "-" not in job.removeprefix(prefix) for job in crew.jobs
            ),
            open_items=len(shown),
            open_tasks=sum(len(tasks) for tasks in shown),
            polled_at=metadata.get("polled_at"),
            label_at=max(stamps) / 1e6 if stamps else None,
            error=metadata.get("error", ""),
        )

    def reports(self, assessment: str) -> Path:
        """The folder of its reports; it may not be there yet."""
        return reports_folder(self.context, self.context.header(assessment))

    def _meet(self, assessment: str) -> _Known:
        self.context.header(assessment)  # before it is kept: anybody may ask for any name
        return self._known[assessment]
