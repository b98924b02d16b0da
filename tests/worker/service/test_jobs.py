"""What a worker runs, and what it refuses."""

from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from worker.jobs import work
from worker.service.context import INDEX, Context
from worker.service.job_data import QUEUE
from worker.store.settings import Settings


@pytest.fixture
def context(valkey_home: Path, valkey_url: str):
    context = Context(Settings(valkey_home, None, None), valkey_url)
    yield context
    context.close()


@pytest.fixture
def queue(context: Context):
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    yield queue
    queue.empty()


def test_a_job_that_is_not_on_the_list_is_refused(context, queue, tmp_path):
    planted = tmp_path / "planted"
    job = queue.enqueue_call("os.system", args=[f"touch {planted}"], failure_ttl=60)

    work(context, burst=True)

    assert not planted.exists()
    assert job.get_status(refresh=True) == "failed"


def test_a_job_carries_ids_as_json_and_nothing_else(context, queue, valkey: Redis, assessment_id):
    valkey.sadd(INDEX, assessment_id)
    try:
        assert context.wake(assessment_id)
        (job_id,) = queue.job_ids
        job = Job.fetch(job_id, connection=context.jobs, serializer=JSONSerializer)
        assert bytes(job.data).startswith(b'["worker.jobs.advance"')
        assert job.args == [assessment_id]
    finally:
        valkey.srem(INDEX, assessment_id)


def test_wakes_before_a_turn_begins_are_one_job_and_one_after_it_is_another(
    context, queue, valkey: Redis, assessment_id
):
    valkey.sadd(INDEX, assessment_id)
    try:
        for _ in range(5):
            context.wake(assessment_id)
        assert len(queue) == 1
        context.ledger(assessment_id).wake()  # a turn begins
        context.wake(assessment_id)
        assert len(queue) == 2
    finally:
        valkey.srem(INDEX, assessment_id)


def test_nobody_is_woken_for_an_assessment_that_does_not_exist(context, queue):
    assert not context.wake("nobody-began-this")
    assert len(queue) == 0
