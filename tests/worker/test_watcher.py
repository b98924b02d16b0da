"""The watcher wakes what runs, often; what ended, seldom; and what RQ forgot, all the same."""

import time
from dataclasses import replace
from threading import Event, Thread

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from worker import watcher
from worker.service.context import Context
from worker.service.job_data import QUEUE
from worker.store import Header
from worker.store.settings import Settings
from worker.watcher import (
    BACKLOG,
    BACKLOG_S,
    ENDED_EVERY,
    HEARTBEAT,
    QUIET_EVERY,
    STUCK_S,
    look_around,
    watch,
)


@pytest.fixture
def context(tmp_path, valkey_home, valkey_url):
    context = Context(Settings(valkey_home, None, None), valkey_url)
    yield context
    context.close()


@pytest.fixture
def begun(context, assessment_id):
    header = Header(
        assessment_id, "{}", "", "", "", "", (0, 0), 1, "http://localhost", "c", "t", ("A",), ""
    )
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    context.ledger(assessment_id).begin(header)
    context.enter(assessment_id)
    yield queue
    context.state.srem("assay:index", assessment_id)
    queue.empty()


def ours(queue: Queue, assessment: str) -> list[str]:
    return [job for job in queue.job_ids if assessment in job]


def test_a_running_assessment_is_woken_everylook_around(context, begun, assessment_id):
    context.ledger(assessment_id).set_metadata(polled_at=int(time.time()))
    look_around(context, 1)
    assert ours(begun, assessment_id) == [f"advance-{assessment_id}-0"]


def test_what_waits_already_is_not_asked_for_again(context, begun, assessment_id):
    for rounds in (1, 2):
        look_around(context, rounds)
        context.wake(assessment_id)
    assert ours(begun, assessment_id).count(f"advance-{assessment_id}-0") == 1


@pytest.fixture
def quiet(context, begun, assessment_id):
    """The begun one and so many others that nothing changes in for an hour, read just now."""
    names = [assessment_id, *(f"{assessment_id}-{n}" for n in range(4))]
    header = context.header(assessment_id)
    for name in names:
        if name != assessment_id:
            context.ledger(name).begin(replace(header, assessment=name))
            context.enter(name)
        context.ledger(name).set_metadata(polled_at=time.time())
        context.ledger(name).advance_cursor(int((time.time() - 3600) * 1e6))
    yield names
    for name in names:
        context.forget(name)


def test_a_few_that_are_quiet_are_woken_in_every_round(context, begun, quiet):
    look_around(context, 1)
    assert sorted(begun.job_ids) == [f"advance-{name}-0" for name in sorted(quiet)]


def test_of_many_quiet_ones_each_has_its_turn_and_none_is_thought_lost_meanwhile(
    context, begun, quiet, monkeypatch
):
    monkeypatch.setattr(watcher, "QUIET_AT_ONCE", 1)
    read_s = time.time() - STUCK_S - 1  # in a round that it sat out
    for name in quiet:
        context.ledger(name).set_metadata(polled_at=read_s)
    woken: list[str] = []
    for rounds in range(5):
        begun.empty()
        look_around(context, rounds)
        woken += begun.job_ids
    assert sorted(woken) == [f"advance-{name}-0" for name in sorted(quiet)]


@pytest.mark.parametrize("changed_s", [1, -1])
def test_one_that_people_are_at_is_woken_in_every_round_whatever_clock_is_ahead(
    context, begun, quiet, assessment_id, monkeypatch, changed_s
):
    monkeypatch.setattr(watcher, "QUIET_AT_ONCE", 1)
    context.ledger(assessment_id).advance_cursor(int((time.time() - changed_s) * 1e6))
    for rounds in range(QUIET_EVERY):
        begun.empty()
        look_around(context, rounds)
        assert f"advance-{assessment_id}-0" in begun.job_ids


@pytest.mark.parametrize(("read_s", "is_woken"), [(1.0, False), (2.0, True), (-2.0, True)])
def test_one_that_a_webhook_had_read_a_moment_ago_waits_for_the_next_round(
    context, begun, assessment_id, read_s, is_woken
):
    context.ledger(assessment_id).set_metadata(polled_at=time.time() - read_s)
    look_around(context, 1, 1.5)
    assert (f"advance-{assessment_id}-0" in begun.job_ids) == is_woken


@pytest.mark.parametrize(
    ("n_waiting", "read_s", "is_woken"),
    [(BACKLOG + 1, 5.0, False), (BACKLOG, 5.0, True), (BACKLOG + 1, BACKLOG_S + 1, True)],
)
def test_while_workers_do_not_get_on_those_that_webhooks_had_read_lately_wait(
    context, begun, assessment_id, n_waiting, read_s, is_woken
):
    for n in range(n_waiting):
        context.ask_for_turn(f"other-{n}", 0)
    context.ledger(assessment_id).set_metadata(polled_at=time.time() - read_s)
    look_around(context, 1, 1.5)
    assert (f"advance-{assessment_id}-0" in begun.job_ids) == is_woken


@pytest.mark.parametrize("key", ["meta", "notes"])
def test_one_that_cannot_be_read_keeps_no_other_from_its_turn(
    context, begun, assessment_id, key, caplog
):
    broken = f"{assessment_id}-broken"
    context.state.set(f"assay:{{{broken}}}:{key}", "no hash")
    context.enter(broken)
    try:
        look_around(context, ENDED_EVERY)
    finally:
        context.forget(broken)
    assert f"advance-{assessment_id}-0" in begun.job_ids
    assert broken in caplog.text


def test_one_that_nobody_read_for_long_is_nudged_past_a_job_that_rq_lost(
    context, begun, assessment_id
):
    context.wake(assessment_id)
    context.jobs.delete(begun.key)  # the job is in no list any more, but its id blocks
    look_around(context, 1)
    (job,) = ours(begun, assessment_id)
    assert "slot" in job


def test_an_ended_one_is_looked_at_seldom(context, begun, assessment_id):
    ledger = context.ledger(assessment_id)
    ledger.set_metadata(polled_at=int(time.time()))
    assert ledger.move("running", "stopped")
    woken = 0
    for rounds in range(ENDED_EVERY):
        begun.empty()
        look_around(context, rounds)
        woken += len(ours(begun, assessment_id))
    assert woken == 1


def test_the_watcher_stops_when_told_and_leaves_a_sign_of_life(context, begun):
    stop = Event()
    thread = Thread(target=watch, args=(context, 0.05, stop))
    thread.start()
    time.sleep(0.3)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert context.state.exists(HEARTBEAT)
