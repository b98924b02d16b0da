"""What a plan may leave out that is only simulated."""

import pytest

from tests.worker.plan.plans_of_metrics import load, mistakes
from worker.errors import PlanError
from worker.plan import Plan, load_plan


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
