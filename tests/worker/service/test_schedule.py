"""The watcher wakes what runs, often; what ended, seldom; and what RQ forgot, all the same."""

import time
from threading import Event, Thread

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from worker.ledger import Header
from worker.schedule import ENDED_EVERY, HEARTBEAT, look_around, watch
from worker.service.office import QUEUE, Office
from worker.service.settings import Settings


@pytest.fixture
def office(tmp_path, valkey_home, valkey_url):
    office = Office(Settings(valkey_home, None, None), valkey_url)
    yield office
    office.close()


@pytest.fixture
def begun(office, assessment_id):
    header = Header(
        assessment_id, "{}", "", "", "", "", (0, 0), 1, "http://localhost", "c", "t", ("A",), ""
    )
    queue = Queue(QUEUE, connection=office.jobs, serializer=JSONSerializer)
    queue.empty()
    office.ledger(assessment_id).begin(header)
    office.enter(assessment_id)
    yield queue
    office.state.srem("assay:index", assessment_id)
    queue.empty()


def ours(queue: Queue, assessment: str) -> list[str]:
    return [job for job in queue.job_ids if assessment in job]


def test_a_running_assessment_is_woken_everylook_around(office, begun, assessment_id):
    office.ledger(assessment_id).note(polled_at=int(time.time()))
    look_around(office, 1)
    assert ours(begun, assessment_id) == [f"advance-{assessment_id}-0"]


def test_one_that_nobody_read_for_long_is_nudged_past_a_job_that_rq_lost(
    office, begun, assessment_id
):
    office.wake(assessment_id)
    office.jobs.delete(begun.key)  # the job is in no list any more, but its id blocks
    look_around(office, 1)
    (job,) = ours(begun, assessment_id)
    assert "slot" in job


def test_an_ended_one_is_looked_at_seldom(office, begun, assessment_id):
    ledger = office.ledger(assessment_id)
    ledger.note(polled_at=int(time.time()))
    assert ledger.move("running", "stopped")
    look_around(office, 1)
    assert ours(begun, assessment_id) == []
    look_around(office, ENDED_EVERY)
    assert len(ours(begun, assessment_id)) == 1


def test_the_watcher_stops_when_told_and_leaves_a_sign_of_life(office, begun):
    stop = Event()
    thread = Thread(target=watch, args=(office, 0.05, stop))
    thread.start()
    time.sleep(0.3)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert office.state.exists(HEARTBEAT)
