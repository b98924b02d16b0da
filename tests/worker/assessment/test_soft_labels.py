"""The task evaluate at work: votes are asked for until the mean distance from people is known."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.worker.assessment.evaluated import (
    MOODS,
    N_ITEMS,
    N_VOTES,
    Evaluated,
    evaluated,
    write_moods,
)
from worker.assessment.soft_labels import votes_of_tally
from worker.assessment.verdicts import assess_now
from worker.core.posterior.intervals import whole
from worker.errors import PlanError
from worker.notebook import snapshot
from worker.plan import load_plan
from worker.pool import check_question, compile_pool
from worker.report.gathering import gather
from worker.report.page import page
from worker.setup.replaying import unrepeated_choices
from worker.simulate.cases import Asked, prepare
from worker.store.settings import read_settings

WIDTH = 0.15


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """An assessment that was carried to its stop."""
    begun = evaluated(tmp_path_factory.mktemp("moods"), f"stop: {{width: {WIDTH}}}\n")
    begun.vote()
    return begun


def decision_of(done: Evaluated) -> dict:
    return json.loads(done.ledger.decisions()[0])


def test_it_stops_when_the_interval_of_the_mean_distance_is_as_narrow_as_asked(done):
    decision = decision_of(done)

    assert (decision["kind"], decision["reason"]) == ("stop", "answered")
    assert decision["is_conclusive"]
    overall = decision["overall"]
    assert overall["high"] - overall["low"] == pytest.approx(decision["value"], abs=1e-5)
    assert decision["value"] <= WIDTH
    assert decision["labels"] < N_ITEMS


@pytest.mark.long  # in short it is the register's row of this task
def test_the_intervals_at_the_stop_hold_the_truth_as_often_as_they_say(tmp_path):
    held = 0
    for seed in range(40):
        begun = evaluated(tmp_path / str(seed), f"stop: {{width: {WIDTH}}}\n", people=seed)
        begun.vote(seed=seed)
        overall = decision_of(begun)["overall"]
        held += overall["low"] <= begun.truth <= overall["high"]
    assert held >= 34  # fewer 95% intervals hold in 3 of 1,000 cases


def test_the_decision_says_what_was_measured_and_on_how_many_votes(done):
    decision = decision_of(done)
    votes = sum(len(snapshot.judgements) for snapshot in done.desk.snapshots())

    assert decision["evaluation"] == {
        "measure": "l2", "level": 0.95, "interval": "hpdi", "votes": votes, "per_item": N_VOTES,
    }  # fmt: skip
    assert decision["question"]["task"] == "evaluate"
    text = decision["text"]
    assert text.startswith("Enough is known: the mean normalised L2 distance between predictions")
    assert "95% HPDI" in text
    assert f"after {votes:,} votes on {decision['labels']} of {N_ITEMS} items" in text


def test_the_same_tally_gives_the_same_belief_and_every_choice_is_repeated(done):
    tally = done.ledger.state().tally
    again = evaluated(done.folder, f"stop: {{width: {WIDTH}}}\n").work

    first, second = done.work.believe(tally), again.believe(dict(reversed(tally.items())))

    assert (first.soft_labels.values == second.soft_labels.values).all()
    assert not unrepeated_choices(done.work, done.ledger)


def test_the_report_shows_distances_and_says_what_is_confused(done):
    report = gather(done.work, done.header, done.ledger)

    assert report.reliability is None
    assert report.metric_name == "normalised L2 distance"
    whole_pool = report.evaluation.predictors[0]
    assert whole_pool.whole.mean.mean == report.overall.mean
    assert {part.name for part in whole_pool.parts} <= set(MOODS)
    first = report.evaluation_text[0]
    assert first.startswith("Where most people say ")
    html = page(report)
    assert 'id="measure-h"' in html
    assert first in html


def test_a_notebook_sees_the_votes_and_the_class_that_most_people_chose(done):
    seen = snapshot(done.work, done.header, done.ledger, read_settings())
    one = seen.judgements.groupby("item").agg(votes=("label", "count"), said=("outcome", "first"))

    assert one["votes"].max() == N_VOTES
    assert set(one["said"]) <= set(MOODS)
    assert seen.groups["mean"].between(0, 1).all()


def test_an_item_with_some_of_its_votes_counts_with_these(tmp_path):
    begun = evaluated(tmp_path)
    begun.turn()
    task = begun.desk.next_task(0)
    begun.desk.annotate(task, "joy", 0)
    begun.desk.annotate(task, "sad", 1)
    begun.turn()

    votes = votes_of_tally(begun.ledger.state().tally, begun.work.pool)

    assert votes.counts.tolist() == [[0, 0, 1, 1]]
    assert begun.work.pool.item(int(votes.row[0])).item_id == begun.desk.data_of(task)["item_id"]
    assert begun.desk.next_task(2) == task


def test_a_vote_that_is_changed_changes_what_is_believed_and_back(tmp_path):
    begun = evaluated(tmp_path)
    begun.vote(rounds=3)
    before = assess_now(begun.work, begun.ledger)[1].soft_labels.values
    annotation = begun.desk.snapshots()[0].judgements[0]
    other = next(mood for mood in MOODS if mood != annotation.label)

    begun.desk.edit(annotation.annotation, other)
    begun.turn()
    between = assess_now(begun.work, begun.ledger)[1].soft_labels.values
    begun.desk.edit(annotation.annotation, annotation.label)
    begun.turn()

    assert (between != before).any()
    assert (assess_now(begun.work, begun.ledger)[1].soft_labels.values == before).all()


@pytest.mark.slow
def test_votes_on_every_item_end_it_but_never_for_certain(tmp_path):
    begun = evaluated(tmp_path, "stop: {width: 0.0001}\n")
    begun.vote()

    _, belief, verdict = assess_now(begun.work, begun.ledger)

    assert (verdict.reason, verdict.certain) == ("exhausted", False)
    assert whole(belief)[1] < whole(belief)[2]
    assert begun.text().startswith("All that can be labelled is labelled")


def test_a_width_that_is_reached_by_the_last_votes_needs_no_confirmation(tmp_path):
    begun = evaluated(tmp_path, "stop: {width: 0.15, looks: 1000}\n")
    begun.vote()
    decision = decision_of(begun)
    assert (decision["labels"], decision["reason"]) == (N_ITEMS, "answered")
    assert decision["value"] <= 0.15


def test_the_interval_has_the_level_of_the_plan(tmp_path):
    widths = []
    for level in (0.5, 0.99):
        begun = evaluated(tmp_path / f"{level}", f"evaluate: {{level: {level}}}\n")
        begun.vote(rounds=2)
        _, low, high = whole(assess_now(begun.work, begun.ledger)[1])
        widths.append(high - low)
        assert f"({100 * level:g}% HPDI" in begun.text()
    assert widths[0] < widths[1] / 2


def test_a_divergence_is_in_bits(tmp_path):
    begun = evaluated(tmp_path, "evaluate: {measure: kl}\nstop: {width: 0.3}\n")
    begun.vote(rounds=3)
    assert "KL divergence (bits)" in begun.text()
    assert np.isfinite(whole(assess_now(begun.work, begun.ledger)[1])).all()


def test_the_pool_keeps_every_items_probabilities_in_the_order_of_its_rows(tmp_path):
    path, _, predicted = write_moods(tmp_path)
    pool = compile_pool(load_plan(path), tmp_path / "pools")
    rows = [int(pool.item(row).item_id.removeprefix("i")) for row in range(pool.n_items)]

    assert pool.probability == pytest.approx(predicted[rows], abs=1e-6)
    assert pool.item(3).data == {"text": f"text {rows[3]}"}
    assert pool.find(["i7"])["i7"] == rows.index(7)


@pytest.mark.parametrize(
    ("more", "key", "text"),
    [
        ("evaluate: {measure: auc}\n", "evaluate.measure", "--experiment uncertainty"),
        ("annotation: {per_item: 1}\n", "annotation.per_item", "3 votes an item"),
    ],
)
def test_what_only_experiments_can_do_is_refused_at_the_start(tmp_path, more, key, text):
    path, *_ = write_moods(tmp_path, more)
    plan = load_plan(path)  # for `assay evaluate` it is fine
    with pytest.raises(PlanError, match=key) as refused:
        check_question(plan, compile_pool(plan, tmp_path / "pools"))
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ("strategy: thompson\n", "strategy"),
        ("population: infinite\n", "population"),
        ("prior: {kind: uniform}\n", "prior.kind"),
        ("stop: {guarantee: anytime, width: 0.05}\n", "annotation.rule"),
    ],
)
def test_what_counts_right_and_wrong_answers_is_refused_with_the_task(tmp_path, more, key):
    path, *_ = write_moods(tmp_path, more)
    with pytest.raises(PlanError, match=key):
        load_plan(path)


def test_a_simulation_of_it_is_refused_because_there_is_no_true_class(tmp_path: Path):
    path, *_ = write_moods(tmp_path)
    with pytest.raises(PlanError, match="one true class an item"):
        prepare(path, tmp_path / "pools", Asked())
