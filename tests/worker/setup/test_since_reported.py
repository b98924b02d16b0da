"""What is said of an assessment that goes on with an earlier one: then, now, and what changed."""

from __future__ import annotations

import json

import pytest

from tests.worker.setup.continued import N_THEN, _at_home, at_work
from tests.worker.simulate.simulated_pool import CLASSES
from worker.assessment.verdicts import assess_now
from worker.findings.changing import continuation
from worker.findings.decision import decision
from worker.report.csv import report_csv
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.status import status_of


def test_the_report_the_decision_and_the_status_say_then_and_now(months, valkey, tmp_path):
    one, two = months()
    report = gather(two.work, two.header, two.ledger)
    told = report.then_and_now
    assert told.assessment == one.work.plan.assessment
    assert [g.name for g in told.groups] == list(CLASSES)
    for group, shown, then in zip(
        told.groups, report.groups, two.work.pool.since.then, strict=True
    ):
        assert (group.now_mean, group.now_low) == (shown.mean, shown.low)
        assert (group.then_mean, group.labels_then) == (then.mean, then.labels)
    text = page(report)
    assert "Then and now" in text
    assert told.text[0].startswith(f"{N_THEN} labels of {told.assessment} are taken over")
    heads, first = report_csv(report).splitlines()[:2]
    assert heads.endswith("believed,is_changed,part,second,below,within,above,region")
    assert len(heads.split(",")) == len(first.split(","))

    state, belief, verdict = assess_now(two.work, two.ledger)
    published = json.loads(
        decision(two.work, two.header, state, belief, verdict, kind="stop", reason="by hand")
    )
    assert published["continues"]["assessment"] == told.assessment
    assert published["continues"]["changed"] == list(told.changed)
    context = _at_home(valkey, tmp_path / "two")
    shown_status = status_of(context, two.work.plan.assessment, two.work)
    assert shown_status.as_json()["continues"] == published["continues"]
    assert gather(one.work, one.header, one.ledger).then_and_now is None


def test_a_group_that_lost_its_right_answers_is_named(tmp_path, valkey, assessment_id):
    one = at_work(tmp_path / "one", valkey, assessment_id, 100, strategy="random")
    two = at_work(
        tmp_path / "two", valkey, f"{assessment_id}-2", 0, f"since: {assessment_id}\n",
        strategy="random",
    )  # fmt: skip
    predicted = {two.work.pool.item(r).item_id: two.work.pool.item(r) for r in range(150)}
    for item, found in predicted.items():
        if found.predicted == 0:
            two.truth[item] = "dog"
    two.label(60)
    _, belief, _ = assess_now(two.work, two.ledger)
    told = continuation(two.work, belief, two.ledger.state().tally)
    assert told.changed == ("cat",)
    cat, dog, _ = told.groups
    assert cat.difference_high < -0.05
    assert cat.believed < dog.believed
    assert any("“cat” differs from what was known" in text for text in told.text)
    assert one.work.plan.assessment == told.assessment


@pytest.mark.parametrize(
    ("question", "stop", "matters"),
    [
        ("{task: identify, tolerance: 0.01}", "{mrr: {confidence: 0.9999}}", 0.01),
        ("{task: identify}", "{mrr: {confidence: 0.9999}}", 0.05),
        ("{task: compare, compare: all}", "{rope: {epsilon: 0.02}}", 0.02),
        ("{task: compare, compare: all}", "{rope: {epsilon: 0}}", 0),
        ("{task: estimate}", "{rmse: 0.001}", 0.05),
    ],
)
def test_a_difference_matters_if_it_does_to_the_plan(months, question, stop, matters):
    _, two = months(20, 3, question=question, stop=stop)
    state, belief, _ = assess_now(two.work, two.ledger)
    assert continuation(two.work, belief, state.tally).epsilon == matters
