"""What a report says of several annotators: from the votes alone, and of the pool without gold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from connector.labels import Judgement
from tests.report.at_work import at_work
from tests.report.crowds import ANIMALS, Crowd, crowd
from tests.report.examples import EXAMPLES, crowded
from tests.report.test_page import read
from worker.core.crowd.agreement import agreement
from worker.findings.decision import decision
from worker.plan.evaluate_part import EvaluatePlan
from worker.report.contents import Report, as_json
from worker.report.contents_people import MOST_R_HAT
from worker.report.gathering import gather
from worker.report.page import page, write_report
from worker.report.people import annotators, called
from worker.report.votes import MOST_DISPUTED, MOST_MISTAKES
from worker.report.votes import agreement as told
from worker.store.records import Record, Seen, load
from worker.store.rules import Rules, votes_of
from worker.turn.loop import assess_now

INFERRED = "{per_item: 3, rule: dawid-skene, gold: {items: gold.csv, rate: 0.2}}"
RIGHTS = (0.95, 0.9, 0.85, 0.0)  # the last is a spammer


def report_of(one: Crowd) -> Report:
    return gather(one.work, one.header, one.ledger)


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


def votes_in(one: Crowd, *, gold: bool) -> dict[str, dict[int, str]]:
    """Item -> who said what, of the items of the pool or of the gold items."""
    records = [load(text) for text in one.ledger.every_record()]
    found = {r.item: votes_of(r.judgements()) for r in records if (r.cell < 0) == gold}
    return {item: votes for item, votes in found.items() if votes}


def test_gold_items_are_in_no_number_of_the_pool(labelled: Crowd, report: Report) -> None:
    _, _, verdict = assess_now(labelled.work, labelled.ledger)
    in_pool, gold = votes_in(labelled, gold=False), votes_in(labelled, gold=True)
    assert gold
    assert report.labels == verdict.labels == len(in_pool)
    assert report.progress[-1].labels == len(in_pool)
    assert sum(g.labelled for g in report.groups) == len(in_pool)
    assert report.reliability is not None
    assert sum(b.labelled for b in report.reliability.bins) == len(in_pool)
    assert sum(b.items for b in report.reliability.bins) == labelled.work.pool.n_items
    assert report.items.labelled == len(in_pool)
    assert report.items.gold == len(gold)
    fates = replace(report.items, gold=None, foreign_tasks=0)
    assert sum(n for n in as_plain(fates) if n is not None) == labelled.work.pool.n_items
    assert sum(p.labels for p in report.annotators) == sum(map(len, in_pool.values()))
    assert sum(p.gold or 0 for p in report.annotators) == sum(map(len, gold.values()))
    assert report.agreement is not None
    assert report.agreement.items == sum(len(votes) > 1 for votes in in_pool.values())
    assert all(d.item in in_pool for d in report.disputed)


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


@pytest.mark.parametrize("rule", ["first", "majority"])
def test_without_inference_quality_rests_on_gold_items_alone(tmp_path: Path, rule: str) -> None:
    one = crowd(tmp_path, f"{{per_item: 3, rule: {rule}, gold: {{items: gold.csv, rate: 0.5}}}}")
    one.label((0.9, 0.9, 0.9), 2)
    found = report_of(one)
    assert found.confusions is None
    assert found.agreement is not None
    assert all(d.sure is None for d in found.disputed)
    for person in found.annotators:
        distribution = stats.beta(person.gold_right + 0.5, person.gold - person.gold_right + 0.5)  # type: ignore[operator]
        said = [person.quality, person.quality_low, person.quality_high]
        assert said == pytest.approx([distribution.mean(), *distribution.interval(0.95)], abs=1e-6)
    assert "by the gold items alone" in page(found)


def test_one_annotator_an_item_and_no_gold_looks_as_before(tmp_path: Path) -> None:
    one = at_work(tmp_path, 10)
    found = gather(one.work, one.header, one.ledger)
    assert (found.agreement, found.disputed, found.confusions) == (None, (), None)
    assert {(p.quality, p.gold, p.shared) for p in found.annotators} == {(None, None, 0)}
    assert found.items.gold is None
    assert "people judge" not in found.rule_text
    text = page(found)
    for name in ("agreement", "votes"):
        assert f'id="{name}"' not in text
    for word in ("gold", "Dawid", "Krippendorff", "Quality"):
        assert word not in text


def test_a_spare_gold_item_alone_is_no_label(tmp_path: Path) -> None:
    one = crowd(tmp_path, INFERRED.replace("0.2", "0.5"))
    one.turn()
    while set(votes_in(one, gold=False)) == set() and (task := one.desk.next_task(1)) is not None:
        item = one.desk.data_of(task)["item_id"]
        if item.startswith("g"):
            one.desk.annotate(task, one.truth[item], 1)
        else:
            one.desk.skip(task, 1)
    one.turn()
    found = report_of(one)
    assert found.labels == found.items.labelled == 0
    assert (found.items.gold or 0) > 0
    assert found.annotators[0].labels == 0
    assert found.annotators[0].quality is not None
    assert found.agreement is None
    page(found)


def test_an_item_with_some_of_its_votes_is_labelled_and_nothing_else(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{per_item: 3, rule: dawid-skene, skips: 2}", n_items=30)
    one.turn()
    one.answer(1, most=4)
    one.turn()
    task = one.desk.task_ids()[0]
    for author in (2, 3):
        one.desk.skip(task, author)  # given up, but its first vote counts
    one.turn()
    fates = report_of(one).items
    assert (fates.labelled, fates.skipped, fates.gold) == (4, 0, None)
    assert fates.queued == one.ledger.state().claims - 4
    assert fates.labelled + fates.queued + fates.unclaimed == 30


def test_votes_that_all_agree_on_one_class_leave_agreement_open(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{per_item: 2, rule: dawid-skene}", n_items=12)
    one.turn()
    for author in (1, 2):
        one.answer(author, said="cat", most=5)
    one.turn()
    found = report_of(one)
    assert found.agreement is not None
    assert (found.agreement.alpha, found.agreement.low, found.agreement.items) == (None, None, 5)
    assert found.disputed == ()
    text = page(found)
    assert "All votes name the same class" in text
    assert "On none of them do the votes differ" in text


@pytest.mark.slow
def test_of_many_classes_the_most_frequent_mistakes_are_told(tmp_path: Path) -> None:
    names = tuple(f"class {n:02d}" for n in range(14))
    one = crowd(tmp_path, "{per_item: 2, rule: dawid-skene}", classes=names, look_ahead=40)
    one.label((0.6, 0.9), 1)
    found = report_of(one)
    assert found.confusions is not None
    assert found.confusions.classes == ()
    assert {one.mean for one in found.confusions.of} == {()}
    assert {len(one.mistakes) for one in found.confusions.of} == {MOST_MISTAKES}
    text = page(found)
    assert "habit-0" not in text
    assert 'id="mistakes-table"' in text


def test_too_many_people_for_pictures_share_one_short_table() -> None:
    text = page(EXAMPLES["crowded-people"]())
    assert "habit-" not in text
    rows = {p for p, _, _ in read(text).said if p.startswith("confusions.of.") and "given" in p}
    assert {int(path.split(".")[2]) for path in rows} == set(range(60))
    assert len(rows) <= 400
    hundreds = page(crowded(people=700))
    assert len(hundreds) < 1_000_000


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


def judged(record: int, *said: tuple[int, str]) -> Record:
    """An item of the pool with these answers, by author."""
    judgements = tuple(
        Judgement(10 * record + n, author, "valid", label, "", 10**6 * n, 1.0)
        for n, (author, label) in enumerate(said)
    )
    seen = ((record, Seen(1, 1, False, judgements)),)
    rules = Rules("first", 2, 2)
    outcome = rules.outcome(votes_of(judgements), record)
    return Record(f"i{record}", record, record, 0, 0, seen, False, outcome)


def test_ratings_agree_by_their_order_and_not_by_that_of_the_pool_s_classes() -> None:
    rng = np.random.default_rng(0)
    stars = [np.clip(rng.integers(1, 11) + rng.integers(-1, 2, 3), 1, 10) for _ in range(60)]
    records = [
        judged(n, *((who, str(label)) for who, label in enumerate(of.tolist())))
        for n, of in enumerate(stars)
    ]
    asked = EvaluatePlan.model_validate({"scale": {"low": 1, "high": 10}})
    found = [
        told(SimpleNamespace(plan=SimpleNamespace(evaluate=asked, seed=1), pool=pool), records)
        for pool in (
            SimpleNamespace(classes=tuple(map(str, range(1, 11)))),
            SimpleNamespace(classes=tuple(sorted(map(str, range(1, 11))))),
        )
    ]
    assert found[0] == found[1]
    assert found[0].alpha > 0.8


def test_who_answers_an_item_again_has_one_label_there() -> None:
    record = judged(1, (7, "cat"), (7, "dog"), (7, "dog"), (8, "cat"))
    plan = SimpleNamespace(annotation=SimpleNamespace(gold=None))
    work = SimpleNamespace(plan=plan, rules=Rules("first", 2, 2), soft_labels=None)
    work.votes = lambda tally: None
    again, once = annotators(work, {}, [record], called([record], ()))
    assert (again.labels, again.shared, again.agreement) == (1, 1, 1.0)
    assert (once.labels, once.shared) == (1, 1)


def test_the_page_says_when_the_draws_of_the_classes_do_not_agree(report: Report) -> None:
    assert report.r_hat is not None
    assert 0.9 < report.r_hat <= MOST_R_HAT
    well, badly = crowded(), crowded(ANIMALS, 3)
    assert badly.r_hat is not None
    assert ("r_hat", "number", "1.02") in read(page(well)).said
    assert "chains of draws disagree" not in page(well)
    assert "chains of draws disagree" in page(badly)


def test_where_no_classes_are_inferred_there_is_no_r_hat(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{per_item: 3, rule: majority}")
    one.label((0.9, 0.9, 0.9), 1)
    assert report_of(one).r_hat is None
