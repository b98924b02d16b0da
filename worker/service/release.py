"""What a worker that died was at is free for others at once, where somebody saw it die.

Elsewhere its lease runs out by itself (`worker.turn.leasing`).
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from typing import cast

from rq import Worker
from rq.exceptions import NoSuchJobError
from rq.serializers import JSONSerializer

from worker.service.allowed_jobs import PlainJob, refusal
from worker.service.context import Context
from worker.service.job_data import JOB

# By this `assay up` tells a child what it is called, so that it knows whose lease is whose.
PROCESS = "ASSAY_PROCESS"


def new_name() -> str:
    """A name that no other process has or had, on this machine or another one."""
    return f"{socket.gethostname()}-{secrets.token_hex(8)}"


def own_name(environ: Mapping[str, str] = os.environ) -> str:
    """What this process is called, as a worker of RQ and by the holders of its leases."""
    return environ.get(PROCESS) or new_name()


def release(context: Context, process: str) -> str | None:
    """Free the assessment that a worker was at, and ask for another turn of it; return its id.

    Only for who knows that the process is dead: a living one could be importing. What it sent last
    may still be under way; its claims are in doubt, and nobody sends them again before that is
    over.

    Raises:
        RedisError: the server is away; the lease runs out by itself.
    """
    key = f"{Worker.redis_worker_namespace_prefix}{process}"
    job_id = cast("bytes | None", context.jobs.hget(key, "current_job"))
    if job_id is None:
        return None
    try:
        job = PlainJob.fetch(job_id.decode(errors="replace"), context.jobs, JSONSerializer)
    except NoSuchJobError:
        return None
    if refusal(job, {JOB}) is not None:
        return None
    assessment = str(job.args[0])
    context.ledger(assessment).release_lease(process)
    context.take_up(assessment, process)
    return assessment
