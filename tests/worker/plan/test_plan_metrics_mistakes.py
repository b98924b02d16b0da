"""Which metrics, scores and guarantees do not go together in a plan, and what is said of it."""

import pytest

from tests.worker.plan.plans_of_metrics import (
    COST,
    NO_SCORES,
    ONLY_SCORES,
    RECALL,
    asking,
    load,
    mistakes,
)


@pytest.mark.parametrize(
    ("question", "place", "reason"),
    [
        ({"metric": "recall", "groups": "a"}, "question.positive", "missing"),
        ({"metric": "cost"}, "question.costs", "missing"),
        ({"costs": "c.csv"}, "question.costs", "only the metric cost"),
        ({"metric": "ece", "costs": "c.csv"}, "question.costs", "only the metric cost"),
        (
            {"positive": "1"},
            "question.positive",
            "only the metric recall or precision or",
        ),
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
        ({**RECALL, "groups": "predicted_class"}, "pool.groups", "by an attribute"),
        ({"metric": "f1_macro", "groups": "predicted_class"}, "pool.groups", "by an attribute"),
        ({"metric": "f1_macro", "positive": "1"}, "question.positive", "only the metric recall"),
        ({**RECALL, "groups": ["a", "superclass(m.csv)"]}, "pool.groups", "by an attribute"),
        ({"metric": "ece", "which": "lowest"}, "question.which", "only the task identify"),
    ],
)
def test_a_question_that_does_not_fit_its_metric_is_refused(tmp_path, question, place, reason):
    (found,) = mistakes(tmp_path, **asking({"task": "estimate", **question}))
    assert f"{place}: " in found
    assert reason in found


@pytest.mark.parametrize("question", [COST, {"task": "estimate", "metric": "confusion"}])
@pytest.mark.parametrize("prior", [{}, {"prior__kind": "informative"}])
def test_a_metric_of_true_classes_needs_all_probabilities_unless_the_prior_is_uniform(
    tmp_path, question, prior
):
    parts = asking(question)
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
            {"question__metric": "recall", "question__positive": "cat", "pool__groups": "region"}
            | {"stop__width": 0.1},
            "stop.guarantee",
            "metric recall; ask for one of accuracy, bias, ece",
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
