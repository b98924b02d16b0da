"""What a plan may ask beyond accuracy, and what follows from it for the keys that are left out."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from worker.errors import PlanError
from worker.plan import Plan, load_plan, plan_hash

SMALLEST = """\
assessment: digits
pool:
  predictions: digits.csv
  probabilities: [p_0, p_1]
  data: {image: url}
question: {task: estimate}
"""
ONLY_SCORES = {"pool__probabilities": None, "pool__predicted": "said", "pool__score": "sure"}
NO_SCORES = {"pool__probabilities": None, "pool__predicted": "said"}
COST = {"task": "identify", "metric": "cost", "costs": "c.csv"}
TPR = {"task": "identify", "metric": "tpr", "positive": "1"}
EVERY_METRIC: list[dict[str, Any]] = [
    {"metric": "accuracy"},
    {"metric": "bias"},
    {"metric": "ece"},
    {"metric": "cost", "costs": "c.csv"},
    {"metric": "confusion"},
    {"metric": "tpr", "positive": "1", "groups": "region"},
]


def plan_with(**parts: Any) -> dict[str, Any]:
    """The smallest plan, with some keys replaced: `pool__strata=2` is `pool: {strata: 2}`."""
    values = yaml.safe_load(SMALLEST)
    for key, value in parts.items():
        *folder, name = key.split("__")
        at = values
        for step in folder:
            at = at.setdefault(step, {})
        at[name] = value
    return values


def load(folder: Path, **parts: Any) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan_with(**parts)), encoding="utf-8")
    return load_plan(path)


def mistakes(folder: Path, **parts: Any) -> tuple[str, ...]:
    with pytest.raises(PlanError) as caught:
        load(folder, **parts)
    return caught.value.problems


def asking(question: dict[str, Any]) -> dict[str, Any]:
    """The parts of a plan with this question; `groups` among its keys are those of the pool."""
    rest = {key: value for key, value in question.items() if key != "groups"}
    groups = {"pool__groups": question["groups"]} if "groups" in question else {}
    return {"question": rest, **groups}


# --- what follows from what ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "which"),
    [
        ({"metric": "accuracy"}, "lowest"),
        ({"metric": "tpr", "positive": "1", "groups": "region"}, "lowest"),
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
        ({"question": TPR, "pool__groups": "region"}, "empirical", 2, 16),
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


# --- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "place", "reason"),
    [
        ({"metric": "tpr", "groups": "a"}, "question.positive", "missing"),
        ({"metric": "cost"}, "question.costs", "missing"),
        ({"costs": "c.csv"}, "question.costs", "only the metric cost"),
        ({"metric": "ece", "costs": "c.csv"}, "question.costs", "only the metric cost"),
        ({"positive": "1"}, "question.positive", "only the metric tpr"),
        ({"metric": "bias", "bins": 10}, "question.bins", "only the metric ece"),
        ({"cost_ratio": 2}, "question.cost_ratio", "only the metric cost"),
        ({**COST, "cost_ratio": 2}, "question.cost_ratio", "only the costs human and superclass"),
        ({**COST, "superclasses": "m.csv"}, "question.superclasses", "only the costs human"),
        ({**COST, "people": ["a"]}, "question.people", "only the costs human"),
        ({**COST, "costs": "superclass"}, "question.superclasses", "missing"),
        ({**COST, "costs": "human", "cost_ratio": 0}, "question.cost_ratio", "> 0"),
        ({**COST, "costs": 7}, "question.costs", "human, superclass, or the path"),
        ({**COST, "costs": ""}, "question.costs", "human, superclass, or the path"),
        ({**COST, "tolerance": -1}, "question.tolerance", ">= 0"),
        ({"tolerance": 1.5, "task": "identify"}, "question.tolerance", "< 1"),
        ({"metric": "ece", "bins": 0}, "question.bins", "equal_mass(10)"),
        ({"metric": "ece", "bins": True}, "question.bins", "equal_mass(10)"),
        ({"metric": "ece", "bins": "equal_mass"}, "question.bins", "equal_mass(10)"),
        ({"metric": "ece", "bins": "equal_mass(0)"}, "question.bins", "from 1 to 1000"),
        ({"metric": "ece", "bins": 5, "groups": "score_bin(5)"}, "question.bins", "leave it out"),
        ({"metric": "confusion", "task": "identify"}, "question.metric", "`task: estimate`"),
        (
            {"metric": "confusion", "task": "compare", "compare": "all"},
            "question.metric",
            "`metric: cost`",
        ),
        ({**COST, "groups": "region"}, "pool.groups", "write predicted_class"),
        ({"metric": "confusion", "groups": ["predicted_class", "a"]}, "pool.groups", "write"),
        ({**TPR, "groups": "predicted_class"}, "pool.groups", "by an attribute"),
        ({**TPR, "groups": ["a", "superclass(m.csv)"]}, "pool.groups", "by an attribute"),
        ({"metric": "ece", "which": "lowest"}, "question.which", "only the task identify"),
    ],
)
def test_a_question_that_does_not_fit_its_metric_is_refused(tmp_path, question, place, reason):
    (found,) = mistakes(tmp_path, **asking({"task": "estimate", **question}))
    assert f"{place}: " in found
    assert reason in found


@pytest.mark.parametrize("question", [COST, {"task": "estimate", "metric": "confusion"}, TPR])
@pytest.mark.parametrize("prior", [{}, {"prior__kind": "informative"}])
def test_a_metric_of_true_classes_needs_all_probabilities_unless_the_prior_is_uniform(
    tmp_path, question, prior
):
    parts = asking(question | ({"groups": "region"} if question["metric"] == "tpr" else {}))
    (found,) = mistakes(tmp_path, **ONLY_SCORES, **parts, **prior)
    assert "question.metric: " in found
    assert "`pool.probabilities`" in found
    assert "`prior: {kind: uniform}`" in found
    assert load(tmp_path, **ONLY_SCORES, **parts, prior__kind="uniform").prior.kind == "uniform"
    assert load(tmp_path, **parts, **prior).pool.probabilities is not None


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"question__metric": "bias"}, "question.metric"),
        ({"question__metric": "ece"}, "question.metric"),
        ({"prior__kind": "informative"}, "prior.kind"),
        ({"pool__strata": 2}, "pool.strata"),
        ({"pool__groups": "score_bin(3)"}, "pool.groups"),
    ],
)
def test_what_needs_scores_is_refused_where_the_classifier_gives_none(tmp_path, parts, place):
    (found,) = mistakes(tmp_path, **NO_SCORES, **parts)
    assert f"{place}: " in found
    assert "no scores" in found


@pytest.mark.parametrize(
    ("parts", "place", "reason"),
    [
        ({"stop__rmse": 0.1}, "stop.guarantee", "use `width`"),
        ({"question__metric": "confusion", "stop__width": 0.1}, "stop.guarantee", "confusion"),
        (
            {"question__metric": "tpr", "question__positive": "cat", "pool__groups": "region"}
            | {"stop__width": 0.1},
            "stop.guarantee",
            "metric tpr; ask for one of accuracy, bias, ece",
        ),
        ({"population": "infinite", "stop__width": 0.1}, "stop.guarantee", "population: finite"),
    ],
)
def test_an_any_time_guarantee_is_refused_where_there_is_no_bound(tmp_path, parts, place, reason):
    (found,) = mistakes(tmp_path, stop__guarantee="anytime", **parts)
    assert f"{place}: " in found
    assert reason in found


def test_an_any_time_estimate_has_the_width_by_default(tmp_path):
    stop = load(tmp_path, stop__guarantee="anytime").stop
    assert (stop.kind, stop.target) == ("width", 0.1)


@pytest.mark.parametrize(
    ("question", "stop", "place"),
    [
        ({"task": "estimate"}, {"rmse": 2}, "stop.rmse"),
        ({"task": "estimate"}, {"width": 1}, "stop.width"),
        ({"task": "compare", "compare": "all"}, {"rope": {"epsilon": 1}}, "stop.rope.epsilon"),
    ],
)
def test_only_costs_may_be_apart_by_one_and_more(tmp_path, question, stop, place):
    (found,) = mistakes(tmp_path, question=question, stop=stop)
    assert f"{place}: came the number" in found
    assert "expected a number < 1" in found
    of_costs = question | {"metric": "cost", "costs": "c.csv"}
    assert load(tmp_path, question=of_costs, stop=stop).stop.target >= 1
    assert load(tmp_path, question=COST | {"tolerance": 3.0}).question.tolerance == 3


# --- plans of simulations --------------------------------------------------------------------


def test_a_simulation_needs_neither_an_id_nor_what_annotators_see(tmp_path):
    path = tmp_path / "My plan (2).yaml"
    path.write_text(
        "pool: {predictions: d.csv, probabilities: [p_0, p_1]}\nquestion: {task: identify}\n"
    )
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    assert {text.rsplit(": ", 1)[0].split(": ")[-1] for text in caught.value.problems} == {
        "pool.data",
        "assessment",
    }

    plan = load_plan(path, for_simulation=True)

    assert (plan.assessment, plan.pool.data) == ("My-plan-2", {})
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_simulation_takes_a_plan_that_is_meant_to_be_started_as_it_is(tmp_path):
    plan = load(tmp_path)
    assert load_plan(tmp_path / "plan.yaml", for_simulation=True) == plan


def test_a_plan_that_is_started_must_show_annotators_something(tmp_path):
    (found,) = mistakes(tmp_path, pool__data={})
    assert "came no columns" in found
