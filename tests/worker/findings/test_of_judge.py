"""TPR and TNR of a judge of outputs, from a plan to a decision, over the loop itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes import FakeDesk
from tests.report.at_work import AtWork
from tests.worker.answers import (
    RIGHT,
    SCHEMA,
    plan_of,
    rates_of_judge,
    values_of,
    write_outputs,
)
from tests.worker.plan.plans import load
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import assess
from worker.errors import PlanError
from worker.pool import Pool, check_question, compile_pool
from worker.setup.earlier import Earlier, NotContinuable, labelled_items
from worker.setup.since import continue_with
from worker.store import MemoryLedger
from worker.store.snapshots import taken_together

METRICS = ["judge_tpr", "judge_tnr"]


def asked(folder: Path, metric: str, n_labels: int, n: int = 60) -> AtWork:
    truth = write_outputs(folder, n=n)
    question = {"task": "estimate", "metric": metric}
    plan = plan_of(folder, question=question, stop={"rmse": 1e-4}, pool={"groups": "all_items"})
    work = assess(plan, compile_pool(plan, folder / "pools"))
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, work.pool)
    ledger.begin(header)
    one = AtWork(work, header, ledger, FakeDesk(SCHEMA), truth, folder / "decisions")
    one.label(n_labels)
    return one


@pytest.mark.parametrize("metric", METRICS)
def test_once_all_is_labelled_the_decision_tells_the_judges_rate(tmp_path, metric):
    begun = asked(tmp_path, metric, 60)
    (decision,) = (json.loads(text) for text in begun.ledger.decisions())
    exact = pytest.approx(rates_of_judge(tmp_path, begun.truth)[metric], abs=1e-6)
    assert decision["overall"] == {"mean": exact, "low": exact, "high": exact}
    short = metric[-3:].upper()
    assert f"the {short} of the judge of all items is" in decision["finding"]


@pytest.mark.parametrize("metric", METRICS)
def test_strata_keep_what_the_judge_calls_right_and_wrong_apart(tmp_path, metric):
    pool = asked(tmp_path, metric, 0, n=400).work.pool
    lines = (tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    score = {row["item_id"]: row["judge_p"] for row in map(json.loads, lines)}
    for row in range(pool.n_items):
        item = pool.item(row)
        is_right = score[item.item_id] >= 0.5
        assert pool.classes[item.predicted] == ("Correct" if is_right else "Wrong")
        assert pool.cell_unit[item.cell] == (is_right == (metric == "judge_tpr"))


def test_a_second_judge_is_held_against_what_the_first_one_says(tmp_path):
    """Here it is the truth itself: it agrees wherever the first judge is right."""
    truth = write_outputs(tmp_path)
    path = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    judged = [row["judge_p"] >= 0.5 for row in rows]
    for row in rows:
        row["second"] = "yes" if truth[row["item_id"]] in RIGHT else "no"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    opinions = [{"name": "second", "right": "second"}]
    question = {"task": "estimate", "metric": "judge_tnr"}
    plan = load(tmp_path, values_of(question=question, pool={"opinions": opinions}))
    (told,) = compile_pool(plan, tmp_path / "pools").opinions
    same = sum(a == (truth[row["item_id"]] in RIGHT) for a, row in zip(judged, rows, strict=True))
    assert told.agreed is not None
    assert told.agreed.sum() == same


@pytest.mark.parametrize(("metric", "score"), [("judge_tpr", 0.49), ("judge_tnr", 0.5)])
def test_a_judge_that_never_says_it_is_refused(tmp_path, metric, score):
    write_outputs(tmp_path)
    path = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(row | {"judge_p": score}) + "\n" for row in rows))
    plan = load(tmp_path, values_of(question={"task": "estimate", "metric": metric}))
    with pytest.raises(PlanError, match=r"the judge calls no output (right|wrong) "):
        check_question(plan, compile_pool(plan, tmp_path / "pools"))


def test_labels_go_on_for_the_judge_from_the_judge_alone(tmp_path):
    begun = asked(tmp_path / "one", "judge_tpr", 8)
    items = labelled_items(begun.work, taken_together(begun.ledger)[1])
    earlier = Earlier(begun.work, begun.ledger.state().tally, items, "running", "")
    write_outputs(tmp_path / "two")

    def going_on(metric: str) -> Pool:
        question = {"task": "estimate", "metric": metric}
        plan = plan_of(tmp_path / "two", question=question, pool={"groups": "all_items"})
        return continue_with(plan, compile_pool(plan, tmp_path / "pools"), earlier)

    with pytest.raises(NotContinuable, match=r"asked about the judge, this plan .* about outputs"):
        going_on("accuracy")
    for metric in METRICS:
        pool = going_on(metric)
        assert pool.since is not None
        assert pool.since.labels == 8
        for key in pool.since.tally:
            _, cell, predicted, _ = key.split(":", 3)
            is_right = pool.cell_unit[int(cell)] == (metric == "judge_tpr")
            assert pool.classes[int(predicted)] == ("Correct" if is_right else "Wrong")
