"""What a process of ours has at hand: the server's connections and the assessments on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from connector.port import Desk
from worker.assessment import Assessment, reopen
from worker.errors import AssayError
from worker.service.desks import desk_of
from worker.service.job_data import (
    DELIVER_JOB,
    JOB,
    JOB_TIMEOUT_S,
    QUEUE,
    REPORT_JOB,
    REPORT_TIMEOUT_S,
    described,
    name_of,
)
from worker.service.readable import readable
from worker.service.server import connect
from worker.store import Header, Ledger
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger, keys_of

T = TypeVar("T")

INDEX = "assay:index"
# Longer than a turn that hangs keeps its lease (worker/turn/leasing.py); one that finds its keys
# gone imports nothing more.
TURN_ENDS_S = 30.0


class NoSuchAssessment(AssayError):
    """The id names no assessment on this server."""


@dataclass(frozen=True, slots=True)
class OpenAssessment:
    """One assessment with everything that a turn needs."""

    assessment: Assessment
    header: Header
    ledger: Ledger
    desk: Desk


class Context:
    """The connections of one process. Assessments stay open: their pool and token are kept."""

    def __init__(self, settings: Settings, url: str, *, is_patient: bool = True) -> None:
        self.settings = settings
        self.url = url
        self.state: Redis = connect(settings.state_url or url, is_patient=is_patient)
        self._jobs: Redis = connect(url, text=False, is_patient=is_patient)
        self._queue = Queue(QUEUE, connection=self._jobs, serializer=JSONSerializer)
        self._cases: dict[str, OpenAssessment] = {}

    def close(self) -> None:
        self.state.close()
        self._jobs.close()

    @property
    def jobs(self) -> Redis:
        """The connection for RQ."""
        return self._jobs

    def ids(self) -> list[str]:
        """All assessments on this server, sorted."""
        return sorted(cast("set[str]", self.state.smembers(INDEX)))

    def each(
        self, look: Callable[[str], T], ids: Iterable[str] | None = None
    ) -> Iterator[tuple[str, T | AssayError]]:
        """Look at every assessment, or these; of one that cannot be looked at, why.

        Raises:
            RedisError: the server is away.
        """
        for assessment in self.ids() if ids is None else ids:
            try:
                with readable(assessment):
                    found: T | AssayError = look(assessment)
            except AssayError as error:
                found = error
            yield assessment, found

    def enter(self, assessment: str) -> None:
        """Put a new assessment on the list."""
        self.state.sadd(INDEX, assessment)

    def forget(self, assessment: str) -> int:
        """Take an assessment off the list, and all that is kept of it; return how many keys.

        Its project in Label Studio, its pool, decision and reports stay. A turn that is under way
        ends first.

        Raises:
            NoSuchAssessment.
        """
        keys = keys_of(self.state, assessment)
        if not keys and assessment not in self.ids():
            self.header(assessment)
        self.state.srem(INDEX, assessment)
        ends = time.monotonic() + TURN_ENDS_S
        while self.state.exists(f"assay:{{{assessment}}}:lease") and time.monotonic() < ends:
            time.sleep(0.1)
        for key in keys_of(self.state, assessment):
            self.state.unlink(key)
        self._cases.pop(assessment, None)
        return len(keys)

    def ledger(self, assessment: str) -> ValkeyLedger:
        return ValkeyLedger(self.state, assessment)

    def header(self, assessment: str) -> Header:
        """The header of an assessment that exists.

        Raises:
            NoSuchAssessment: says which there are.
            Unreadable.
        """
        with readable(assessment):
            header = self.ledger(assessment).header()
        if header is None:
            known = ", ".join(self.ids()) or "none yet; `assay start PLAN` begins one"
            raise NoSuchAssessment(
                f"There is no assessment {assessment!r} here; there is: {known}."
            )
        return header

    def case(self, assessment: str) -> OpenAssessment:
        """Open an assessment, or return it if it is open.

        Raises:
            NoSuchAssessment, PoolChanged, ConnectorError.
        """
        case = self._cases.get(assessment)
        if case is None:
            header = self.header(assessment)
            ledger = self.ledger(assessment)
            with readable(assessment):
                work, desk = reopen(header, self.settings.pools), desk_of(header, ledger)
            self._cases[assessment] = case = OpenAssessment(work, header, ledger, desk)
        return case

    def folder(self, assessment: str) -> Path:
        return self.settings.folder(assessment)

    def wake(self, assessment: str) -> bool:
        """Ask for a turn; False if there is no such assessment."""
        if not self.state.sismember(INDEX, assessment):
            return False
        self.ask_for_turn(assessment, self.ledger(assessment).wakes())
        return True

    def ask_for_turn(self, assessment: str, wakes: int) -> None:
        """Ask for a turn of an assessment that there is.

        Wakes before the turn begins are one job: its id carries the count of turns begun, so that
        a wake during a running turn asks for another one.
        """
        self._enqueue(JOB, assessment, f"{wakes}")

    def ask_for_turns(self, wakes: Mapping[str, int]) -> None:
        """`ask_for_turn` of many in two trips to the server.

        A wake that comes between the two may leave its job in the queue twice; the second one finds
        nothing to do.
        """
        asked = {Job.key_for(name_of(JOB, one, f"{n}")): (one, n) for one, n in wakes.items()}
        with self._jobs.pipeline(transaction=False) as pipe:
            for key in asked:
                pipe.exists(key)
            is_there = pipe.execute() if asked else []
        new = [
            of for of, is_waiting in zip(asked.values(), is_there, strict=True) if not is_waiting
        ]
        if not new:
            return
        with self._jobs.pipeline(transaction=False) as pipe:
            about = [described(JOB, one, f"{n}") for one, n in new]
            self._queue.enqueue_many([Queue.prepare_data(**data) for data in about], pipeline=pipe)
            pipe.execute()

    @property
    def n_waiting(self) -> int:
        """How many jobs no worker has begun."""
        return self._queue.count

    def nudge(self, assessment: str, every_s: float) -> None:
        """Ask for a turn whatever became of earlier jobs: RQ can lose one, whose id then blocks."""
        slot = int(datetime.now(UTC).timestamp() / every_s)
        self._enqueue(JOB, assessment, f"slot{slot}", waits_s=every_s)

    def take_up(self, assessment: str, process: str) -> None:
        """Ask for a turn in place of one that a worker died at, once for that worker."""
        self._enqueue(JOB, assessment, f"after-{process}")

    def ask_for_report(self, assessment: str, slot: int, now: float, every_s: float) -> None:
        """Ask for the report of a slot; again every `every_s`, whatever became of earlier jobs."""
        suffix = f"{slot}-{int(now / every_s)}"
        self._enqueue(
            REPORT_JOB, assessment, suffix, slot, timeout_s=REPORT_TIMEOUT_S, waits_s=every_s
        )

    def ask_for_delivery(self, assessment: str, now: float, every_s: float) -> None:
        """Ask for the outbox to be delivered; again every `every_s`."""
        self._enqueue(DELIVER_JOB, assessment, f"{int(now / every_s)}", waits_s=every_s)

    def _enqueue(
        self,
        job: str,
        assessment: str,
        suffix: str,
        *more: int,
        timeout_s: int = JOB_TIMEOUT_S,
        waits_s: float | None = None,
    ) -> None:
        """Put a job into the queue unless one of its name is there.

        Args:
            waits_s: what is asked for again every so often waits twice as long at most, or a
                weekend without workers leaves hours of the same job.
        """
        data = described(job, assessment, suffix, *more, timeout_s=timeout_s)
        ttl = None if waits_s is None else max(1, round(2 * waits_s))
        with suppress(DuplicateJobError):  # it is waiting already
            self._queue.enqueue_call(**data, ttl=ttl, unique=True)
