"""What a run of a simulation is, what it measures, and what many of them come to."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.worker.assessment.models_pool import values_of, write_models
from tests.worker.simulate.simulated_pool import CLASSES, N_ITEMS, write_plan
from worker.assessment import Assessment, assess
from worker.assessment.believing import scores
from worker.core.posterior.belief import group_share
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters
from worker.core.questions.question import Question
from worker.errors import PlanError
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.pool.truth import read_truth
from worker.simulate.cases import Asked, Case, prepare, replay_run
from worker.simulate.findings import is_among, is_right, true_region
from worker.simulate.measuring import Measures, Run, Stop, as_run, log_steps, looks
from worker.simulate.replay import labels, replay, run_seed, shuffled
from worker.simulate.report import planned, simulated
from worker.simulate.truths import (
    cell_of_rows,
    drawn_from,
    outcomes,
    plausible,
    true_values,
)

N_RUNS = 60 if os.environ.get("ASSAY_SLOW") == "0" else 300


def at_work(plan: Path) -> tuple[Assessment, np.ndarray]:
    """The assessment of a plan, and the outcomes of its items."""
    read = load_plan(plan, for_simulation=True)
    assessment = assess(read, compile_pool(read, plan.parent / "pools"))
    return assessment, outcomes(assessment, read_truth(read, assessment.pool, "truth"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assessment, np.ndarray]:
    return at_work(write_plan(tmp_path_factory.mktemp("small")))


def without_time(run: Run) -> Run:
    return replace(run, cpu_s=0.0)


# --- a run ---------------------------------------------------------------------------------------


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
    "tpr": ("{task: compare, metric: tpr, positive: cow, compare: all}", "region", "{rope: {}}"),
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


@pytest.mark.parametrize("metric", OF_METRICS)
def test_every_metric_is_replayed_until_nothing_is_wrong(tmp_path, metric):
    assessment, outcome = of_metric(tmp_path, metric)
    run = replay(assessment, outcome, Measures(N_ITEMS, (10, N_ITEMS)), seed=1, number=0)

    assert run.labels == N_ITEMS
    assert run.rmse[0] > 0.01
    assert run.rmse[1] == pytest.approx(0, abs=1e-9)
    assert bool(run.pooled) == (metric not in ("confusion", "tpr"))
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
    assert values["tpr"] == pytest.approx(found.to_list())
    assert values["confusion"][:, 0] == pytest.approx([right[of].mean() for of in by_class])
    assert values["confusion"].sum(axis=1) == pytest.approx(1)


# --- whether a finding is right ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "region"),
    [(-0.06, "below"), (-0.05, "within"), (0.3 - 0.25, "within"), (0.051, "above")],
)
def test_a_difference_of_just_epsilon_is_within(difference, region):
    assert true_region(difference, 0.05) == region


def verdict_after(assessment: Assessment, outcome: np.ndarray, n: int):
    """The belief after n labels and what would be said then."""
    belief = next(r.belief for i, r in enumerate(labels(assessment, outcome), 1) if i == n)
    return belief, assessment.decide(belief, N_ITEMS - n)


def test_a_named_group_is_right_if_it_is_the_lowest_or_tied_with_it(small):
    assessment, outcome = small
    belief, verdict = verdict_after(assessment, outcome, 30)
    (chosen,) = verdict.chosen
    truth = np.full(3, 0.8)

    assert is_right(assessment, verdict, belief, truth)  # all are tied
    truth[chosen] = 0.7
    assert is_right(assessment, verdict, belief, truth)
    truth[chosen] = 0.9
    assert not is_right(assessment, verdict, belief, truth)
    tolerant = replace(assessment, question=Question("identify", tolerance=0.15))
    assert is_right(tolerant, verdict, belief, truth)


def test_a_shortlist_is_right_if_the_groups_asked_for_are_in_it():
    question = Question("identify", shortlist=2)
    assert is_among((2, 0), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), question)
    assert not is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), question)
    assert is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.1, 0.4]), question)  # tied
    two = replace(question, top=2, shortlist=3)
    assert not is_among((0, 2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), two)
    highest = replace(question, which="highest")
    assert is_among((2, 3), (0, 1, 2, 3), np.array([0.1, 0.2, 0.3, 0.4]), highest)


def test_a_comparison_is_right_if_every_pair_lies_where_it_was_said_to(tmp_path):
    plan = write_plan(tmp_path, question="{task: compare, compare: all}", stop="{rope: {}}")
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, N_ITEMS)
    truth = true_values(assessment, outcome)

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, truth[::-1])


@pytest.mark.parametrize("rule", ["rmse", "width"])
def test_an_estimate_is_right_if_the_truth_is_as_near_as_was_said(tmp_path, rule):
    plan = write_plan(tmp_path, question="{task: estimate}", stop=f"{{{rule}: 0.1}}")
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, N_ITEMS - 1)
    truth = true_values(assessment, outcome)

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, np.clip(truth + 0.3, 0, 1) - 0.1)


@pytest.mark.parametrize("guarantee", ["posterior", "anytime"])
def test_the_width_of_a_pools_calibration_error_is_a_claim_about_the_pool_not_its_bins(
    tmp_path, guarantee
):
    plan = write_plan(
        tmp_path,
        question="{task: estimate, metric: ece}",
        groups="score_bin(5)",
        stop=f"{{width: 0.1, guarantee: {guarantee}}}",
    )
    assessment, outcome = at_work(plan)
    belief, verdict = verdict_after(assessment, outcome, 100)
    share, truth = group_share(belief), mean(belief)
    first, second = np.flatnonzero(share)[[0, -1]]
    truth[first] += 0.5  # far from what is believed of two bins, but not of their sum
    truth[second] -= 0.5 * share[first] / share[second]

    assert is_right(assessment, verdict, belief, truth)
    assert not is_right(assessment, verdict, belief, truth + 1)


# --- drawn truths --------------------------------------------------------------------------------


def test_drawn_truths_are_as_accurate_as_the_prior_expects(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, prior="{kind: informative, strength: 2}"))
    rng = np.random.default_rng(1)
    size = assessment.pool.cell_size
    drawn = [1 - plausible(assessment, rng) for _ in range(2000)]
    shares = np.array([np.add.reduceat(d, assessment.pool.cell_start) / size for d in drawn])
    expected = assessment.pool.cell_mean_score
    # a Beta of strength 2 has a variance of s (1 - s) / 3
    error = np.sqrt(expected * (1 - expected) * (1 / 3 + 1 / size) / 2000)

    assert (np.abs(shares.mean(axis=0) - expected) < 4 * error).all()


def test_cells_of_a_group_are_drawn_with_the_same_group_effect(tmp_path):
    """Else groups of many cells would all be alike, and too certain."""
    plan = write_plan(tmp_path, prior="{kind: empirical}", strata=4)
    assessment, _ = at_work(plan)
    differing = prior_of(Hyperparameters(log_tau=0.7), scores(assessment.pool))
    prior = with_prior(assessment.first, *differing)
    rng = np.random.default_rng(1)
    cell = cell_of_rows(assessment)
    group = assessment.pool.cell_group
    shares = []
    for _ in range(400):
        wrong = drawn_from(prior, rng) > 0
        shares.append(np.bincount(cell, wrong) / assessment.pool.cell_size)
    together = np.corrcoef(np.array(shares).T)
    own = (group[:, None] == group) & ~np.eye(group.size, dtype=bool)

    assert together[own].mean() > 0.2
    assert abs(together[group[:, None] != group].mean()) < 0.02


def test_before_labels_a_pool_is_as_uncertain_as_the_numbers_that_all_groups_share(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, prior="{kind: empirical}"))
    rng = np.random.default_rng(1)
    fixed = [drawn_from(assessment.first, rng).mean() for _ in range(200)]
    varied = [plausible(assessment, rng).mean() for _ in range(200)]

    assert np.std(fixed) == pytest.approx(np.std(varied), rel=0.25)


@pytest.mark.parametrize("prior", ["uniform", "informative", "empirical"])
def test_drawn_errors_are_of_the_kinds_that_can_be(tmp_path, prior):
    plan = write_plan(
        tmp_path,
        prior=f"{{kind: {prior}}}",
        question="{task: estimate, metric: confusion}",
        stop="{rmse: 0.05}",
        by_probabilities=True,
    )
    assessment, _ = at_work(plan)
    rng = np.random.default_rng(1)
    drawn = np.array([plausible(assessment, rng) for _ in range(50)])
    told_apart = {tuple(row) for row in assessment.meaning.kind.tolist()}

    assert len(told_apart) == 3
    assert set(np.unique(drawn)) == {0, 1, 2, 3}
    own_class = assessment.pool.predicted + 1  # an error is never the class that was predicted
    assert (drawn != own_class).all()


@pytest.mark.slow
def test_on_drawn_truths_claims_are_right_as_often_as_they_say(tmp_path):
    assessment, _ = at_work(write_plan(tmp_path, stop="{mrr: {confidence: 0.8}}"))
    measures = Measures(N_ITEMS, only_stop=True)
    stops = [replay(assessment, None, measures, seed=6, number=n).stop for n in range(N_RUNS)]
    right = sum(stop is not None and stop.is_right for stop in stops)

    # 80% is claimed at least; it is looked at after every label, where a posterior stays true
    assert right >= stats.binom.ppf(1e-4, N_RUNS, 0.8)


# --- what many runs come to ----------------------------------------------------------------------

CASE = Case(
    '{"question": {}}',
    "thompson",
    "uniform",
    "p.csv",
    40,
    "pool",
    "0",
    "file",
    1,
    Measures(40, (10, 20)),
    0.95,
)


def whole_of(assessment: Assessment, outcome: np.ndarray) -> float:
    """The pool's own value: of its groups, by their shares."""
    share = assessment.pool.group_size / assessment.pool.n_items
    return float(np.nansum(share * true_values(assessment, outcome)))


