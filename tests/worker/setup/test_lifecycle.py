"""Pause, resume and stop, at the right moment and at the wrong one."""

import json
from pathlib import Path

import pytest

from worker.errors import PoolChanged
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.report.status import status_of
from worker.service.context import Context, NoSuchAssessment
from worker.setup.lifecycle import WrongMoment, pause, resume, stop
from worker.store import Header
from worker.store.settings import Settings
from worker.store.valkey import ValkeyLedger


@pytest.fixture
def context(tmp_path: Path, valkey_url: str):
    context = Context(Settings(tmp_path, None, None), valkey_url)
    yield context
    context.close()


@pytest.fixture
def begun(context: Context, tmp_path: Path, assessment_id: str):
    """An assessment of twelve items that began, without a Label Studio behind it."""
    rows = "".join(f"i{n},{'ab'[n % 2]},0.7,text {n}\n" for n in range(12))
    (tmp_path / "p.csv").write_text("item_id,predicted,score,text\n" + rows)
    (tmp_path / "plan.yaml").write_text(
        f"assessment: {assessment_id}\npool: {{predictions: p.csv, predicted: predicted,"
        " score: score, data: {text: text}}\nquestion: {task: identify}\n"
    )
    plan = load_plan(tmp_path / "plan.yaml")
    pool = compile_pool(plan, context.settings.pools)
    header = Header(
        assessment_id, plan.model_dump_json(), "", pool.hash, str(pool.path), pool.file_sha256,
        pool.stat, 1, "http://localhost", "answer", "text", pool.classes, "",
    )  # fmt: skip
    context.enter(assessment_id)
    context.ledger(assessment_id).begin(header)
    yield assessment_id
    context.state.srem("assay:index", assessment_id)


def test_pause_and_resume_change_the_status_and_wake(context, begun):
    pause(context, begun)
    assert status_of(context, begun).status == "paused"
    resume(context, begun, 50)
    assert status_of(context, begun).status == "running"


def test_what_is_paused_cannot_be_paused_nor_what_runs_resumed(context, begun):
    with pytest.raises(WrongMoment, match="is running"):
        resume(context, begun, 50)
    assert "resume_until" not in context.ledger(begun).metadata()  # a refusal changes nothing
    pause(context, begun)
    with pytest.raises(WrongMoment, match="is paused"):
        pause(context, begun)


def test_a_stop_by_hand_is_a_decision_that_says_so_and_comes_once(context, begun):
    stop(context, begun)
    (decision,) = [json.loads(text) for text in context.ledger(begun).decisions()]
    assert decision["reason"] == "by hand"
    assert not decision["is_conclusive"]
    assert status_of(context, begun).text == decision["text"]
    with pytest.raises(WrongMoment, match="is stopped"):
        stop(context, begun)


def test_after_a_stop_it_goes_on_for_so_many_labels_before_the_rule_is_asked_again(context, begun):
    stop(context, begun)
    resume(context, begun, 7)
    assert status_of(context, begun).status == "running"
    assert context.ledger(begun).metadata()["resume_until"] == 7


def test_it_can_be_stopped_again_though_nothing_was_labelled_in_between(context, begun):
    stop(context, begun)
    resume(context, begun, 7)
    stop(context, begun)
    assert status_of(context, begun).status == "stopped"
    assert len(context.ledger(begun).decisions()) == 1


def test_a_stop_that_labels_outrun_changes_nothing_and_says_so(context, begun, monkeypatch):
    monkeypatch.setattr(ValkeyLedger, "publish", lambda *said, **more: False)
    with pytest.raises(WrongMoment, match="say it again"):
        stop(context, begun)
    assert status_of(context, begun).status == "running"


def test_it_is_not_resumed_over_a_changed_predictions_file(context, begun, tmp_path):
    pause(context, begun)
    with (tmp_path / "p.csv").open("a") as file:
        file.write("i12,a,0.7,one more\n")
    with pytest.raises(PoolChanged):
        resume(context, begun, 50)
    assert status_of(context, begun).status == "paused"


def test_nobody_can_steer_what_does_not_exist(context):
    for steer in (pause, stop):
        with pytest.raises(NoSuchAssessment, match="assay start PLAN"):
            steer(context, "nobody")
