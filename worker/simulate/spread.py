"""Takes the runs of a simulation on all cores of this machine, or on RQ workers of many.

A run is fixed by its case and its number: it comes out the same wherever it is taken.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import uuid
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from rq import Queue, Worker
from rq.job import Job, Retry
from rq.serializers import JSONSerializer

from connector.supervised import tie_to
from worker.errors import AssayError
from worker.pool import publish
from worker.service.context import Context
from worker.simulate.cases import Case, replay_run
from worker.simulate.measuring import Run, as_run
from worker.store.settings import ONE_THREAD

Runs = Generator[tuple[int, Run], None, None]

QUEUE = "assay-simulate"
JOB = "worker.simulate.cases.replay_run"
JOB_TIMEOUT_S = 1800  # one run; a slow strategy takes a minute on a large pool
PATIENCE_S = 60.0
_POLL_S = 0.25
_AT_ONCE = 500  # jobs looked at in one poll


class RunFailed(AssayError):
    """A run that a worker took did not end well."""


def n_cores() -> int:
    """How many cores this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def here(cases: Sequence[Case], n_runs: int, n_processes: int | None = None) -> Runs:
    """Take the runs on this machine; yield each with its case's index as soon as it is finished.

    All cases advance together, so that what is finished at any moment can be compared.

    Args:
        n_runs: of every case, >= 1.
        n_processes: all cores if None; 1 takes the runs in this process.
    """
    orders = [asdict(case) for case in cases]
    wanted = [(number, at) for number in range(n_runs) for at in range(len(cases))]
    n_processes = min(n_processes or n_cores(), len(wanted))
    if n_processes == 1:
        for number, at in wanted:
            yield at, as_run(replay_run(orders[at], number))
        return
    with _processes(n_processes) as executor:
        futures = {executor.submit(replay_run, orders[at], n): at for n, at in wanted}
        try:
            for future in as_completed(futures):
                yield futures[future], as_run(future.result())
        except BrokenProcessPool as error:
            raise RunFailed(
                "a process that took runs was killed, perhaps for want of memory; simulate again "
                "with fewer --processes."
            ) from error


@contextmanager
def _processes(n_processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once when the block is left before its end, as by Ctrl-C.

    And with us, however we die. Those of loky (3.7), which would take the place of this and of
    `follow`, were still there a minute after their parent had been killed.
    """
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    others = set(multiprocessing.active_children())
    # Forking a process with threads, such as pyarrow's, may hang.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(
        n_processes, context, initializer=follow, initargs=(os.getpid(),)
    )
    os.environ.update(ONE_THREAD)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        executor.shutdown()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def follow(parent: int) -> None:
    """Leave it to the parent when a process of a pool ends, and end with it."""
    # Ctrl-C reaches the whole terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tie_to(parent)


def over_rq(
    cases: Sequence[Case], n_runs: int, context: Context, patience_s: float = PATIENCE_S
) -> Runs:
    """As `here`, but RQ workers take the runs; they must reach the compiled pools.

    Where there is a store of pools, they fetch them from there.

    Args:
        patience_s: how long nobody may be there to take them.

    Raises:
        RunFailed: a run failed, or there is no worker.
        StoreFailed: the pools cannot be published.
    """
    if (store := context.settings.pool_store) is not None:
        for file in {name for case in cases for name in (case.pool, case.truth) if name}:
            publish(Path(file), store)
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    name = f"simulate-{uuid.uuid4().hex[:12]}"
    orders = [asdict(case) for case in cases]
    waiting = {}
    try:
        for number in range(n_runs):
            for at, order in enumerate(orders):
                job = queue.enqueue_call(
                    JOB,
                    args=[order, number],
                    job_id=f"{name}-{at}-{number}",
                    timeout=JOB_TIMEOUT_S,
                    result_ttl=24 * 3600,
                    failure_ttl=3600,
                    retry=Retry(max=1),  # its worker may be killed
                    description=f"simulate run {number}",
                )
                waiting[job.id] = at
        yield from _finished(waiting, context, patience_s)
    finally:
        for left in _jobs(list(waiting), context):
            if left is not None:
                _drop(left)


def _finished(waiting: dict[str, int], context: Context, patience_s: float) -> Runs:
    """Yield what comes back, and take it off `waiting`."""
    seen = time.monotonic()
    while waiting:
        for job in _jobs(list(waiting)[:_AT_ONCE], context):
            if job is None:
                raise RunFailed(
                    f"a run's job is gone from {QUEUE}: somebody emptied the queue. Simulate again."
                )
            if job.is_failed:
                result = job.latest_result()
                reason = (result.exc_string if result else None) or "no reason is known"
                raise RunFailed(
                    f"a worker failed at {job.description}: {reason.strip().splitlines()[-1]}. All "
                    "workers need this release of Assay, and the compiled pools: under the same "
                    "path, in their ASSAY_HOME, or in one ASSAY_POOL_STORE of all."
                )
            if job.is_finished and (result := job.latest_result()) is not None:
                at = waiting.pop(job.id)
                _drop(job)
                seen = time.monotonic()
                yield at, as_run(cast("dict[str, Any]", result.return_value))
        if Worker.count(queue=Queue(QUEUE, connection=context.jobs)):
            seen = time.monotonic()
        elif time.monotonic() - seen > patience_s:
            raise RunFailed(
                f"no worker took a run for {patience_s:.0f} s; begin some with `assay worker`, "
                "on as many machines as you like, or leave out --rq."
            )
        time.sleep(_POLL_S)


def _drop(job: Job) -> None:
    """Delete a job, whatever its worker does meanwhile."""
    try:
        job.delete()
    except ValueError:
        # RQ lists a job's executions, then reads each: one ended in between, or its worker is dead.
        job.connection.delete(job.execution_registry.key)
        job.delete()


def _jobs(ids: list[str], context: Context) -> list[Job | None]:
    return Job.fetch_many(ids, context.jobs, serializer=JSONSerializer)
