"""A budget that is spent before the rule may fire is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.worker.pool.metrics_pool import plan_of, write_predictions
from worker.errors import PlanError
from worker.pool import check_question, compile_pool
from worker.pool.known import KnownLabels


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_predictions(tmp_path)


def test_a_budget_that_is_spent_before_the_rule_may_fire_is_refused(folder):
    stop = {"min_per_group": 20, "budget": 59}
    plan = plan_of(folder, {}, stop=stop)
    pool = compile_pool(plan, folder / "pools")
    with pytest.raises(PlanError, match=r"stop\.budget: came 59.*are 60, so the rule could never"):
        check_question(plan, pool)
    check_question(plan_of(folder, {}, stop=stop | {"budget": 60}), pool)


def test_a_budget_need_not_pay_for_groups_that_are_not_compared(folder):
    compare = {"task": "compare", "compare": ["cat", "dog"]}
    stop = {"min_per_group": 20, "budget": 40}
    plan = plan_of(folder, compare, stop=stop)
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    with pytest.raises(PlanError, match=r"came 39.*in question.*are 40"):
        check_question(plan_of(folder, compare, stop=stop | {"budget": 39}), pool)


def test_a_budget_need_not_pay_for_items_that_are_known_already(folder):
    plan = plan_of(folder, {}, strata=1, stop={"min_per_group": 20, "budget": 45})
    pool = compile_pool(plan, folder / "pools")
    known = KnownLabels("known", pool.cell_size - 15, {})
    check_question(plan, replace(pool, known=known))
    with pytest.raises(PlanError, match="are 60"):
        check_question(plan, pool)
