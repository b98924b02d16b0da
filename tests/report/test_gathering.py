"""What a report says follows from the ledger alone, and holds together."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from tests.report.at_work import AtWork, at_work
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS
from worker.assessment.verdicts import assess_now
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.findings.decision import decision
from worker.findings.evidence import overall
from worker.report.contents import Report, as_json
from worker.report.gathering import gather
from worker.report.page import page

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ALL = {
    "question": "{task: compare, compare: all}",
    "stop": "{rope: {}, min_per_group: 50}",
}
OPEN = {"strategy": "assay", "prior": "{kind: empirical}", "stop": "{mrr: {confidence: 0.9999}}"}


def report_of(one: AtWork, **more) -> Report:
    return gather(one.work, one.header, one.ledger, now=NOW, **more)


def test_its_numbers_are_those_of_the_posterior(tmp_path):
    one = at_work(tmp_path, 30, **OPEN)
    _, belief, verdict = assess_now(one.work, one.ledger)
    found = report_of(one)
    assert found.labels == verdict.labels == 30
    assert found.confidence == pytest.approx(verdict.confidence, abs=1e-6)
    assert [g.mean for g in found.groups] == pytest.approx(mean(belief).tolist(), abs=1e-6)
    bounds = [[g.low, g.high] for g in found.groups]
    np.testing.assert_allclose(bounds, interval(belief), atol=1e-6)
    assert sum(g.labelled for g in found.groups) == 30
    assert sum(g.share for g in found.groups) == pytest.approx(1, abs=1e-5)
    chosen = [g.name for g in found.groups if g.is_chosen]
    assert chosen == [one.work.pool.group_names[g] for g in verdict.chosen]


def test_the_decision_says_the_same_of_every_group(tmp_path):
    one = at_work(tmp_path, 30, **OPEN)
    state, belief, verdict = assess_now(one.work, one.ledger)
    published = json.loads(
        decision(one.work, one.header, state, belief, verdict, kind="stop", reason="by hand")
    )
    shown = as_json(report_of(one))["groups"]
    for said, group in zip(published["groups"], shown, strict=True):
        for key in ("size", "labelled", "mean", "low", "high", "p_lowest", "rank", "rank_high"):
            assert group[key] == said[key]


def test_it_is_json_and_the_same_again(tmp_path):
    one = at_work(tmp_path, 20, **OPEN)
    first, second = as_json(report_of(one)), as_json(report_of(one))
    assert json.loads(json.dumps(first, allow_nan=False)) == json.loads(json.dumps(second))


def test_the_first_line_says_how_many_labels_more_and_when(tmp_path):
    one = at_work(tmp_path, **OPEN)
    one.desk.now_us = int(NOW.timestamp() * 1e6) - 3600 * 10**6
    one.label(30)
    found = report_of(one)
    assert found.text.startswith("Not yet: at present")
    assert found.forecast is not None
    assert found.text.endswith(found.forecast.text)
    assert "at the present pace that is" in found.forecast.text
    assert found.forecast.pace_per_hour == pytest.approx(30, rel=0.1)
    assert not found.is_enough


def test_before_the_first_label_nothing_is_foreseen(tmp_path):
    one = at_work(tmp_path, **OPEN)
    one.turn()
    found = report_of(one)
    assert found.forecast is not None
    assert found.forecast.labels_more is None
    assert "cannot be said yet" in found.text
    assert [point.labels for point in found.progress] == [0]


def test_after_the_stop_it_says_what_was_published(tmp_path):
    one = at_work(tmp_path, 140, stop="{mrr: {confidence: 0.9}}")
    found = report_of(one)
    published = json.loads(one.ledger.decisions()[0])
    assert found.status == "stopped"
    assert found.text == published["text"]
    assert found.is_enough
    assert found.forecast is None
    assert [d["text"] for d in found.decisions] == [published["text"]]


def test_after_the_stop_what_confirms_the_finding_is_told_in_short(tmp_path):
    one = at_work(tmp_path, 140, stop="{mrr: {confidence: 0.9}}")
    stop = json.loads(one.ledger.decisions()[0])
    (chosen,) = stop["chosen"]
    (right,) = next(
        seen.judgements
        for seen in one.desk.changes(0)
        if group_of(one, seen.item) == seen.judgements[0].label == chosen
    )
    one.desk.edit(right.annotation, next(name for name in CLASSES if name != chosen))
    one.turn()
    review = json.loads(one.ledger.decisions()[-1])
    assert (review["since"], review["labels"]) == ("confirmed", stop["labels"])
    said = f"{stop['text']} Confirmed by later labels, {review['labels']} in all."
    assert report_of(one).text == said


def test_after_the_stop_a_finding_that_is_another_now_is_told_whole(tmp_path):
    one = at_work(tmp_path, 140, stop="{mrr: {confidence: 0.9}}")
    stop = json.loads(one.ledger.decisions()[0])
    (chosen,) = stop["chosen"]
    for seen in list(one.desk.changes(0)):  # somebody changes all that was held against it
        if group_of(one, seen.item) == chosen:
            for judgement in seen.judgements:
                one.desk.edit(judgement.annotation, chosen)
    one.turn()
    review = json.loads(one.ledger.decisions()[-1])
    assert review["since"] == "overturned"
    assert report_of(one).text == f"{stop['text']} {review['text']}"


def group_of(one: AtWork, item: str) -> str:
    pool = one.work.pool
    return pool.group_names[pool.item(pool.find([item])[item]).group]


def test_progress_ends_where_the_assessment_stands_and_reaches_the_stop_line(tmp_path):
    one = at_work(tmp_path, 140, stop="{mrr: {confidence: 0.9}}")
    found = report_of(one)
    labels = [point.labels for point in found.progress]
    assert labels == sorted(set(labels))
    assert labels[-1] == found.labels
    assert found.progress[-1].reached == found.confidence
    assert found.progress[-1].reached >= found.progress_target == 0.9


def test_progress_of_an_estimate_falls_towards_its_line(tmp_path):
    one = at_work(tmp_path, 60, question="{task: estimate}", stop="{rmse: 0.01}")
    found = report_of(one)
    assert not found.progress_is_share
    assert found.progress[-1].reached < found.progress[0].reached
    assert found.value == found.progress[-1].reached
    assert found.boundary is None


def test_the_boundary_lies_between_the_chosen_groups_and_the_others(tmp_path):
    found = report_of(at_work(tmp_path, 40, question="{task: identify, top: 2}", **OPEN))
    inside = [g.mean for g in found.groups if g.is_chosen]
    outside = [g.mean for g in found.groups if not g.is_chosen]
    assert max(inside) < found.boundary < min(outside)


def test_pairs_add_up_to_one(tmp_path):
    one = at_work(
        tmp_path, 30, question="{task: compare, compare: all}", stop="{rope: {confidence: 0.999}}"
    )
    found = report_of(one)
    assert found.n_pairs == len(found.pairs) == 3
    assert found.epsilon == 0.05
    for pair in found.pairs:
        assert pair.below + pair.within + pair.above == pytest.approx(1, abs=1e-5)


def test_a_confusion_matrix_has_rows_that_add_up_to_one(tmp_path):
    one = at_work(
        tmp_path,
        30,
        question="{task: estimate, metric: confusion}",
        stop="{rmse: 0.001}",
        prior="{kind: empirical}",
        by_probabilities=True,
    )
    found = report_of(one).confusion
    assert found is not None
    assert found.classes == CLASSES
    for low, middle, high in zip(found.low, found.mean, found.high, strict=True):
        assert sum(middle) == pytest.approx(1, abs=1e-5)
        assert all(a <= b <= c for a, b, c in zip(low, middle, high, strict=True))


def test_what_changed_since_the_report_before(tmp_path):
    one = at_work(tmp_path, 20, **OPEN)
    before = as_json(report_of(one))
    one.label(15)
    found = report_of(one, previous=before).changes
    assert found is not None
    assert found.labels == 15
    assert found.text_was == before["text"]
    steps = [abs(moved.now - moved.was) for moved in found.moved]
    assert steps == sorted(steps, reverse=True)
    assert steps


def test_what_became_of_every_item(tmp_path):
    one = at_work(tmp_path, 10, **OPEN)
    task = one.desk.next_task(7)
    for author in (7, 8):
        one.desk.skip(task, author)
    one.turn()
    one.desk.submit(one.desk.next_task(1), one.desk.result("zebra"), 1)
    one.turn()
    found = report_of(one)
    fates = found.items
    assert (fates.skipped, fates.rejected) == (1, 1)
    assert "zebra" in found.rejected[0].reason
    parts = (
        fates.labelled, fates.queued, fates.skipped, fates.rejected, fates.deleted,
        fates.withdrawn, fates.unclaimed,
    )  # fmt: skip
    assert sum(parts) == N_ITEMS
    terms = [term for term, _ in found.glossary]
    assert {"skip", "skipped item", "rejected item"} <= {*terms}
    assert "withdrawn item" not in terms


def test_annotators_are_nameless_and_stand_in_the_order_of_their_first_answers(tmp_path):
    one = at_work(tmp_path, **OPEN)
    one.label(21, people=3)
    people = report_of(one).annotators
    assert [p.name for p in people] == ["annotator 1", "annotator 2", "annotator 3"]
    assert [p.labels for p in people] == [7, 7, 7]
    assert {p.median_s for p in people} == {1.5}
    assert {p.agreement for p in people} == {None}  # nobody else judged their items


def test_names_are_shown_only_if_they_are_given(tmp_path):
    one = at_work(tmp_path, **OPEN)
    one.label(4, people=2)
    people = report_of(one, names={1: "Ada Lovelace"}).annotators
    assert [p.name for p in people] == ["Ada Lovelace", "user 2 of Label Studio"]


def test_a_second_opinion_shows_as_agreement(tmp_path):
    one = at_work(tmp_path, **OPEN)
    one.turn()
    task = one.desk.next_task(1)
    right = one.truth[one.desk.data_of(task)["item_id"]]
    wrong = next(name for name in CLASSES if name != right)
    one.desk.annotate(task, right, 1)
    one.desk.annotate(task, wrong, 2)
    one.turn()
    assert [p.agreement for p in report_of(one).annotators] == [1.0, 0.0]


def test_everything_labelled_is_known_for_certain(tmp_path):
    one = at_work(tmp_path, N_ITEMS + 5, question="{task: estimate}", stop="{rmse: 0.000001}")
    found = report_of(one)
    assert found.labels == N_ITEMS
    assert found.is_certain
    assert found.is_enough
    for group in found.groups:
        assert group.low == group.mean == group.high == pytest.approx(group.right / group.size)


def test_bands_are_there_under_the_guarantee(tmp_path):
    one = at_work(
        tmp_path, 40, prior="{kind: empirical}", strategy="assay",
        stop="{mrr: {confidence: 0.99}, guarantee: anytime}",
    )  # fmt: skip
    found = report_of(one)
    assert all(0 <= g.band_low <= g.band_high <= 1 for g in found.groups)
    assert found.forecast is None or found.forecast.labels_more is None


@pytest.mark.parametrize(
    ("asked", "n_labels", "is_told"),
    [
        (OPEN, 40, False),
        ({"question": "{task: compare, compare: [[dog, cat]]}", "stop": "{rope: {}}"}, 12, False),
        (ALL, 40, False),
        (ALL, N_ITEMS, True),
        ({"question": "{task: estimate}", "stop": "{rmse: 0.001}"}, 12, True),
    ],
)
def test_the_whole_pool_is_told_by_an_estimate_or_once_all_is_known(
    tmp_path, asked, n_labels, is_told
):
    found = report_of(at_work(tmp_path, n_labels, **asked))
    assert (found.overall is not None) == is_told
    assert (found.reliability is not None) == is_told
    assert ("Whole pool" in page(found)) == is_told


def test_the_overall_value_is_that_of_the_decision(tmp_path):
    one = at_work(tmp_path, 40, question="{task: estimate}", stop="{rmse: 0.001}")
    _, belief, _ = assess_now(one.work, one.ledger)
    told = report_of(one).overall
    assert (told.mean, told.low, told.high) == pytest.approx(overall(one.work, belief), abs=1e-6)
