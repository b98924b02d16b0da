"""What a killed worker was at is free at once where somebody saw it die, and only that."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from tests.live.service import eventually
from tests.web.site import begin
from worker.jobs import AssayWorker
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.job_data import JOB, QUEUE, REPORT_JOB
from worker.service.release import PROCESS, new_name, own_name, release
from worker.store.settings import Settings


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with server(tmp_path, None) as url:
        opened = Context(Settings(tmp_path, None, None), url)
        yield opened
        opened.close()


@pytest.fixture
def queue(context: Context) -> Queue:
    return Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)


def at_work(queue: Queue, process: str, job: Job) -> None:
    """What RQ keeps of a worker that is at a job."""
    worker = AssayWorker([queue], name=process, connection=queue.connection)
    worker.register_birth()
    worker.set_current_job_id(job.id)
    queue.remove(job.id)


def test_the_turn_of_a_dead_worker_is_taken_up_by_the_next_one(context: Context, queue: Queue):
    dead, ledger = new_name(), context.ledger("cats")
    at_work(queue, dead, queue.enqueue_call(JOB, args=["cats"]))
    assert ledger.take_lease(f"{dead}-7", 60_000)

    assert release(context, dead) == "cats"

    assert queue.job_ids == [f"advance-cats-after-{dead}"]
    assert ledger.take_lease("other-1", 60_000)


def test_what_another_worker_has_stays_its_own(context: Context, queue: Queue):
    dead, living = new_name(), new_name()
    at_work(queue, dead, queue.enqueue_call(JOB, args=["cats"]))
    assert context.ledger("cats").take_lease(f"{living}-7", 60_000)
    assert context.ledger("dogs").take_lease(f"{dead}-7", 60_000)  # of a turn that it is not at

    release(context, dead)

    assert not context.ledger("cats").take_lease("other-1", 60_000)
    assert not context.ledger("dogs").take_lease("other-1", 60_000)


@pytest.mark.parametrize(
    "at",
    [
        lambda queue: queue.enqueue_call(REPORT_JOB, args=["cats", 1]),
        lambda queue: queue.enqueue_call(JOB, args=[]),
        lambda queue: queue.enqueue_call("os.system", args=["cats"]),
    ],
    ids=["a report", "no assessment", "what is none of ours"],
)
def test_a_worker_that_was_at_no_turn_leaves_nothing(
    context: Context, queue: Queue, at: Callable[[Queue], Job]
):
    dead = new_name()
    at_work(queue, dead, at(queue))
    assert release(context, dead) is None
    assert release(context, new_name()) is None
    assert queue.job_ids == []


def test_a_worker_is_called_as_its_supervisor_says():
    assert own_name({PROCESS: "ada"}) == "ada"
    assert own_name({}) != own_name({})


def test_under_up_the_lease_of_a_killed_worker_does_not_have_to_run_out(
    context: Context, tmp_path: Path
):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a Label Studio that never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begin(context, tmp_path / "cats", "cats")
        meta, key = "assay:{cats}:meta", "assay:{cats}:lease"
        header = json.loads(context.state.hget(meta, "header"))
        context.state.hset(meta, "header", json.dumps(header | {"url": url}))
        env = os.environ | {"ASSAY_HOME": str(tmp_path), "LABEL_STUDIO_URL": url}
        env |= {"LABEL_STUDIO_API_KEY": "none"}
        with subprocess.Popen(
            [sys.executable, "-m", "worker.cli", "up", "--port", "0", "--workers", "1"],
            env=env, stderr=subprocess.DEVNULL,
        ) as up:  # fmt: skip
            try:
                first = eventually(lambda: context.state.get(key))
                pids = dict(
                    line.split() for line in (tmp_path / "up.pids").read_text().splitlines()
                )
                worker = int(pids["worker-1"])
                os.kill(worker, signal.SIGSTOP)  # it renews its lease no more
                time.sleep(0.2)
                assert context.state.persist(key)  # and this one never runs out
                os.kill(worker, signal.SIGKILL)
                eventually(lambda: context.state.get(key) not in (None, first))
            finally:
                up.terminate()
