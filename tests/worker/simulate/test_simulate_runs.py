"""A run of a simulation: what fixes it, where it ends, and what it measures of every metric."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS, at_work, write_plan
from worker.assessment import Assessment
from worker.simulate.measuring import Measures, Run, as_run
from worker.simulate.replay import labels, replay, run_seed, shuffled
from worker.simulate.schedule import log_steps, looks
from worker.simulate.truths import cell_of_rows, true_values


def without_time(run: Run) -> Run:
    return replace(run, cpu_s=0.0)


def test_seed_and_number_fix_a_run(small):
    first, again = (replay(*small, Measures(80, (50,)), seed=4, number=2) for _ in range(2))
    assert without_time(first) == without_time(again)


def test_another_number_or_seed_is_another_run(small):
    orders = {
        tuple(shuffled(small[0], np.random.default_rng(run_seed(seed, number))))
        for seed, number in ((4, 2), (4, 3), (5, 2))
    }
    assert len(orders) == 3


def test_every_item_is_revealed_once_and_in_its_own_cell(small):
    assessment, outcome = small
    order = shuffled(assessment, np.random.default_rng(0))

    revealed = list(labels(assessment, outcome, order))

    assert sorted(r.row for r in revealed) == list(range(N_ITEMS))
    assert (cell_of_rows(assessment)[order] == cell_of_rows(assessment)).all()
    final = revealed[-1].belief
    wrong = np.bincount(cell_of_rows(assessment), weights=outcome > 0)
    assert final.wrong.tolist() == wrong.tolist()


def test_once_all_is_labelled_nothing_is_wrong_any_more(small):
    run = replay(*small, Measures(N_ITEMS, (10, N_ITEMS)), seed=1, number=0)

    assert run.labels == N_ITEMS
    assert len(run.mrr) == len(log_steps(N_ITEMS))
    assert run.mrr[-1] == 1
    assert run.rmse[0] > 0
    assert run.rmse[1] == pytest.approx(0, abs=1e-12)
    assert run.stop is not None
    assert run.stop.is_conclusive


def test_a_run_ends_where_it_is_told_to(small):
    run = replay(*small, Measures(37, (5, 37)), seed=1, number=0)
    assert run.labels == 37
    assert len(run.mrr) == 4  # after 10, 20, 30 and 37 labels
    assert len(run.rmse) == 2


def test_a_spent_budget_is_a_stop_without_a_conclusion(tmp_path):
    plan = write_plan(tmp_path, stop="{mrr: {confidence: 0.999999}, budget: 23}")
    stop = replay(*at_work(plan), Measures(60), seed=1, number=0).stop
    assert stop is not None
    assert (stop.labels, stop.reason, stop.is_conclusive) == (23, "budget", False)


def test_a_comparison_ends_when_its_groups_are_labelled_and_keeps_its_last_error(tmp_path):
    plan = write_plan(tmp_path, question="{task: compare, compare: [cat, dog]}", stop="{rope: {}}")
    assessment, outcome = at_work(plan)
    run = replay(assessment, outcome, Measures(N_ITEMS, (20, N_ITEMS)), seed=1, number=0)

    of_pair = int(assessment.pool.group_size[:2].sum())
    assert run.labels == of_pair < N_ITEMS
    assert run.mrr == ()
    assert len(run.rmse) == 2


def test_a_comparison_that_nothing_decides_ends_without_a_conclusion(tmp_path):
    question, rule = "{task: compare, compare: [cat, dog]}", "{rope: {confidence: 0.999999}}"
    plan = write_plan(tmp_path, question=question, stop=rule, more="population: infinite\n")
    assessment, outcome = at_work(plan)
    stop = replay(assessment, outcome, Measures(N_ITEMS), seed=1, number=0).stop
    assert stop is not None
    of_pair = int(assessment.pool.group_size[:2].sum())
    assert (stop.labels, stop.reason, stop.is_conclusive) == (of_pair, "exhausted", False)


def test_a_run_survives_the_way_through_json(small):
    run = replay(*small, Measures(N_ITEMS, (10,)), seed=1, number=0)
    assert as_run(asdict(run)) == run


@given(until=st.integers(1, 50_000), budget=st.none() | st.integers(1, 60_000))
def test_the_rule_is_asked_often_enough_at_the_budget_and_at_the_end(until, budget):
    asked = list(looks(until, budget))

    assert asked == sorted(set(asked))
    assert asked[:100] == list(range(1, min(until, 100) + 1))
    assert all(later - n <= max(1, 0.02 * n) for n, later in pairwise(asked))
    assert asked[-1] == until
    assert budget is None or budget > until or budget in asked


OF_METRICS = {
    "bias": ("{task: identify, metric: bias}", "predicted_class", "{mrr: {}}"),
    "ece": ("{task: estimate, metric: ece}", "score_bin(5)", "{rmse: 0.02}"),
    "classwise ece": ("{task: identify, metric: ece, bins: 3}", "predicted_class", "{mrr: {}}"),
    "cost": ("{task: identify, metric: cost, costs: costs.csv}", "predicted_class", "{mrr: {}}"),
    "confusion": ("{task: estimate, metric: confusion}", "predicted_class", "{rmse: 0.06}"),
    "recall": (
        "{task: compare, metric: recall, positive: cow, compare: all}",
        "region",
        "{rope: {}}",
    ),
}


def of_metric(folder: Path, metric: str) -> tuple[Assessment, np.ndarray]:
    question, groups, stop = OF_METRICS[metric]
    plan = write_plan(
        folder,
        prior="{kind: empirical}",
        strategy="assay",
        question=question,
        groups=groups,
        stop=stop,
        by_probabilities=True,
    )
    return at_work(plan)


def whole_of(assessment: Assessment, outcome: np.ndarray) -> float:
    """The pool's own value: of its groups, by their shares."""
    share = assessment.pool.group_size / assessment.pool.n_items
    return float(np.nansum(share * true_values(assessment, outcome)))


