"""Variants of a plan that are simulated beside each other, and what many runs of them come to."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import stats

from tests.worker.assessment.models_pool import values_of, write_models
from tests.worker.simulate.simulated_pool import N_ITEMS, write_plan
from worker.errors import PlanError
from worker.simulate.cases import Asked, Case, prepare, replay_run
from worker.simulate.measuring import Measures, Run, Stop, as_run
from worker.simulate.report import planned, simulated

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


def test_other_priors_than_the_empirical_one_go_without_opinions(tmp_path):
    path = write_plan(tmp_path, prior="{}")
    opinions = "opinions: [{name: where, category: region}], "
    text = path.read_text(encoding="utf-8").replace("pool: {", f"pool: {{{opinions}")
    path.write_text(text, encoding="utf-8")

    cases = prepare(path, tmp_path / "pools", Asked(priors=("uniform", "empirical")))

    pools = [json.loads(case.plan)["pool"] for case in cases]
    assert ["opinions" in pool for pool in pools] == [False, True]


def test_the_truth_is_no_opinion_in_a_simulation(tmp_path):
    path = write_plan(tmp_path, prior="{}")
    opinions = "opinions: [{name: where, category: region}], "
    text = path.read_text(encoding="utf-8").replace("pool: {", f"pool: {{{opinions}")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=r"where says what is true \(column region\)"):
        prepare(path, tmp_path / "pools", Asked("region"))


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
