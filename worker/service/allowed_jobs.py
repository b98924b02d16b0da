"""Which jobs a worker takes: RQ would import, call and fetch whatever a job in Redis names.

A job is a hash that anybody who can write to Redis may plant. Its function is checked against a
list; callbacks and webhooks, which RQ takes from the same hash (also to tidy up), are dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job

log = logging.getLogger(__name__)

# Fields of a job by which RQ calls a function or an address; none of our jobs has one.
_CALLING = (
    b"success_callback_name",
    b"failure_callback_name",
    b"stopped_callback_name",
    b"webhooks",
)


class PlainJob(Job):
    """A job that is a function and its arguments, and nothing that follows from it."""

    def restore(self, raw_data: Mapping[bytes, bytes]) -> Any:
        """Read the job from its hash, without what would be called after it.

        Raises:
            NoSuchJobError: it is not readable; RQ passes over it, where any other error would end
                the worker.
        """
        planted = [name.decode() for name in _CALLING if raw_data.get(name)]
        if planted:
            log.error("dropped %s of the job %s: none of ours has it", ", ".join(planted), self.id)
        kept = {name: value for name, value in raw_data.items() if name not in _CALLING}
        try:
            return super().restore(kept)
        except NoSuchJobError:
            raise
        except Exception as error:
            log.error("passed over the job %s: it is not readable (%r)", self.id, error)
            raise NoSuchJobError(f"job {self.id} is not readable") from error


def refusal(job: Job, allowed: Collection[str]) -> str | None:
    """Why a job is not to be run; None if it may be.

    Args:
        allowed: dotted names of functions. Those of RQ's other kinds of calls (a method of an
            object that the job carries, named arguments) are none of ours.
    """
    try:
        name, instance, args, kwargs = job.func_name, job.instance, job.args, job.kwargs
    except DeserializationError:
        return "what it holds is not JSON of a function and its arguments"
    if not isinstance(name, str) or name not in allowed:
        return f"{name} is not on the allow-list"
    if instance is not None or kwargs or not isinstance(args, list) or not args:
        return f"{name} does not take these arguments"
    return None