def a_run(number, mrr, rmse=(0.2, 0.1), stop=None) -> Run:
    return Run(number, 40, mrr, rmse, (), stop, 0.5)


def a_stop(n, is_right_=True, reason="answered", is_conclusive=True) -> Stop:
    return Stop(n, reason, is_conclusive, is_right_, 0.96)


def test_labels_to_a_rank_are_where_the_mean_over_runs_first_exceeds_it():
    runs = [a_run(0, (0.5, 0.94, 1, 1)), a_run(1, (0.5, 0.98, 0.98, 1))]
    (result,) = simulated([CASE], [runs], 2, "truth")["results"]

    assert result["labels_to_mrr95"] == 20
    assert result["labels_to_mrr99"] == 40
    assert result["regret"] == pytest.approx((0.5 + 0.04 + 0.01) * 10 / 40)
    assert result["rmse_at"] == {"10": pytest.approx(0.2), "20": pytest.approx(0.1)}
    assert result["ece_error_at"] == {}


def test_a_rank_that_is_never_reached_is_null():
    (result,) = simulated([CASE], [[a_run(0, (0.5, 0.5, 0.5, 0.95))]], 1, "truth")["results"]
    assert result["labels_to_mrr95"] is None


def test_curves_are_means_over_runs_with_bands_that_hold_them():
    runs = [a_run(0, (0.5, 0.9, 1, 1)), a_run(1, (0.5, 1, 0.8, 1)), a_run(2, (0.2, 1, 1, 1))]
    (result,) = simulated([CASE], [runs], 3, "truth")["results"]
    curve = result["curve"]
    assert curve["labels"] == [10, 20, 30, 40]
    assert curve["mrr"] == pytest.approx([0.4, 2.9 / 3, 2.8 / 3, 1])
    assert curve["success"] == pytest.approx([0, 2 / 3, 2 / 3, 1])
    for name in ("mrr", "success"):
        low, high = curve[f"{name}_band"]
        assert all(a <= b <= c for a, b, c in zip(low, curve[name], high, strict=True))
    wilson = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert (curve["success_band"][0][1], curve["success_band"][1][1]) == pytest.approx(wilson)
    assert result["rmse_quartiles_at"]["10"] == pytest.approx([0.2, 0.2, 0.2])


