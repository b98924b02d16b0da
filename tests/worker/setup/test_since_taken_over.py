"""What an assessment takes over from an earlier one, whatever its metric and prior."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.worker.setup.continued import N_THEN
from tests.worker.simulate.simulated_pool import CLASSES
from worker.assessment import assess, reopen
from worker.assessment.verdicts import assess_now
from worker.core.drift.history import believed_share
from worker.core.posterior.belief import group_labelled
from worker.core.posterior.intervals import interval
from worker.core.posterior.summary import mean
from worker.errors import PoolChanged
from worker.findings.changing import continuation
from worker.plan import load_plan, plan_hash, stored_plan
from worker.pool import check_source, compile_pool, open_pool
from worker.setup.replaying import unrepeated_choices


def test_every_label_is_taken_over_into_a_cell_of_its_group(months):
    one, two = months()
    since = two.work.pool.since
    assert since.labels == N_THEN == sum(since.tally.values())
    groups = np.zeros(len(CLASSES), dtype=int)
    for key, n in since.tally.items():
        _, cell, predicted, _ = key.split(":", 3)
        assert two.work.pool.cell_group[int(cell)] == int(predicted)
        groups[int(predicted)] += n
    belief = one.work.believe(one.ledger.state().tally)
    assert groups.tolist() == group_labelled(belief).tolist()


def test_the_same_items_fall_into_the_same_cells(months):
    one, two = months()
    then = one.ledger.state().tally
    expected: dict[str, int] = {}
    for key, n in then.items():
        own = f"0:{key.split(':', 1)[1]}"
        expected[own] = expected.get(own, 0) + n
    assert two.work.pool.since.tally == expected  # both months have one pool here


def test_what_was_known_then_is_kept(months):
    one, two = months()
    belief = one.work.believe(one.ledger.state().tally)
    then = two.work.pool.since.then
    assert [t.mean for t in then] == pytest.approx(mean(belief).tolist(), abs=1e-6)
    np.testing.assert_allclose([[t.low, t.high] for t in then], interval(belief), atol=1e-6)


def test_the_first_belief_is_that_of_the_earlier_labels_in_part(months):
    one, two = months(n_now=0)
    plain = assess(two.work.plan, replace(two.work.pool, since=None)).first
    known = one.work.believe(one.ledger.state().tally)
    between = mean(two.work.first)
    low = np.minimum(mean(plain), mean(known)) - 0.06
    high = np.maximum(mean(plain), mean(known)) + 0.06
    assert ((low < between) & (between < high)).all()
    assert (believed_share(two.work.first) > 0).all()


def test_a_pool_that_continues_nothing_is_not_changed_by_a_byte(months, tmp_path):
    one, two = months(n_now=0)
    base = compile_pool(load_plan(tmp_path / "two" / "plan.yaml"), tmp_path / "again")
    assert base.since is None
    assert base.hash == one.work.pool.hash == two.work.pool.since.base
    assert base.path.read_bytes() == one.work.pool.path.read_bytes()
    assert two.work.pool.hash != base.hash
    np.testing.assert_array_equal(two.work.pool.score, base.score)
    assert b"since" not in one.header.plan.encode()
    assert plan_hash(one.work.plan) != plan_hash(two.work.plan)


def test_the_pools_file_alone_makes_the_same_belief(months):
    _, two = months()
    again = reopen(two.header, Path("nowhere"))
    tally = two.ledger.state().tally
    np.testing.assert_array_equal(mean(again.believe(tally)), mean(two.work.believe(tally)))
    assert open_pool(two.work.pool.path).since == two.work.pool.since
    assert stored_plan(two.header.plan).since == two.work.plan.since


def test_every_choice_can_be_made_again(months):
    _, two = months()
    assert unrepeated_choices(two.work, two.ledger) == []


def test_a_later_change_of_the_predictions_is_noticed(months, tmp_path):
    _, two = months(n_now=0)
    check_source(two.work.pool, two.work.plan)
    with (tmp_path / "two" / "predictions.csv").open("a", encoding="utf-8") as csv:
        csv.write("more,cat,0.5,0.5,0.3,0.2,north,cat\n")
    with pytest.raises(PoolChanged, match="the predictions file changed"):
        check_source(two.work.pool, two.work.plan)


@pytest.mark.parametrize(
    "ways",
    [
        {"question": "{task: identify, metric: bias}"},
        {"question": "{task: identify, metric: ece}", "strata": 1},
        {"question": "{task: estimate, metric: ece}", "groups": "score_bin(5)",
         "stop": "{width: 0.01}"},
        {"question": "{task: estimate, metric: confusion}", "by_probabilities": True,
         "stop": "{rmse: 0.001}"},
        {"question": "{task: identify, metric: cost, which: highest, costs: costs.csv}",
         "by_probabilities": True},
        {"question": "{task: identify, metric: recall, positive: cow}", "groups": "region",
         "by_probabilities": True},
        {"prior": "{kind: uniform}", "strategy": "thompson"},
        {"prior": "{kind: informative}", "question": "{task: compare, compare: all}",
         "stop": "{rope: {epsilon: 0.02}}"},
        {"stop": "{mrr: {confidence: 0.999}, guarantee: anytime}"},
    ],
    ids=["bias", "ece", "pool-ece", "confusion", "cost", "recall", "uniform", "compare", "anytime"],
)  # fmt: skip
def test_it_works_for_every_metric_and_prior(months, ways):
    _, two = months(20, 12, **ways)
    state, belief, verdict = assess_now(two.work, two.ledger)
    assert verdict.labels == 12
    assert np.isfinite(mean(belief)[two.work.pool.group_size > 0]).all()
    told = continuation(two.work, belief, state.tally)
    assert told.labels == 20
    assert all(0 <= group.believed <= 1 for group in told.groups if group.labels_then)
    assert unrepeated_choices(two.work, two.ledger) == []


def test_votes_that_contradict_each_other_go_on_with_the_earlier_labels(months):
    _, two = months(20, 0)
    plan = two.work.plan
    shared = plan.annotation.model_copy(update={"rule": "dawid-skene", "per_item": 2})
    work = assess(plan.model_copy(update={"annotation": shared}), two.work.pool)
    cell, k = int(two.work.pool.cell_start.size - 1), 2
    votes = json.dumps({"1": "cow", "2": "cat"}, separators=(",", ":"))
    belief = work.believe({f"0:{cell}:{k}:{votes}": 1, f"0:0:0:{json.dumps({'1': 'cat'})}": 1})
    assert np.isfinite(mean(belief)).all()


def test_a_guarantee_at_any_time_rests_on_nothing_of_the_past(months):
    _, two = months(20, 0, stop="{mrr: {confidence: 0.999}, guarantee: anytime}")
    alone = assess(two.work.plan, replace(two.work.pool, since=None))
    for name in ("alpha", "beta", "log_weight"):
        mine, plain = (
            getattr(work.confidence_sequence.forecast, name) for work in (two.work, alone)
        )
        np.testing.assert_array_equal(mine, plain)
