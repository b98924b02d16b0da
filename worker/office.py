"""What a process of ours has at hand: the server's connections and the assessments on it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from connector.desk import Desk, LabelStudioDesk
from connector.desk import connect as connect_label_studio
from connector.labels import Schema
from connector.settings import label_studio_settings
from worker.assessment import Assessment, reopen
from worker.errors import AssayError
from worker.ledger import Header, Ledger, ValkeyLedger
from worker.server import connect
from worker.settings import Settings

QUEUE = "assay"
INDEX = "assay:index"
JOB = "worker.jobs.advance"
JOB_TIMEOUT_S = 180


class NoSuchAssessment(AssayError):
    """The id names no assessment on this server."""


@dataclass(frozen=True, slots=True)
class Case:
    """One assessment with everything that a turn needs."""

    assessment: Assessment
    header: Header
    ledger: Ledger
    desk: Desk


class Office:
    """The connections of one process. Assessments stay open: their pool and token are kept."""

    def __init__(self, settings: Settings, url: str, *, is_patient: bool = True) -> None:
        self.settings = settings
        self.url = url
        self.state: Redis = connect(settings.state_url or url, is_patient=is_patient)
        self._jobs: Redis = connect(url, text=False, is_patient=is_patient)
        self._queue = Queue(QUEUE, connection=self._jobs, serializer=JSONSerializer)
        self._cases: dict[str, Case] = {}

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

    def enter(self, assessment: str) -> None:
        """Put a new assessment on the list."""
        self.state.sadd(INDEX, assessment)

    def ledger(self, assessment: str) -> ValkeyLedger:
        return ValkeyLedger(self.state, assessment)

    def header(self, assessment: str) -> Header:
        """The header of an assessment that exists.

        Raises:
            NoSuchAssessment: says which there are.
        """
        header = self.ledger(assessment).header()
        if header is None:
            known = ", ".join(self.ids()) or "none yet; `assay start PLAN` begins one"
            raise NoSuchAssessment(
                f"There is no assessment {assessment!r} here; there is: {known}."
            )
        return header

    def case(self, assessment: str) -> Case:
        """Open an assessment, or return it if it is open.

        Raises:
            NoSuchAssessment, PoolChanged, ConnectorError.
        """
        case = self._cases.get(assessment)
        if case is None:
            header = self.header(assessment)
            self._cases[assessment] = case = Case(
                reopen(header, self.settings.pools),
                header,
                self.ledger(assessment),
                desk_of(header),
            )
        return case

    def folder(self, assessment: str) -> Path:
        return self.settings.folder(assessment)

    def wake(self, assessment: str) -> bool:
        """Ask for a turn; False if there is no such assessment.

        Wakes before the turn begins are one job: its id carries the count of turns begun, so that
        a wake during a running turn asks for another one.
        """
        if not self.state.sismember(INDEX, assessment):
            return False
        self._enqueue(assessment, f"{self.ledger(assessment).wakes()}")
        return True

    def nudge(self, assessment: str, every_s: float) -> None:
        """Ask for a turn whatever became of earlier jobs: RQ can lose one, whose id then blocks."""
        slot = int(datetime.now(UTC).timestamp() / every_s)
        self._enqueue(assessment, f"slot{slot}")

    def _enqueue(self, assessment: str, suffix: str) -> None:
        with suppress(DuplicateJobError):  # it is waiting already
            self._queue.enqueue_call(
                JOB,
                args=[assessment],
                job_id=f"advance-{assessment}-{suffix}",
                unique=True,
                timeout=JOB_TIMEOUT_S,
                result_ttl=0,
                failure_ttl=60,
                description=f"advance {assessment}",
            )


def desk_of(header: Header) -> LabelStudioDesk:
    """Open the desk of the project that a header names."""
    settings = label_studio_settings(header.url)
    schema = Schema(header.control, header.to_name, header.labels)
    return LabelStudioDesk(connect_label_studio(settings), settings.url, header.project, schema)
