"""A report is made once for every slot, whoever dies, watches twice or looks too late."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rq import Queue
from rq.serializers import JSONSerializer

from tests.contract.test_ledger import in_parallel
from tests.notices.receiver import receiver
from tests.promises.faults import Killed
from tests.promises.small import small_assessment
from worker import jobs
from worker.plan import Plan, stored_plan
from worker.report import making
from worker.report.index import entries
from worker.report.scheduled import due, reports_folder
from worker.service.context import INDEX, Context
from worker.service.job_data import QUEUE
from worker.store import Header, MemoryLedger, State
from worker.store.settings import Settings
from worker.watcher import AGAIN_S, look_around, tend

Begin = Callable[..., Header]
HOURLY = {"every": "1h", "keep": 3}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Header:
    folder = tmp_path_factory.mktemp("small")
    return small_assessment(folder, "{mrr: {threshold: 1, confidence: 0.999}}")[1]


@pytest.fixture
def context(tmp_path, valkey_url) -> Iterator[Context]:
    context = Context(Settings(tmp_path / "home", None, None), valkey_url)
    yield context
    context.close()


@pytest.fixture
def queue(context) -> Iterator[Queue]:
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    yield queue
    queue.empty()


@pytest.fixture
def begin(context, small, assessment_id) -> Iterator[Begin]:
    """Begin an assessment of the small pool `hours` ago, with these parts of a plan."""

    def begin_one(hours: float, **parts: Any) -> Header:
        header = planned(small, assessment_id, hours, **parts)
        context.ledger(assessment_id).begin(header)
        context.enter(assessment_id)
        return header

    yield begin_one
    context.state.srem(INDEX, assessment_id)


def planned(small: Header, assessment: str, hours: float, **parts: Any) -> Header:
    plan = Plan.model_validate(json.loads(small.plan) | {"assessment": assessment} | parts)
    began = datetime.now(UTC) - timedelta(hours=hours)
    return replace(
        small,
        assessment=assessment,
        plan=plan.model_dump_json(),
        started_at=began.isoformat(timespec="seconds"),
    )


def due_now(context: Context, header: Header) -> int | None:
    state = context.ledger(header.assessment).state()
    slot = due(stored_plan(header.plan), header, state, datetime.now(UTC))
    return None if slot is None else slot.number


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("index"))


def watch_and_work(context: Context, assessment: str, now: float | None = None) -> None:
    """One round of the watcher, and a worker that does what it asked for."""
    ledger = context.ledger(assessment)
    tend(context, ledger, ledger.state(), now or time.time())
    jobs.work(context, burst=True)


def test_slots_that_were_missed_are_made_up_by_one_report(context, begin, queue):
    header = begin(50.2, report=HOURLY)
    for _ in range(3):
        watch_and_work(context, header.assessment)

    folder = reports_folder(context, header)
    assert folder == context.folder(header.assessment) / "reports"
    (entry,) = entries(folder)
    slot = datetime.fromisoformat(header.started_at) + timedelta(hours=50)
    stem = f"{header.assessment}-{slot:%Y%m%dT%H%M%SZ}"
    assert files(folder) == [f"{stem}.{suffix}" for suffix in ("csv", "html", "json")]
    assert entry.text == json.loads((folder / entry.json).read_text())["text"]


def test_without_a_schedule_and_before_the_first_slot_nothing_is_made(context, begin, queue):
    header = begin(0.5, report=HOURLY)
    watch_and_work(context, header.assessment)
    assert due_now(context, header) is None
    assert not reports_folder(context, header).exists()
    unplanned = planned(header, header.assessment, 100, report={})
    assert due_now(context, unplanned) is None


def test_of_many_who_make_the_report_of_a_slot_at_once_one_does(context, begin):
    header = begin(1.2, report=HOURLY)
    number = due_now(context, header)
    made = in_parallel(4, lambda _: making.make_scheduled(context, header.assessment, number))
    assert sum(path is not None for path in made) == 1
    assert due_now(context, header) is None
    assert making.make_scheduled(context, header.assessment, number) is None


@pytest.mark.parametrize("dies_in", ["making.gather", "page.write_report", "making.write_index"])
def test_who_dies_on_the_way_leaves_the_slot_to_the_next_one(context, begin, monkeypatch, dies_in):
    header = begin(1.2, report=HOURLY)
    number = due_now(context, header)

    def dies(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as killed:
        killed.setattr(f"worker.report.{dies_in}", dies)
        with pytest.raises(Killed):
            making.make_scheduled(context, header.assessment, number)
    assert due_now(context, header) is None, "it may still be at work"

    ledger = context.ledger(header.assessment)
    ledger.set_metadata(report_claim=f"{time.time() - 1:.0f} the dead one")
    assert due_now(context, header) == number
    assert making.make_scheduled(context, header.assessment, number) is not None
    assert len(entries(reports_folder(context, header))) == 1
    assert due_now(context, header) is None


def test_only_so_many_are_kept_and_those_of_others_are_left_alone(context, begin, tmp_path):
    header = begin(9.2, report={**HOURLY, "to": str(tmp_path / "all")})
    folder = reports_folder(context, header)
    assert folder == tmp_path / "all"
    folder.mkdir()
    (folder / f"{header.assessment}-and-more-20200101T000000Z.html").touch()
    (folder / "notes.txt").touch()
    first = int(datetime.fromisoformat(header.started_at).timestamp())
    for n in range(1, 6):
        making.make_scheduled(context, header.assessment, first + 3600 * n)

    kept = entries(folder, header.assessment)
    assert len(kept) == 3
    assert [entry.html for entry in kept] == sorted((e.html for e in kept), reverse=True)
    assert (folder / "notes.txt").exists()
    assert len(files(folder)) == 3 * 3 + 2
    listed = json.loads((folder / "index.json").read_text())["reports"]
    assert [entry["html"] for entry in listed] == [entry.html for entry in kept]
    index = (folder / "index.html").read_text()
    assert all(entry.html in index for entry in kept)


def test_after_the_decision_there_is_one_more_report_and_then_none(context, begin, queue):
    header = begin(30.2, report=HOURLY)
    ledger = context.ledger(header.assessment)
    watch_and_work(context, header.assessment)
    decided_at = datetime.now(UTC).isoformat(timespec="seconds")
    assert ledger.move("running", "stopped")
    assert due_now(context, header) is None, "the decision was not noted yet"
    ledger.set_metadata(decided_at=decided_at)
    for _ in range(2):
        watch_and_work(context, header.assessment)

    made = entries(reports_folder(context, header))
    assert len(made) == 2
    assert f"{datetime.fromisoformat(decided_at):%Y%m%dT%H%M%SZ}" in made[0].html
    ledger.move("stopped", "running")
    assert due_now(context, header) is None, "the slot before the decision was made up for"


def test_a_report_that_cannot_be_written_is_noted_and_tried_again(context, begin, queue, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    header = begin(1.2, report={**HOURLY, "to": str(blocked)})
    ledger = context.ledger(header.assessment)
    watch_and_work(context, header.assessment)
    assert "no report could be made" in ledger.metadata()["report_error"]
    assert due_now(context, header) is None, "not again at once"
    assert len(queue) == 0

    blocked.unlink()
    ledger.set_metadata(report_claim="")
    watch_and_work(context, header.assessment)
    assert len(entries(blocked)) == 1
    assert ledger.metadata()["report_error"] == ""


def test_a_job_that_rq_lost_is_asked_for_again(context, begin, queue):
    header = begin(1.2, report=HOURLY)
    ledger, now = context.ledger(header.assessment), time.time()
    for _ in range(3):
        tend(context, ledger, ledger.state(), now)
    (job,) = queue.job_ids
    assert job.startswith(f"report-{header.assessment}-{due_now(context, header)}")
    context.jobs.delete(queue.key)
    tend(context, ledger, ledger.state(), now + AGAIN_S)
    assert len(queue) == 1


def test_a_report_says_what_changed_since_the_one_before(context, begin):
    header = begin(2.2, report=HOURLY)
    first = int(datetime.fromisoformat(header.started_at).timestamp())
    for n in (1, 2):
        path = making.make_scheduled(context, header.assessment, first + 3600 * n)
    assert path is not None
    before, after = reversed(entries(reports_folder(context, header)))
    told = json.loads(path.with_suffix(".json").read_text())
    assert after.html == path.name
    assert told["changes"]["made_at"] == before.made_at


def test_who_wants_to_hear_of_reports_is_told_once_for_each(context, begin, queue):
    with receiver() as got:
        told = {"url": got.url, "kind": "slack", "on": ["report"], "allow_private": True}
        header = begin(1.2, report=HOURLY, notify=[told])
        for _ in range(4):
            watch_and_work(context, header.assessment)
    (message,) = got.told
    assert message["text"].startswith(f"{header.assessment}: A new report (")


def test_a_plan_of_another_release_does_not_end_the_watch_over_the_others(context, begin, request):
    header = begin(1.2, report=HOURLY)
    request.addfinalizer(lambda: context.forget("a-newer"))
    context.ledger("a-newer").begin(replace(header, plan='{"assessment": "x", "unheard": "of"}'))
    context.enter("a-newer")
    look_around(context, 0)
    assert [name for name, _ in context.each(context.header)] == ["a-newer", header.assessment]
    assert context.ledger(header.assessment).wakes() == 0
    jobs = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer).job_ids
    assert {f"advance-{name}-0" for name in ("a-newer", header.assessment)} <= set(jobs)
    assert any(job.startswith(f"report-{header.assessment}-") for job in jobs)


WATCHERS = st.lists(
    st.tuples(st.sampled_from(["round", "job", "dies", "wait"]), st.integers(0, 5)), max_size=30
)


@given(WATCHERS)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_watchers_and_workers_do_every_slot_is_made_at_most_once_and_the_last_one_is(
    small, history
):
    """Each step looks at the ledger as the code does; a death leaves what had been done."""
    header = planned(small, "mine", 0, report=HOURLY)
    plan, ledger = stored_plan(header.plan), MemoryLedger("mine")
    began = datetime.fromisoformat(header.started_at)
    now, asked, done = began + timedelta(minutes=30), [], []

    def looks() -> None:
        slot = due(plan, header, ledger.state(), now)
        if slot is not None:
            asked.append(slot.number)

    def works(number: int) -> None:
        if number > ledger.metadata().get("report_slot", 0):
            done.append(number)
            making._mark(ledger, number)

    for step, n in history:
        if step == "round":
            looks()
        elif step == "wait":
            now += timedelta(minutes=40 * n)
        elif asked:
            number = asked[n % len(asked)]
            if step == "job":
                works(number)
    looks()
    for number in reversed(asked):
        works(number)
    assert len(done) == len(set(done))
    assert done == sorted(done)
    so_far = State("running", 0, 0, {}, {}, {}, {}, 0, ledger.metadata())
    assert due(plan, header, so_far, now) is None
