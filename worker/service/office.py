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

from connector.labels import Schema
from connector.port import Desk
from connector.settings import label_studio_settings
from worker.assessment import Assessment, reopen
from worker.errors import AssayError
from worker.judgements.ratings import answers
from worker.ledger import Header, Ledger, ValkeyLedger
from worker.plan import stored_plan
from worker.queue.borrowing import Claimed
from worker.service.server import connect
from worker.service.settings import Settings

QUEUE = "assay"
INDEX = "assay:index"
JOB = "worker.jobs.advance"
REPORT_JOB = "worker.jobs.report"
DELIVER_JOB = "worker.jobs.deliver"
JOB_TIMEOUT_S = 180
REPORT_TIMEOUT_S = 60


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
                ledger := self.ledger(assessment),
                desk_of(header, ledger),
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
        self._enqueue(JOB, assessment, f"{self.ledger(assessment).wakes()}")
        return True

    def nudge(self, assessment: str, every_s: float) -> None:
        """Ask for a turn whatever became of earlier jobs: RQ can lose one, whose id then blocks."""
        slot = int(datetime.now(UTC).timestamp() / every_s)
        self._enqueue(JOB, assessment, f"slot{slot}")

    def ask_for_report(self, assessment: str, slot: int, now: float, every_s: float) -> None:
        """Ask for the report of a slot; again every `every_s`, whatever became of earlier jobs."""
        suffix = f"{slot}-{int(now / every_s)}"
        self._enqueue(REPORT_JOB, assessment, suffix, slot, timeout_s=REPORT_TIMEOUT_S)

    def ask_for_delivery(self, assessment: str, now: float, every_s: float) -> None:
        """Ask for the outbox to be delivered; again every `every_s`."""
        self._enqueue(DELIVER_JOB, assessment, f"{int(now / every_s)}")

    def _enqueue(
        self,
        job: str,
        assessment: str,
        suffix: str,
        *more: int,
        timeout_s: int = JOB_TIMEOUT_S,
    ) -> None:
        verb = job.rpartition(".")[2]
        with suppress(DuplicateJobError):  # it is waiting already
            self._queue.enqueue_call(
                job,
                args=[assessment, *more],
                job_id=f"{verb}-{assessment}-{suffix}",
                unique=True,
                timeout=timeout_s,
                result_ttl=0,
                failure_ttl=60,
                description=f"{verb} {assessment}",
            )


def desk_of(header: Header, ledger: Ledger) -> Desk:
    """Open the desk of the project that a header names.

    Args:
        ledger: of the assessment; it knows what was claimed.
    """
    # A report needs no desk, and must not wait for an HTTP client to load.
    from connector.desk import LabelStudioDesk
    from connector.desk import connect as connect_label_studio
    from connector.prioritised import PrioritisedDesk

    settings = label_studio_settings(header.url)
    plan = stored_plan(header.plan)
    _, bins = answers(plan, header.labels)
    schema = Schema(header.control, header.to_name, header.labels, bins)
    client, url, project = connect_label_studio(settings), settings.url, header.project
    if plan.queue.mode == "prioritise":
        claimed = Claimed(ledger)
        return PrioritisedDesk(client, url, project, schema, header.assessment, claimed)
    return LabelStudioDesk(client, url, project, schema)
