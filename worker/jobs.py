"""What RQ runs: functions of a few lines, with ids as arguments, on an allow-list."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from contextlib import suppress

from redis.exceptions import RedisError
from rq.job import Job
from rq.queue import Queue
from rq.worker import SimpleWorker

from connector.errors import ConnectorError
from worker.errors import AssayError
from worker.loop import advance as take_turn
from worker.office import JOB, QUEUE, Office
from worker.simulate import spread

log = logging.getLogger(__name__)

ALLOWED = {JOB, spread.JOB}
# As many turns as one job takes while new wakes keep coming; then others get their share.
TURNS = 5

_office: Office | None = None
_process = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def open_office(office: Office) -> None:
    """Say which office the jobs of this process work in."""
    global _office
    _office = office


def advance(assessment: str) -> None:
    """Take turns of the loop until nobody asked for another one."""
    assert _office is not None, "a worker opens its office before it takes jobs"
    ledger = _office.ledger(assessment)
    try:
        _turns(_office, assessment)
    except (AssayError, ConnectorError) as error:
        # The watcher tries again; a failed job would only stand in the way.
        ledger.note(error=f"{type(error).__name__}: {error}")
        log.warning("%s: %s", assessment, error)
    except Exception as error:
        with suppress(RedisError):
            ledger.note(error=f"{type(error).__name__}: {error}")
        raise


def _turns(office: Office, assessment: str) -> None:
    ledger = office.ledger(assessment)
    for _ in range(TURNS):
        begun = ledger.wake()
        case = office.case(assessment)
        folder = office.folder(assessment)
        # A name for the turn: after an import in doubt this worker waits as others do.
        holder = f"{_process}-{begun}"
        verdict = take_turn(case.assessment, case.header, ledger, case.desk, folder, holder)
        if verdict is None:
            return  # the one who is at it sees that the count grew, and takes another turn
        if ledger.notes().get("error"):
            ledger.note(error="")
        if ledger.wakes() == begun:
            return
    office.wake(assessment)


class AssayWorker(SimpleWorker):
    """An RQ worker that runs what is on the allow-list, in its own process.

    It does not fork: a turn takes less time than a fork, and what a process learns (the mapped
    pool, the access token, the open connection, computed distributions) stays for the next one.
    """

    def perform_job(self, job: Job, queue: Queue) -> bool:
        if job.func_name in ALLOWED:
            return bool(super().perform_job(job, queue))
        log.error("refused the job %s: %s is not on the allow-list", job.id, job.func_name)
        self.handle_job_failure(job, queue, exc_string=f"{job.func_name} is not allowed here")
        return False


def work(office: Office, *, burst: bool = False) -> None:
    """Take jobs until told to stop (SIGTERM and Ctrl-C let the running turn end)."""
    from rq.serializers import JSONSerializer

    open_office(office)
    # Runs of simulations only while no assessment asks for a turn.
    queues = [
        Queue(q, connection=office.jobs, serializer=JSONSerializer) for q in (QUEUE, spread.QUEUE)
    ]
    worker = AssayWorker(
        queues,
        connection=office.jobs,
        serializer=JSONSerializer,
        worker_ttl=30,
        maintenance_interval=30,
    )
    worker.max_connection_wait_time = 2
    worker.work(burst=burst, logging_level="WARNING")
