"""The jobs of an assessment as RQ keeps them: their functions, ids and time limits."""

from __future__ import annotations

from typing import Any

QUEUE = "assay"
JOB = "worker.jobs.advance"
REPORT_JOB = "worker.jobs.report"
DELIVER_JOB = "worker.jobs.deliver"
JOB_TIMEOUT_S = 180
REPORT_TIMEOUT_S = 60


def name_of(job: str, assessment: str, suffix: str) -> str:
    """The id of a job: one of the same id is not put in twice."""
    return f"{job.rpartition('.')[2]}-{assessment}-{suffix}"


def described(
    job: str, assessment: str, suffix: str, *more: int, timeout_s: int = JOB_TIMEOUT_S
) -> dict[str, Any]:
    """What RQ is told of a job."""
    return {
        "func": job,
        "args": [assessment, *more],
        "job_id": name_of(job, assessment, suffix),
        "timeout": timeout_s,
        "result_ttl": 0,
        "failure_ttl": 60,
        "description": f"{job.rpartition('.')[2]} {assessment}",
    }
