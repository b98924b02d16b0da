"""A decision gets a report by itself, once, unless the plan says no."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from tests.web.site import Begun, begin, forget
from worker import jobs
from worker.notices.happenings import note_decisions
from worker.report.index import entries
from worker.report.scheduled import FINAL_S, final_report, reports_folder
from worker.service.context import Context
from worker.service.job_data import QUEUE
from worker.setup.lifecycle import stop
from worker.store.settings import Settings
from worker.watcher import look_around


@pytest.fixture
def context(tmp_path: Path, valkey_url: str) -> Iterator[Context]:
    context = Context(Settings(tmp_path / "home", None, None), valkey_url)
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    queue.empty()
    yield context
    queue.empty()
    context.close()


@pytest.fixture(params=[""])
def begun(
    context: Context, tmp_path: Path, assessment_id: str, request: pytest.FixtureRequest
) -> Iterator[Begun]:
    yield begin(context, tmp_path / "plan", assessment_id, more=request.param)
    forget(context, assessment_id)


def page_of(begun: Begun) -> Path | None:
    return final_report(begun.context, begun.header, begun.ledger.metadata())


def decide(begun: Begun) -> None:
    """End it by hand, and take the turn that a worker takes then."""
    stop(begun.context, begun.id)
    begun.turn()
    note_decisions(begun.ledger, begun.work.plan)


def watch_and_work(context: Context) -> None:
    look_around(context, 1)
    jobs.work(context, burst=True)


def test_a_decision_gets_one_report_under_the_home_folder(context: Context, begun: Begun) -> None:
    watch_and_work(context)
    assert page_of(begun) is None
    assert not reports_folder(context, begun.header).exists(), "nothing is decided"

    decide(begun)
    assert page_of(begun) is None
    for _ in range(2):
        watch_and_work(context)

    page = page_of(begun)
    assert page is not None
    assert page.parent == context.settings.home / "assessments" / begun.id / "reports"
    (entry,) = entries(page.parent)
    assert (entry.html, entry.status) == (page.name, "stopped")


@pytest.mark.parametrize("begun", ["report: {final: false}"], indirect=True)
def test_a_plan_may_say_that_there_is_none(context: Context, begun: Begun) -> None:
    decide(begun)
    watch_and_work(context)

    assert not reports_folder(context, begun.header).exists()
    assert page_of(begun) is None


def test_of_a_decision_of_long_ago_none_is_asked_for(context: Context, begun: Begun) -> None:
    decide(begun)
    long_ago = datetime.now(UTC) - timedelta(seconds=FINAL_S + 60)
    begun.ledger.set_metadata(decided_at=long_ago.isoformat(timespec="seconds"))
    watch_and_work(context)

    assert not reports_folder(context, begun.header).exists()
