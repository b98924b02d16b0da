"""What a report says of several annotators whose classes are inferred, gold items among them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.report.crowds import ANIMALS, INFERRED, Crowd, crowd, report_of, votes_in
from tests.report.examples import crowded
from tests.report.test_page import read
from worker.assessment.verdicts import assess_now
from worker.core.crowd.agreement import agreement
from worker.findings.decision import decision
from worker.findings.item_classes import answered
from worker.report.contents import Report, as_json
from worker.report.contents_people import MOST_R_HAT
from worker.report.gathering import gather
from worker.report.page import page, write_report
from worker.report.votes import MOST_DISPUTED, MOST_MISTAKES
from worker.store.records import load

RIGHTS = (0.95, 0.9, 0.85, 0.0)  # the last is a spammer


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Crowd:
    """Four people, classes inferred, gold items among them."""
    folder = tmp_path_factory.mktemp("crowd")
    one = crowd(folder, INFERRED, n_items=120, n_gold=25, look_ahead=40)
    one.label(RIGHTS, 2)
    return one


@pytest.fixture(scope="module")
def report(labelled: Crowd) -> Report:
    return report_of(labelled)


def test_gold_items_are_in_no_number_of_the_pool(labelled: Crowd, report: Report) -> None:
    _, _, verdict = assess_now(labelled.work, labelled.ledger)
    in_pool, gold = votes_in(labelled, gold=False), votes_in(labelled, gold=True)
    assert gold
    assert report.labels == verdict.labels == len(in_pool)
    assert report.progress[-1].labels == len(in_pool)
    assert sum(g.labelled for g in report.groups) == len(in_pool)
    records = [load(text) for text in labelled.ledger.every_record()]
    known = answered(labelled.work, labelled.ledger.state().tally, records)
    assert known.rows.size == len(in_pool)
    assert report.items.labelled == len(in_pool)
    assert report.items.gold == len(gold)
    fates = replace(report.items, gold=None, foreign_tasks=0)
    assert sum(n for n in as_plain(fates) if n is not None) == labelled.work.pool.n_items
    assert sum(p.labels for p in report.annotators) == sum(map(len, in_pool.values()))
    assert sum(p.gold or 0 for p in report.annotators) == sum(map(len, gold.values()))
    assert report.agreement is not None
    assert report.agreement.items == sum(len(votes) > 1 for votes in in_pool.values())
    assert all(d.item in in_pool for d in report.disputed)


def test_where_annotators_leave_doubt_no_ece_is_told_of_a_whole_pool(tmp_path: Path) -> None:
    one = crowd(
        tmp_path, "{per_item: 3, rule: dawid-skene}", n_gold=0, look_ahead=60,
        stop="{mrr: {confidence: 0.9999999999}}",
    )  # fmt: skip
    one.label((0.95, 0.9, 0.85), 4)
    found = report_of(one)
    assert found.labels == one.work.pool.n_items
    assert found.reliability is not None
    assert (found.reliability.ece, found.reliability.curve_ece) == (None, None)


def as_plain(items: object) -> list[int | None]:
    return [getattr(items, name) for name in type(items).__slots__]  # type: ignore[attr-defined]


def test_the_spammer_stands_out_and_everybody_keeps_their_place(report: Report) -> None:
    qualities = {p.name: p for p in report.annotators}
    assert list(qualities) == [f"annotator {n}" for n in range(1, 5)]
    worst = min(report.annotators, key=lambda p: p.quality or 0.0)
    others = [p for p in report.annotators if p is not worst]
    assert worst.quality_high is not None
    assert all(worst.quality_high < (p.quality_low or 0.0) for p in others)
    for one in report.annotators:
        assert one.quality_low <= one.quality <= one.quality_high  # type: ignore[operator]
        assert one.gold_right <= one.gold  # type: ignore[operator]
        assert one.shared > 0


def test_confusions_are_the_annotators_own(report: Report) -> None:
    found = report.confusions
    assert found is not None
    assert found.classes == ANIMALS[:3]
    assert [one.annotator for one in found.of] == [p.name for p in report.annotators]
    for one in found.of:
        np.testing.assert_allclose(np.sum(one.mean, axis=1), 1, atol=1e-5)
        assert np.all(np.array(one.sd) > 0)
        for mistake in one.mistakes:
            at = ANIMALS.index(mistake.true), ANIMALS.index(mistake.given)
            assert at[0] != at[1]
            assert mistake.mean == one.mean[at[0]][at[1]]
            assert mistake.low <= mistake.mean <= mistake.high
        assert len(one.mistakes) == min(MOST_MISTAKES, 6)


def test_disputed_items_say_who_won_and_not_who_voted(labelled: Crowd, report: Report) -> None:
    in_pool = votes_in(labelled, gold=False)
    spreads = []
    for one in report.disputed:
        said = list(in_pool[one.item].values())
        assert one.votes == {label: said.count(label) for label in one.votes}
        assert sum(one.votes.values()) == len(said)
        assert len(one.votes) > 1
        assert 1 / 3 <= (one.sure or 0) <= 1
        spreads.append((-stats.entropy(list(one.votes.values())).round(9), one.sure))
    assert 0 < len(spreads) <= MOST_DISPUTED
    assert spreads == sorted(spreads)
    assert "annotator" not in json.dumps(as_json(report)["disputed"])


def test_agreement_is_krippendorff_s_alpha_of_the_pool_s_votes(
    labelled: Crowd, report: Report
) -> None:
    rows = [list(votes.values()) for votes in votes_in(labelled, gold=False).values()]
    counts = np.array([[said.count(name) for name in ANIMALS[:3]] for said in rows])
    alpha = agreement(counts, seed=1).alpha
    assert report.agreement is not None
    assert report.agreement.alpha == pytest.approx(alpha, abs=1e-6)
    assert report.agreement.low < alpha < report.agreement.high  # type: ignore[operator]
    assert report.agreement.votes == sum(len(said) for said in rows if len(said) > 1)


def test_the_same_votes_make_the_same_report(labelled: Crowd, report: Report) -> None:
    again = replace(report_of(labelled), made_at=report.made_at, forecast=report.forecast)
    assert as_json(replace(again, text=report.text)) == as_json(report)


def test_the_words_say_how_votes_count(report: Report) -> None:
    assert "Three people judge every item; classes are inferred from all votes" in report.rule_text
    assert "About 20% of what they see are gold items" in report.rule_text
    terms = {term for term, _ in report.glossary}
    assert {
        "Dawid-Skene",
        "Krippendorff's alpha",
        "gold item",
        "quality of an annotator",
    } <= terms


def test_every_number_of_the_page_is_in_its_json(report: Report, tmp_path: Path) -> None:
    told = json.loads(write_report(report, tmp_path, "r").with_suffix(".json").read_text())
    said = read(page(report)).said
    places = {place for place, _, _ in said}
    assert {"agreement.alpha", "items.gold", "disputed.0.votes", "disputed.0.sure"} <= places
    assert {"annotators.0.quality", "confusions.of.0.mean.0.1"} <= places
    assert told["confusions"]["of"][0]["mistakes"][0]["mean"] >= 0


def test_the_decision_says_how_votes_became_labels(labelled: Crowd) -> None:
    state, belief, verdict = assess_now(labelled.work, labelled.ledger)
    published = json.loads(
        decision(
            labelled.work, labelled.header, state, belief, verdict, kind="stop", reason="by hand"
        )
    )
    assert published["annotation"] == {
        "rule": "dawid-skene",
        "per_item": 3,
        "per_item_max": 3,
        "item_confidence": None,
        "gold_answered": len(votes_in(labelled, gold=True)),
    }
    assert published["skipped_items"] == 0


def test_names_are_those_of_label_studio_only_if_they_are_given(labelled: Crowd) -> None:
    named = gather(labelled.work, labelled.header, labelled.ledger, names={1: "Ada <b>"})
    assert named.confusions is not None
    called = {p.name for p in named.annotators}
    assert "Ada <b>" in called
    assert {one.annotator for one in named.confusions.of} == called
    assert "Ada <b>" not in page(named)
    assert "Ada" not in json.dumps(as_json(report_of(labelled)))


def test_too_many_items_and_classes_have_an_alpha_without_an_interval(
    labelled: Crowd, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.report.votes.MOST_COUNTS", 10)
    found = report_of(labelled).agreement
    assert found is not None
    assert report.agreement is not None
    assert (found.alpha, found.low, found.high) == (report.agreement.alpha, None, None)


def test_the_page_says_when_the_draws_of_the_classes_do_not_agree(report: Report) -> None:
    assert report.r_hat is not None
    assert 0.9 < report.r_hat <= MOST_R_HAT
    well, badly = crowded(), crowded(ANIMALS, 3)
    assert badly.r_hat is not None
    assert ("r_hat", "number", "1.02") in read(page(well)).said
    assert "chains of draws disagree" not in page(well)
    assert "chains of draws disagree" in page(badly)
