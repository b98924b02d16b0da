"""A tolerance stands beside how sure a finding is, wherever that is told; without one, nothing."""

import json
import re

import pytest

from tests.report.at_work import AtWork, at_work
from tests.worker.findings.said import ONE_BAD, assessment, said_after
from worker.assessment.verdicts import assess_now
from worker.findings.ranks import group_ranks
from worker.notebook import snapshot
from worker.notices import outbox
from worker.notices.happenings import note_decisions
from worker.plan.notify_part import NotifyPlan
from worker.report.gathering import gather
from worker.report.page import page
from worker.store.settings import Settings

TOLERANT = {
    "question": "{task: identify, tolerance: 0.3}",
    "stop": "{mrr: {confidence: 0.95}, looks: 1}",
    "strategy": "assay",
    "prior": "{kind: empirical}",
    "more": "label_studio: {show_finding: true}\n",
}


@pytest.fixture(scope="module")
def decided(tmp_path_factory) -> AtWork:
    return at_work(tmp_path_factory.mktemp("tolerant"), 200, **TOLERANT)


def test_wherever_the_finding_stands_the_tolerance_stands_beside_how_sure_it_is(decided):
    (published,) = map(json.loads, decided.ledger.decisions())
    assert published["reason"] == "answered"
    report = gather(decided.work, decided.header, decided.ledger)
    state, _, _ = assess_now(decided.work, decided.ledger)
    hook = {"url": "https://a.example/", "kind": "webhook", "on": ("decision",)}
    plan = decided.work.plan.model_copy(
        update={"notify": (NotifyPlan.model_validate(hook, context={}),)}
    )
    note_decisions(decided.ledger, plan)
    (notice,) = outbox.waiting(decided.ledger)
    html = page(report)
    seen = snapshot(
        decided.work, decided.header, decided.ledger, Settings(decided.folder, None, None)
    )
    places = {
        "decision": published["text"],
        "finding": published["finding"],
        "report": report.text,
        "first line": re.sub("<[^>]*>", "", re.findall(r"<h1.*?</h1>", html, re.S)[0]),
        "progress": report.progress[-1].finding,
        "project": decided.desk.description,
        "annotators": decided.desk.guidelines[0],
        "notice": notice.event.text,
        "notebook": seen.text,
        "state": state.metadata["described"],
    }
    for name, text in places.items():
        assert re.search(r"class, or within 0\.3 of it, \d[\d.]*% sure", text), (name, text)


def test_the_page_says_what_a_picture_s_other_probability_is(decided):
    _, belief, now = assess_now(decided.work, decided.ledger)
    found = group_ranks(belief)
    alone = found.p_lowest[now.chosen[0]]
    assert now.confidence is not None
    assert alone < now.confidence - 0.02, "with a tolerance the two numbers differ"
    report = gather(decided.work, decided.header, decided.ledger)
    assert "the lowest itself: one within 0.3 of it is not counted" in report.chances_text
    html = page(report)
    assert report.chances_text in html
    assert "Values within 0.3 of each other count as equal." in html
    assert "right to within 0.3" in report.progress_name


def test_without_a_tolerance_nothing_is_said_of_it(tmp_path):
    report = gather(*(lambda w: (w.work, w.header, w.ledger))(at_work(tmp_path, 5)))
    assert report.chances_text == ""
    assert "within" not in report.text.partition(" items labelled")[0]


def test_several_groups_with_a_tolerance_are_said_of_a_decision_too(tmp_path):
    more = "question: {task: identify, top: 2, tolerance: 0.1}\nstop: {looks: 1}\n"
    work = assessment(tmp_path, more)
    assert said_after(work, ONE_BAD | {"b": (0, 6)}).startswith(
        "“a” and “b” are the 2 least accurate classes, or within 0.1 of them: no other class is "
        "less accurate than any of them by more than 0.1, "
    )
