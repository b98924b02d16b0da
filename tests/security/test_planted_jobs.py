"""Jobs that somebody who can write to Redis planted are refused and reported, and nothing runs."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rq import Queue
from rq.job import Callback, Job, Retry
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.webhook import Webhook

from connector.supervised import tied
from tests.notices.receiver import receiver
from worker.jobs import work
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.job_data import JOB, QUEUE
from worker.store.settings import Settings

CALLED: list[object] = []


def called(*_: object) -> None:
    """What planted callbacks name."""
    CALLED.append(_)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Context]:
    """A context whose server no other test uses, for what is done to all jobs of it."""
    with server(tmp_path / "home", None) as url:
        context = Context(Settings(tmp_path / "home", None, None), url)
        CALLED.clear()
        yield context
        context.close()


@pytest.fixture
def queue(home: Context) -> Queue:
    return Queue(QUEUE, connection=home.jobs, serializer=JSONSerializer)


def test_a_real_worker_refuses_a_planted_command_reports_it_and_goes_on(
    home: Context, queue: Queue, tmp_path: Path
) -> None:
    planted = tmp_path / "planted"
    again = Retry(max=100)
    job = queue.enqueue_call("os.system", args=[f"touch {planted}"], failure_ttl=60, retry=again)
    broken = queue.enqueue_call("os.system", failure_ttl=60)
    # As a worker that takes pickles would run it.
    command = pickle.dumps(("os.system", None, (f"touch {planted}",), {}))
    home.jobs.hset(broken.key, "data", command)
    odd = [
        queue.enqueue_call(JOB, failure_ttl=60),
        queue.enqueue_call(JOB, args=["x"], kwargs={"y": 1}, failure_ttl=60),
        queue.enqueue_call("subprocess.getoutput", args=[f"touch {planted}"], failure_ttl=60),
    ]
    log = tmp_path / "worker.log"
    with log.open("wb") as out:
        worker = subprocess.Popen(
            tied([sys.executable, "-m", "worker.cli", "worker"]),
            env={"ASSAY_HOME": str(home.settings.home), "PATH": "/usr/bin:/bin"},
            cwd=Path(__file__).parents[2],
            stdout=out,
            stderr=out,
        )
    try:
        last = odd[-1]
        deadline = time.monotonic() + 300
        while last.get_status(refresh=True) != "failed":
            assert time.monotonic() < deadline, log.read_text()
            assert worker.poll() is None, log.read_text()
            time.sleep(0.1)
        assert worker.poll() is None, "a planted job ended the worker"
    finally:
        worker.terminate()
        worker.wait(30)

    assert not planted.exists()
    said = log.read_text()
    assert f"refused the job {job.id}: os.system is not on the allow-list" in said
    assert f"refused the job {broken.id}: what it holds is not JSON" in said
    for refused in (job, broken, *odd):
        assert refused.get_status(refresh=True) == "failed"
        assert f"refused the job {refused.id}" in said
    assert len(queue) == 0  # the one that asked for 100 more tries got none


def test_what_a_planted_job_names_to_be_called_afterwards_is_not_called(
    home: Context, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"{__name__}.called"
    with receiver() as got:
        hooks = [
            Webhook(got.url, "finished", method="POST"),
            Webhook(got.url, "failed", method="POST"),
        ]
        job = queue.enqueue_call(JOB, args=["no-such"], failure_ttl=60, result_ttl=60)
        home.jobs.hset(
            job.key,
            mapping={
                "success_callback_name": name,
                "failure_callback_name": name,
                "stopped_callback_name": name,
            },
        )
        queue.enqueue_call(
            "os.getpid",
            failure_ttl=60,
            on_failure=Callback(name),
            webhooks=hooks,
        )
        work(home, burst=True)
        assert got.paths == []

    assert CALLED == []
    dropped = "success_callback_name, failure_callback_name, stopped_callback_name"
    assert f"dropped {dropped} of the job {job.id}" in caplog.text
    assert "dropped failure_callback_name, webhooks of the job" in caplog.text


def test_a_planted_abandoned_job_calls_nothing_when_rq_tidies_up(
    home: Context, queue: Queue
) -> None:
    job = Job.create(
        "os.getpid",
        connection=home.jobs,
        serializer=JSONSerializer,
        origin=QUEUE,
        on_failure=Callback(f"{__name__}.called"),
    )
    job.save()
    registry = StartedJobRegistry(queue=queue)
    home.jobs.zadd(registry.key, {f"{job.id}:execution": 1})

    work(home, burst=True)  # begins with RQ's maintenance

    assert home.jobs.zcard(registry.key) == 0
    assert CALLED == []


@pytest.mark.parametrize("field", ["status", "created_at", "retries_left"])
def test_a_job_that_is_not_readable_does_not_end_the_worker(
    home: Context, queue: Queue, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    bad = queue.enqueue_call(JOB, args=["x"])
    after = queue.enqueue_call("os.getpid", failure_ttl=60)
    home.jobs.hset(bad.key, field, "nonsense")

    work(home, burst=True)

    assert f"passed over the job {bad.id}: it is not readable" in caplog.text
    assert after.get_status(refresh=True) == "failed"
