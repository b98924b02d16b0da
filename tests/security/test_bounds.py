"""What is written, queued, waited for and printed keeps to its bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rq import Queue
from rq.serializers import JSONSerializer

from tests.security.contexts import begin_well, own_context
from tests.web.site import Begun
from worker.cli.parts import printable
from worker.errors import PlanError
from worker.notices import outbox
from worker.notices.messages import Event
from worker.notices.stalls import since
from worker.report.index import write_index
from worker.report.scheduled import is_claimed, latest_done, reports_folder
from worker.service.context import Context
from worker.service.job_data import QUEUE
from worker.store.metadata import Metadata


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with own_context(tmp_path) as opened:
        yield opened


@pytest.fixture
def well(context: Context, tmp_path: Path) -> Begun:
    return begin_well(context, tmp_path)


def test_an_index_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("a site of somebody")
    write_index(tmp_path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [
        ("index.html", "a site of somebody")
    ]
    (tmp_path / "index.html").unlink()
    write_index(tmp_path)
    write_index(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.html", "index.json"]


def test_a_plan_that_was_brought_here_writes_reports_where_plans_may_only(
    context: Context, well: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = json.loads(well.header.plan)
    plan["report"] |= {"every": "1d", "to": str(tmp_path / "elsewhere")}
    header = replace(well.header, plan=json.dumps(plan))
    assert reports_folder(context, header) == tmp_path / "elsewhere"
    monkeypatch.setenv("ASSAY_PLAN_FOLDERS", str(tmp_path / "plans"))
    with pytest.raises(PlanError, match="outside of ASSAY_PLAN_FOLDERS"):
        reports_folder(context, header)


def test_a_weekend_without_workers_leaves_no_queue_of_the_same_job(
    context: Context, well: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(QUEUE, connection=context.jobs, serializer=JSONSerializer)
    context.nudge("well", 15.0)
    context.ask_for_report("well", 1, 0.0, 20.0)
    context.ask_for_delivery("well", 0.0, 20.0)
    waits = [job.ttl for job in queue.jobs]
    assert waits == [30, 40, 40]
    context.wake("well")  # is one job however often it is asked for
    assert queue.jobs[-1].ttl is None


def test_a_clock_that_was_ahead_keeps_no_report_and_no_notice_waiting(well: Begun) -> None:
    now, month = 1_700_000_000.0, 30 * 86_400
    ahead = Metadata(report_slot=int(now) + month, report_claim=f"{now + month:.0f} x")
    assert not is_claimed(ahead, now)
    assert latest_done(ahead, now) == 0
    assert is_claimed({"report_claim": f"{now + 60:.0f} x"}, now)
    assert latest_done({"report_slot": int(now)}, now) == int(now)

    event = Event("e", "failure", "text", 0, "now")
    assert outbox.is_due(outbox.Notice("n", event, 0, 1, now + month), now)
    assert not outbox.is_due(outbox.Notice("n", event, 0, 7, now + 9_000), now)

    well.ledger.set_metadata(running_since=int(now) + month)
    assert since(well.ledger, well.ledger.metadata(), "running_since", True, now) == int(now)
    assert well.ledger.metadata()["running_since"] == int(now)


def test_what_is_printed_moves_no_cursor() -> None:
    assert printable("a\x1b[2Jb\n\tc 猫") == "a\\x1b[2Jb\n\tc 猫"
