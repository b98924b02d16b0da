"""What RQ runs: functions of a few lines, with ids as arguments, on an allow-list."""

from __future__ import annotations

import logging
import signal
import time
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError
from rq.job import Job
from rq.queue import Queue
from rq.worker import SimpleWorker

from connector.errors import ConnectorError
from worker.errors import AssayError
from worker.notices import outbox
from worker.notices.happenings import note_decisions
from worker.notices.sending import send
from worker.plan import stored_plan
from worker.service.allowed_jobs import PlainJob, refusal
from worker.service.context import Context
from worker.service.counters import count_failure, count_turn, webhooks
from worker.service.job_data import DELIVER_JOB, JOB, QUEUE, REPORT_JOB
from worker.service.logs import at_work, now_at
from worker.service.readable import readable
from worker.service.release import own_name
from worker.simulate import spread
from worker.turn.loop import advance as take_turn

log = logging.getLogger(__name__)

ALLOWED = {JOB, REPORT_JOB, DELIVER_JOB, spread.JOB}
# As many turns as one job takes while new wakes keep coming; then others get their share.
TURNS = 5

_opened: Context | None = None
_process = own_name()


def open_context(context: Context) -> None:
    """Say which context the jobs of this process work in."""
    global _opened
    _opened = context


def _context() -> Context:
    if _opened is None:
        raise RuntimeError("a worker opens its context before it takes jobs")
    return _opened


def advance(assessment: str) -> None:
    """Take turns of the loop until nobody asked for another one."""
    context = _context()
    ledger = context.ledger(assessment)
    try:
        _turns(context, assessment)
    except (AssayError, ConnectorError) as error:
        # The watcher tries again; a failed job would only stand in the way.
        ledger.set_metadata(error=f"{type(error).__name__}: {error}")
        count_failure(context.state, assessment)
        log.warning("%s: %s", assessment, error)
    except Exception as error:
        with suppress(RedisError):
            ledger.set_metadata(error=f"{type(error).__name__}: {error}")
            count_failure(context.state, assessment)
        raise


def _turns(context: Context, assessment: str) -> None:
    ledger = context.ledger(assessment)
    for _ in range(TURNS):
        with readable(assessment):  # first: scripts that count on end half-way where they cannot
            now_at(revision=ledger.revision())
            begun = ledger.wake()
        case = context.case(assessment)
        folder = context.folder(assessment)
        # A name for the turn: what an earlier one of this worker left is not its own.
        holder = f"{_process}-{begun}"
        heard, began_s = webhooks(context.state, assessment), time.perf_counter()
        verdict = take_turn(case.assessment, case.header, ledger, case.desk, folder, holder)
        if verdict is None:
            return  # the one who is at it sees that the count grew, and takes another turn
        took_s = time.perf_counter() - began_s
        count_turn(context.state, assessment, took_s, heard)
        note_decisions(ledger, case.assessment.plan)
        if log.isEnabledFor(logging.INFO):
            now_at(revision=ledger.revision())
            facts = {"labels": verdict.labels, "seconds": round(took_s, 4)}
            log.info("turn taken", extra={"facts": facts})
        if ledger.metadata().get("error"):
            ledger.set_metadata(error="")
        if ledger.wakes() == begun:
            return
    context.wake(assessment)


def report(assessment: str, slot: int) -> None:
    """Make the report of a slot."""
    from worker.report.making import make_scheduled  # pictures take long to import

    context = _context()
    try:
        make_scheduled(context, assessment, slot)
    except Exception as error:
        # The watcher asks again, and tells people if it lasts.
        with suppress(RedisError):
            text = f"no report could be made: {type(error).__name__}: {error}"
            context.ledger(assessment).set_metadata(report_error=text)
        log.warning("%s: no report could be made: %s", assessment, error)
        if not isinstance(error, AssayError | OSError):
            raise


def deliver(assessment: str) -> None:
    """Try to deliver what is due in the outbox."""
    context = _context()
    plan = stored_plan(context.header(assessment).plan)
    outbox.deliver(context.ledger(assessment), plan, send, time.time)


class AssayWorker(SimpleWorker):
    """An RQ worker that runs what is on the allow-list, in its own process.

    It does not fork: a turn takes less time than a fork, and what a process learns (the mapped
    pool, the access token, the open connection, computed distributions) stays for the next one.
    """

    is_interrupted = False  # told to stop by Ctrl-C

    def request_stop(self, signum: Any, frame: Any) -> None:
        self.is_interrupted = signum == signal.SIGINT
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def perform_job(self, job: Job, queue: Queue) -> bool:
        why = refusal(job, ALLOWED)
        if why is None:
            about = {"assessment": str(job.args[0])} if job.func_name == JOB else {}
            with at_work(job=job.id, **about):
                return bool(super().perform_job(job, queue))
        log.error("refused the job %s: %s", job.id, why)
        job.retries_left = None  # a refused job must not come again and again
        self.handle_job_failure(job, queue, exc_string=f"refused: {why}")
        return False


def work(context: Context, *, burst: bool = False) -> bool:
    """Take jobs until told to stop (SIGTERM and Ctrl-C let the running turn end).

    Returns:
        Whether it was Ctrl-C.
    """
    from rq.serializers import JSONSerializer

    open_context(context)
    # Runs of simulations only while no assessment asks for a turn.
    queues = [
        Queue(q, connection=context.jobs, serializer=JSONSerializer, job_class=PlainJob)
        for q in (QUEUE, spread.QUEUE)
    ]
    worker = AssayWorker(
        queues,
        name=_process,
        connection=context.jobs,
        serializer=JSONSerializer,
        job_class=PlainJob,
        worker_ttl=30,
        maintenance_interval=30,
    )
    worker.max_connection_wait_time = 2
    worker.work(burst=burst, logging_level="WARNING")
    return worker.is_interrupted
