"""What of an earlier assessment is left out, and what no assessment can go on with."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from tests.worker.assessment.models_pool import plan_of, values_of, write_models
from tests.worker.setup.continued import N_THEN, _at, _at_home, at_work
from tests.worker.simulate.simulated_pool import header_of, write_plan
from worker.errors import PlanError
from worker.plan import load_plan
from worker.pool import compile_pool
from worker.setup.earlier import Earlier, NotContinuable, items_in_rows, on_server
from worker.setup.since import continue_with, taken_over, with_earlier
from worker.store.valkey import ValkeyLedger


def test_labels_of_groups_that_are_gone_are_left_out_and_said(months, tmp_path, valkey):
    one, _ = months(n_now=0)
    name = f"{one.work.plan.assessment}-3"
    plan = tmp_path / "three" / "plan.yaml"
    begun = at_work(tmp_path / "three", valkey, name, 0)
    csv = plan.with_name("predictions.csv")
    rows = csv.read_text(encoding="utf-8").splitlines()
    kept = [rows[0], *(row for row in rows[1:] if row.split(",")[1] != "cow")]
    csv.write_text("\n".join(kept) + "\n", encoding="utf-8")
    text = plan.read_text(encoding="utf-8").replace(
        "groups: predicted_class,", "groups: predicted,"
    )
    text = text.replace(f"assessment: {name}", f"assessment: {name}-b")
    plan.write_text(f"{text}since: {one.work.plan.assessment}\n", encoding="utf-8")
    del begun
    read = load_plan(plan)
    pools = tmp_path / "three" / "pools"
    found = with_earlier(read, compile_pool(read, pools), pools, lambda: nullcontext(_at(valkey)))
    since = found.since
    assert set(since.left_out) == {"the group cow"}
    assert since.labels + since.n_left_out == N_THEN
    assert f"{since.n_left_out} are left out" in taken_over(since)
    assert "the group cow" in taken_over(since)


def test_a_pool_without_any_of_its_groups_is_refused(months, tmp_path, valkey):
    one, _ = months(n_now=0)
    two = at_work(tmp_path / "other", valkey, f"{one.work.plan.assessment}-o", 0, groups="region")
    plan = two.work.plan.model_copy(update={"since": one.work.plan.assessment})
    with pytest.raises(NotContinuable, match="belongs to a group of this pool"):
        with_earlier(plan, two.work.pool, tmp_path, lambda: nullcontext(_at(valkey)))


def test_labels_without_scores_are_refused_where_only_scores_tell_cells_apart(months):
    one, two = months(n_now=0)
    nan = np.full_like(one.work.pool.cell_mean_score, np.nan)
    work = replace(one.work, pool=replace(one.work.pool, cell_mean_score=nan))
    tally, plan = one.ledger.state().tally, two.work.plan
    earlier = Earlier(work, tally, items_in_rows(one.work, [0, 1], ["cat", "dog"]), "stopped", "")
    with pytest.raises(NotContinuable, match=r"have no scores, but .* write `strata: 1`"):
        continue_with(plan, one.work.pool, earlier)
    whole = plan.model_copy(update={"pool": plan.pool.model_copy(update={"strata": 1})})
    pool = compile_pool(whole, one.work.pool.path.parent)
    assert continue_with(whole, pool, earlier).since.labels == 2


def test_votes_are_not_taken_over(months, valkey):
    one, two = months(n_now=0)
    plan = one.work.plan
    votes = plan.annotation.model_copy(update={"rule": "dawid-skene"})
    header = replace(
        one.header, assessment=f"{plan.assessment}-v",
        plan=plan.model_copy(update={"annotation": votes}).model_dump_json(),
    )  # fmt: skip
    ValkeyLedger(valkey, header.assessment).begin(header)
    with pytest.raises(NotContinuable, match="leaves votes and not one class an item"):
        on_server(_at(valkey), header.assessment)
    del two


@pytest.mark.parametrize("task", ["compare", "identify"])
def test_labels_of_several_models_are_not_taken_over(tmp_path, valkey, assessment_id, task):
    write_models(tmp_path, {"old": 0.6, "new": 0.85}, n=60)
    values = values_of(["old", "new"], {"task": task}) | {"assessment": assessment_id}
    plan = plan_of(tmp_path, values)
    ledger = ValkeyLedger(valkey, assessment_id)
    ledger.begin(header_of(plan, compile_pool(plan, tmp_path / "pools")))
    with pytest.raises(NotContinuable, match="assessed several models"):
        on_server(_at_home(valkey, tmp_path), assessment_id)


@pytest.mark.parametrize(
    ("since", "says"),
    [
        ("small", "which is this assessment itself"),
        ("month.yaml", "expected the id of an assessment on this server, or the file"),
        ("''", "came an empty text"),
    ],
)
def test_a_plan_says_what_is_wrong_with_what_it_continues(tmp_path, since, says):
    plan = write_plan(tmp_path, more=f"assessment: small\nsince: {since}\n")
    with pytest.raises(PlanError, match="since") as error:
        load_plan(plan, for_simulation=True)
    assert says in str(error.value)


def test_the_task_evaluate_continues_nothing(tmp_path):
    plan = write_plan(
        tmp_path, question="{task: evaluate}", prior="{kind: empirical}", strategy="assay",
        stop="{width: 0.1}", by_probabilities=True, more="since: before\n",
    )  # fmt: skip
    with pytest.raises(PlanError, match="since: came beside the task evaluate"):
        load_plan(plan, for_simulation=True)
