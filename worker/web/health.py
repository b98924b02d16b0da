"""Is everything there that labels need to count: the server, a watcher, a worker."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from redis.exceptions import RedisError
from rq import Worker

from worker.service.context import Context
from worker.watcher import HEARTBEAT

# An idle worker gives a sign every 15 s; RQ itself forgets one that was killed after 90 s.
SILENT_S = 60.0


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """A worker's last sign of life."""

    name: str
    state: str
    job: str
    seen_s: float  # seconds ago


def workers(context: Context) -> tuple[WorkerSeen, ...]:
    """All workers that RQ knows, by name."""
    now, seen = datetime.now(UTC), list[WorkerSeen]()
    for key in Worker.all_keys(connection=context.jobs):
        try:
            worker = Worker.find_by_key(key, connection=context.jobs)
        except ValueError:  # whoever may write to Redis may plant one that is none
            continue
        if worker is None or worker.last_heartbeat is None:  # it died, or begins, at this moment
            continue
        heard = worker.last_heartbeat
        at = heard if heard.tzinfo else heard.replace(tzinfo=UTC)
        job = worker.get_current_job_id() or ""
        state = str(getattr(worker.get_state(), "value", worker.get_state()))
        seen.append(WorkerSeen(worker.name, state, job, (now - at).total_seconds()))
    return tuple(sorted(seen, key=lambda worker: worker.name))


def is_watched(context: Context) -> bool:
    """Whether some watcher gave a sign within the last minute."""
    return bool(context.state.exists(HEARTBEAT))


def unready(context: Context) -> list[str]:
    """What is missing, each with its cure; nothing if labels count."""
    try:
        context.state.ping()
        alive = [worker for worker in workers(context) if worker.seen_s < SILENT_S]
        watched = is_watched(context)
    except RedisError as error:
        return [f"the server that keeps the state is away ({type(error).__name__})"]
    missing = []
    if not watched:
        missing.append("no watcher: start `assay watch` (or `assay up`)")
    if not alive:
        missing.append("no worker: start `assay worker` (or `assay up`)")
    return missing