def test_strategies_are_compared_run_by_run_with_the_first_one():
    fast = [a_run(n, (1,) * 4, (0.1, 0.05 + n / 100), a_stop(10 + n)) for n in range(12)]
    slow = [a_run(n, (0.5,) * 4, (0.1, 0.1 + n / 90), a_stop(30 - n)) for n in range(12)]
    wrong = [replace(one, stop=a_stop(5, is_right_=False)) for one in slow]
    cases = [replace(CASE, strategy=name) for name in ("assay", "random", "thompson")]
    tests = simulated(cases, [fast, slow[::-1], wrong], 12, "truth")["tests"]

    assert [(test["first"], test["second"]) for test in tests[::4]] == [
        ("assay, uniform", "random, uniform"),
        ("assay, uniform", "thompson, uniform"),
    ]
    stop, ranked, alike, error = tests[:4]
    gaps = [one.stop.labels - two.stop.labels for one, two in zip(fast, slow, strict=True)]
    assert stop["p"] == pytest.approx(stats.wilcoxon(gaps).pvalue)
    assert stop["means"] == pytest.approx([15.5, 24.5])
    assert ranked["means"] == pytest.approx([0, 0.5])
    assert (alike["p"], alike["first_less"]) == (1, 0)  # the same error in every run
    assert error["first_less"] == 1
    assert tests[4]["means"][1] == 40  # a wrong finding counts as all labels