@pytest.mark.parametrize("metric", OF_METRICS)
def test_every_metric_is_replayed_until_nothing_is_wrong(tmp_path, metric):
    assessment, outcome = of_metric(tmp_path, metric)
    run = replay(assessment, outcome, Measures(N_ITEMS, (10, N_ITEMS)), seed=1, number=0)

    assert run.labels == N_ITEMS
    assert run.rmse[0] > 0.01
    assert run.rmse[1] == pytest.approx(0, abs=1e-9)
    assert bool(run.pooled) == (metric not in ("confusion", "recall"))
    if run.pooled:
        assert run.pooled[1] == pytest.approx(0, abs=1e-9)
        assert run.whole == pytest.approx(whole_of(assessment, outcome))
    assert run.stop is not None
    assert run.stop.is_conclusive


def test_true_values_are_what_the_definitions_say(tmp_path):
    values = {}
    for metric in OF_METRICS:
        assessment, outcome = of_metric(tmp_path / metric, metric)
        values[metric] = true_values(assessment, outcome)
    table = pd.read_csv(tmp_path / "bias" / "predictions.csv")
    right = table.predicted == table.truth
    by_class = [table.predicted == name for name in CLASSES]
    costs = pd.read_csv(tmp_path / "bias" / "costs.csv", header=None).to_numpy()
    paid = costs[table.truth.map(CLASSES.index), table.predicted.map(CLASSES.index)]

    def calibration_error(of: pd.Series, bins: int) -> float:
        which = np.minimum((table.score[of] * bins).astype(int), bins - 1)
        gaps = (table.score[of] - right[of]).groupby(which).sum().abs()
        return float(gaps.sum() / of.sum())

    bias = [(table.score - right)[of].mean() for of in by_class]
    assert values["bias"] == pytest.approx(bias, abs=1e-5)
    assert values["cost"] == pytest.approx([paid[of].mean() for of in by_class])
    classwise = [calibration_error(of, 3) for of in by_class]
    assert values["classwise ece"] == pytest.approx(classwise, abs=1e-5)
    share = of_metric(tmp_path / "ece", "ece")[0].pool.group_size / N_ITEMS
    pooled = float(np.nansum(share * values["ece"]))
    assert pooled == pytest.approx(calibration_error(right | ~right, 5), abs=1e-5)
    is_cow = table.truth == "cow"
    found = (table.predicted == "cow")[is_cow].groupby(table.region[is_cow]).mean()
    assert values["recall"] == pytest.approx(found.to_list())
    assert values["confusion"][:, 0] == pytest.approx([right[of].mean() for of in by_class])
    assert values["confusion"].sum(axis=1) == pytest.approx(1)
