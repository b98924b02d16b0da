"""What a plan may ask beyond accuracy, and what follows from it for the keys that are left out."""

from typing import Any

import pytest

from tests.worker.plan.plans_of_metrics import COST, NO_SCORES, ONLY_SCORES, RECALL, asking, load
from worker.errors import PlanError
from worker.plan import Plan, plan_hash

EVERY_METRIC: list[dict[str, Any]] = [
    {"metric": "accuracy"},
    {"metric": "bias"},
    {"metric": "ece"},
    {"metric": "cost", "costs": "c.csv"},
    {"metric": "confusion"},
    {"metric": "recall", "positive": "1", "groups": "region"},
    {"metric": "precision", "positive": "1"},
    {"metric": "f1", "positive": "1"},
]


@pytest.mark.parametrize(
    ("metric", "which"),
    [
        ({"metric": "accuracy"}, "lowest"),
        ({"metric": "recall", "positive": "1", "groups": "region"}, "lowest"),
        ({"metric": "bias"}, "highest"),
        ({"metric": "ece"}, "highest"),
        ({"metric": "cost", "costs": "c.csv"}, "highest"),
    ],
)
def test_the_worst_groups_are_asked_for_by_default(tmp_path, metric, which):
    plan = load(tmp_path, **asking({"task": "identify", **metric}))
    assert plan.question.which == which
    if metric["metric"] == "ece":
        with pytest.raises(PlanError, match="which group is calibrated best"):
            load(tmp_path, **asking({"task": "identify", "which": "lowest", **metric}))
        return
    other = "lowest" if which == "highest" else "highest"
    plan = load(tmp_path, **asking({"task": "identify", "which": other, **metric}))
    assert plan.question.which == other


@pytest.mark.parametrize(
    ("parts", "kind", "strength", "strata"),
    [
        ({}, "empirical", 2, 16),
        (ONLY_SCORES, "empirical", 2, 16),
        ({"stop__guarantee": "anytime"}, "empirical", 2, 2),
        (NO_SCORES, "empirical", 2, 1),
        ({"prior__kind": "uniform"}, "uniform", 2, 1),
        ({"prior__kind": "informative"}, "informative", 2, 1),
        ({"population": "infinite"}, "empirical", 2, 1),
        ({"pool__strata": 3}, "empirical", 2, 3),
        ({"question__metric": "confusion"}, "empirical", 1, 1),
        ({"question__metric": "confusion", "prior__kind": "informative"}, "informative", 1, 1),
        ({"question": COST, "prior__kind": "uniform"}, "uniform", 1, 1),
        ({"question": COST, "prior__strength": 4}, "empirical", 4, 1),
        ({"question__metric": "ece"}, "empirical", 2, 4),
        ({"question__metric": "ece", "stop__guarantee": "anytime"}, "empirical", 2, 1),
        ({"question__metric": "ece", "prior__kind": "informative"}, "informative", 2, 1),
        ({"question__metric": "ece", "population": "infinite"}, "empirical", 2, 1),
        ({"question__metric": "ece", "pool__groups": "score_bin(10)"}, "empirical", 2, 16),
        ({"question": RECALL, "pool__groups": "region"}, "empirical", 2, 16),
        ({"question": RECALL, **ONLY_SCORES}, "empirical", 2, 16),
    ],
)
def test_prior_and_strata_follow_from_the_scores_the_metric_and_the_population(
    tmp_path, parts, kind, strength, strata
):
    plan = load(tmp_path, **parts)
    assert (plan.prior.kind, plan.prior.strength, plan.pool.strata) == (kind, strength, strata)


def test_the_metric_ece_has_ten_bins_unless_the_groups_are_bins(tmp_path):
    inside = load(tmp_path, question__metric="ece").question.bin_factor
    mass = load(tmp_path, question={"task": "estimate", "metric": "ece", "bins": "equal_mass(7)"})
    as_groups = load(tmp_path, question__metric="ece", pool__groups=["a", "equal_mass_bin(5)"])

    assert str(inside) == "score_bin(10)"
    assert str(mass.question.bin_factor) == "equal_mass_bin(7)"
    assert as_groups.question.bin_factor is None


@pytest.mark.parametrize("metric", ["recall", "precision", "f1"])
def test_recall_precision_and_f1_are_of_the_whole_pool_unless_groups_are_named(tmp_path, metric):
    question = {"task": "estimate", "metric": metric, "positive": "1"}
    assert load(tmp_path, question=question).pool.groups == "all_items"
    assert load(tmp_path, question=question, pool__groups="site").pool.groups == "site"


def test_a_plan_from_when_recall_was_called_tpr_keeps_its_meaning(tmp_path):
    former = load(tmp_path, question=RECALL | {"metric": "tpr"}, pool__groups="site")
    assert former == load(tmp_path, question=RECALL, pool__groups="site")


@pytest.mark.parametrize("question", EVERY_METRIC)
def test_a_plan_with_any_metric_survives_the_way_through_json(tmp_path, question):
    plan = load(tmp_path, **asking({"task": "estimate", **question}))
    again = Plan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert plan_hash(again) == plan_hash(plan)


def test_files_of_the_question_are_beside_the_plan_and_count_by_their_names_only(tmp_path):
    question = COST | {"costs": "superclass", "superclasses": "maps/m.csv"}
    hashes = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        by_file = load(tmp_path / name, question=COST)
        by_map = load(tmp_path / name, question=question)
        assert by_file.question.paths == {"question.costs": tmp_path / name / "c.csv"}
        assert by_map.question.paths == {
            "question.superclasses": tmp_path / name / "maps" / "m.csv"
        }
        assert by_map.question.cost_ratio == 10
        hashes.append((plan_hash(by_file), plan_hash(by_map)))
    assert hashes[0] == hashes[1]


def test_an_empirical_prior_warns_that_a_strength_has_no_effect(tmp_path):
    assert load(tmp_path, prior={"kind": "empirical", "strength": 2}).warnings() == []
    (warning,) = load(tmp_path, prior={"kind": "empirical", "strength": 10}).warnings()
    assert "prior.strength is 10" in warning
    assert "no effect" in warning


@pytest.mark.parametrize(
    "strategy",
    ["random", "thompson", "top-two", "multiple-play", "epsilon-greedy", "bayes-ucb", "assay"],
)
def test_every_strategy_may_be_named(tmp_path, strategy):
    assert load(tmp_path, strategy=strategy).strategy == strategy