def test_stops_are_counted_by_what_became_of_them():
    stops = [a_stop(10), a_stop(20, is_right_=False), a_stop(30), None]
    stops.append(a_stop(40, reason="budget", is_conclusive=False))
    runs = [a_run(n, (1, 1, 1, 1), stop=stop) for n, stop in enumerate(stops)]
    (result,) = simulated([CASE], [runs], 5, "truth")["results"]

    assert result["stop"] == {
        "stopped": 3,
        "right": 2,
        "labels_median": 20,
        "labels_quartiles": [10, 30],
        "claimed": 0.95,
        "confidence_mean": pytest.approx(0.96),
        "exhausted": 0,
        "inconclusive": 1,
        "budget": 1,
    }


def test_a_report_does_not_depend_on_the_order_in_which_runs_come_back():
    rng = np.random.default_rng(0)
    runs = [a_run(n, tuple(rng.random(4)), tuple(rng.random(2))) for n in range(20)]
    assert simulated([CASE], [runs], 20, None) == simulated([CASE], [runs[::-1]], 20, None)


def test_a_plan_of_labels_says_how_often_the_budget_is_enough():
    runs = [a_run(n, (), (), a_stop(10 * (n + 1))) for n in range(4)]
    report = planned(CASE, runs, budget=30)

    assert report["labels_median"] == 20
    assert report["labels_quartiles"] == [10, 30]
    assert report["answered_within_budget"] == 0.75


# --- variants of a plan --------------------------------------------------------------------------


def test_every_strategy_is_simulated_with_every_prior(tmp_path):
    asked = Asked(
        truth="truth", strategies=("random", "thompson"), priors=("uniform", "informative")
    )
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", asked)

    assert [(c.strategy, c.prior) for c in cases] == [
        ("random", "uniform"),
        ("thompson", "uniform"),
        ("random", "informative"),
        ("thompson", "informative"),
    ]
    assert as_run(replay_run(asdict(cases[3]), 0)).labels == N_ITEMS


def test_priors_come_in_every_strength_but_the_one_that_is_fitted(tmp_path):
    asked = Asked(priors=("uniform", "empirical"), strengths=(2.0, 10.0))
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", asked)
    assert [case.prior for case in cases] == ["uniform 2", "uniform 10", "empirical"]
    assert [json.loads(case.plan)["prior"]["strength"] for case in cases[:2]] == [2, 10]


def test_a_number_is_that_of_its_own_strategy(tmp_path):
    asked = Asked(strategies=("top-two", "random"), numbers={"top-two": 0.9}, truth="truth")
    cases = prepare(write_plan(tmp_path), tmp_path / "pools", asked)
    assert [(case.named, case.number) for case in cases] == [("top-two 0.9", 0.9), ("random", None)]
    usual = prepare(
        write_plan(tmp_path), tmp_path / "pools", Asked(truth="truth", strategies=("top-two",))
    )
    runs = [as_run(replay_run(asdict(case), 0)).rmse for case in (cases[0], usual[0])]
    assert runs[0] != runs[1]
    earlier = {name: value for name, value in asdict(usual[0]).items() if name != "number"}
    assert as_run(replay_run(earlier, 0)).rmse == runs[1]


@pytest.mark.parametrize(("strata", "kept"), [("", 1), ("strata: 4, ", 4)])
def test_another_prior_brings_its_own_strata_unless_the_plan_says_how_many(tmp_path, strata, kept):
    plan = write_plan(tmp_path, prior="{}")  # empirical by default, with 8 strata
    text = plan.read_text(encoding="utf-8").replace("pool: {", f"pool: {{{strata}")
    plan.write_text(text, encoding="utf-8")

    (case,) = prepare(plan, tmp_path / "pools", Asked(priors=("uniform",)))

    assert json.loads(case.plan)["pool"]["strata"] == kept


def test_a_strategy_that_does_not_go_with_the_plan_is_refused_before_any_run(tmp_path):
    write_models(tmp_path, {"old": 0.6, "new": 0.85}, n=60)
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(values_of(["old", "new"], {"task": "compare"})), encoding="utf-8")
    with pytest.raises(PlanError, match=r"with thompson.*strategy: came thompson, which knows one"):
        prepare(path, tmp_path / "pools", Asked(strategies=("random", "thompson")))
    cases = prepare(path, tmp_path / "pools", Asked(strategies=("random", "assay")))
    assert [case.strategy for case in cases] == ["random", "assay"]


def test_the_plan_s_own_strategy_and_seed_are_taken_where_none_is_named(tmp_path):
    (case,) = prepare(write_plan(tmp_path), tmp_path / "pools", Asked())
    assert (case.strategy, case.prior, case.seed) == ("thompson", "uniform", 7)
    assert case.truth is None
    assert len(case.measures.at) == 10
