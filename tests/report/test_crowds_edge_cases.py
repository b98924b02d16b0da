"""Reports of several annotators without inference, and with few votes or very many."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from connector.labels import Judgement
from tests.report.at_work import at_work
from tests.report.crowds import INFERRED, crowd, report_of, votes_in
from tests.report.examples import EXAMPLES, crowded
from tests.report.test_page import read
from worker.plan.annotation_part import AnnotationPlan
from worker.plan.evaluate_part import EvaluatePlan
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.people import annotators, called
from worker.report.votes import MOST_MISTAKES
from worker.report.votes import agreement as told
from worker.store.records import Record, Seen
from worker.store.rules import Rules, votes_of


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
    plan = SimpleNamespace(evaluate=asked, seed=1, annotation=AnnotationPlan())
    found = [
        told(SimpleNamespace(plan=plan, pool=pool), records)
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


def test_where_no_classes_are_inferred_there_is_no_r_hat(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{per_item: 3, rule: majority}")
    one.label((0.9, 0.9, 0.9), 1)
    assert report_of(one).r_hat is None
