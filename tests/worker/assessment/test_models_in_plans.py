"""Plans with several models: what goes with them, what is refused, and what a check asks."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

from tests.worker.assessment.models_pool import COMPARE, TWO, plan_of, values_of, write_models
from worker.assessment import assess
from worker.cli.printing import pool_text
from worker.errors import PlanError
from worker.plan import load_plan
from worker.pool import compile_pool


def _mistakes(folder: Path, values: dict) -> str:
    with pytest.raises(ValidationError) as caught:
        plan_of(folder, values)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"question": {"task": "estimate"}}, "write compare or identify"),
        ({"question": COMPARE | {"metric": "bias"}}, "compared by their accuracy"),
        ({"question": COMPARE | {"where": "groups"}}, "name a column"),
        ({"question": COMPARE | {"models": ["old", "gone"]}}, "'gone' is not known"),
        ({"question": {"task": "identify", "where": "both"}}, "only the task compare has it"),
        ({"stop": {"guarantee": "anytime"}}, "bounds are for one model"),
        ({"annotation": {"per_item": 2, "rule": "dawid-skene"}}, "one whole class an item"),
        ({"strategy": "thompson"}, "several models have assay and random"),
        ({"prior": {"kind": "empirical"}}, "is not fitted"),
        (
            {"question": {"task": "identify"}, "prior": {"kind": "uniform"}},
            "came uniform, but the prior of each model's groups is fitted",
        ),
        ({"since": "before"}, "does not have it"),
        ({"population": "infinite"}, "does not have it"),
    ],
)
def test_what_does_not_go_with_several_models_is_refused_with_a_cure(tmp_path, change, expected):
    write_models(tmp_path, TWO, n=20)
    assert expected in _mistakes(tmp_path, values_of(["old", "new"], COMPARE) | change)


def test_a_uniform_prior_of_differences_does_not_heed_the_scores(tmp_path):
    write_models(tmp_path, TWO, n=60)
    values = values_of(["old", "new"], COMPARE)
    even = plan_of(tmp_path, values | {"prior": {"kind": "uniform"}})
    assert even.pool.strata == 1
    assert even.warnings() == []
    for model in values["models"]:
        del model["score"]
    blind = plan_of(tmp_path, values)
    first, same = (assess(p, compile_pool(p, tmp_path / "pools")).first for p in (even, blind))
    np.testing.assert_array_equal(first.alpha, same.alpha)
    np.testing.assert_array_equal(first.errors.prior, same.errors.prior)


def test_no_warning_recommends_what_is_refused(tmp_path):
    values = values_of(["old", "new"], {"task": "identify"}, prior={"strength": 9})
    (warning,) = plan_of(tmp_path, values).warnings()
    assert "kind: informative" not in warning


def test_strata_of_a_uniform_prior_are_no_danger_to_a_comparison(tmp_path):
    parts = {"prior": {"kind": "uniform"}, "pool": {"strata": 4}}
    assert plan_of(tmp_path, values_of(["old", "new"], COMPARE, **parts)).warnings() == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (COMPARE, "the question is which of old, new is better, overall, and by how much."),
        ({"task": "identify"}, "which group of its own is each model (old, new) least accurate"),
    ],
)
def test_a_check_asks_the_question_of_models(tmp_path, question, said):
    write_models(tmp_path, TWO, n=60)
    plan = plan_of(tmp_path, values_of(["old", "new"], question))
    told = pool_text(plan, compile_pool(plan, tmp_path / "pools"))
    assert said in told
    assert "in 1 groups" not in told


def test_one_model_to_compare_is_too_few_and_said_in_words(tmp_path):
    (tmp_path / "plan.yaml").write_text(
        json.dumps(values_of(["old", "new"], COMPARE | {"models": ["old"]}))
    )
    with pytest.raises(PlanError, match=r"question\.models: came a list of 1, expected at least 2"):
        load_plan(tmp_path / "plan.yaml")


def test_models_without_scores_are_compared_without_strata(tmp_path):
    write_models(tmp_path, TWO, n=60)
    values = values_of(["old", "new"], COMPARE)
    for model in values["models"]:
        del model["score"]
    (tmp_path / "plan.yaml").write_text(json.dumps(values))
    plan = load_plan(tmp_path / "plan.yaml")
    assert (plan.pool.strata, plan.prior.kind) == (1, "uniform")
    assert compile_pool(plan, tmp_path / "pools").n_items == 60


def test_models_of_one_plan_only(tmp_path):
    values = values_of(["old", "new"], COMPARE | {"where": "overall"})
    del values["models"]
    values["pool"] |= {"predictions": "old.csv", "predicted": "said", "score": "sure"}
    assert "only a plan with several models has it" in _mistakes(tmp_path, values)
    values = values_of(["old"], COMPARE)
    assert "came 1 of them, expected 2 to 8" in _mistakes(tmp_path, values)
    values = values_of(["old", "old"], COMPARE)
    assert "the name old stands there twice" in _mistakes(tmp_path, values)


def test_annotators_do_not_see_what_a_model_says(tmp_path):
    values = values_of(["old", "new"], COMPARE)
    values["models"][1] |= {"predictions": "old.csv", "predicted": "new_said", "score": None}
    values["pool"]["data"] = {"image": "image", "hint": "new_said"}
    assert "holds what the model new says" in _mistakes(tmp_path, values)


def test_models_that_nobody_labels_need_no_pool_part(tmp_path):
    values = values_of(["old", "new"], COMPARE)
    del values["pool"]
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    assert load_plan(path, for_simulation=True).pool.data == {}
