"""An assessment goes on with another pool: what is taken over, what is not, and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from redis import Redis

from tests.fakes import FakeDesk
from tests.report.at_work import AtWork
from tests.worker.assessment.models_pool import plan_of, values_of, write_models
from tests.worker.simulate.simulated_pool import CLASSES, header_of, plan_at_work, write_plan
from worker.assessment import assess, reopen
from worker.core.drift.history import believed_share
from worker.core.posterior.belief import group_labelled
from worker.core.posterior.summary import interval, mean
from worker.errors import PlanError, PoolChanged
from worker.findings.changing import continuation
from worker.findings.decision import decision
from worker.plan import load_plan, plan_hash, stored_plan
from worker.pool import check_source, compile_pool, open_pool
from worker.pool.truth import read_truth
from worker.report.csv import groups_csv
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.status import status_of
from worker.service.context import Context
from worker.setup.moving import pack
from worker.setup.replaying import export, unrepeated_choices
from worker.setup.since import (
    Earlier,
    NotContinuable,
    continue_with,
    exported,
    items_in_rows,
    on_server,
    taken_over,
    with_earlier,
)
from worker.setup.starting import check_plan
from worker.simulate.cases import Asked, prepare, replay_run
from worker.store import ValkeyLedger
from worker.store.settings import Settings
from worker.turn.loop import assess_now

WAYS = {"strategy": "assay", "prior": "{kind: empirical}", "stop": "{mrr: {confidence: 0.9999}}"}
N_THEN, N_NOW = 40, 25


def at_work(folder: Path, db: Redis, name: str, n_labels: int, since: str = "", **ways: Any):
    """An assessment on a real server, carried to some label."""
    plan = plan_at_work(folder, **(WAYS | ways))
    path = folder / "plan.yaml"
    text = path.read_text(encoding="utf-8").replace("assessment: small", f"assessment: {name}")
    path.write_text(f"{text}{since}", encoding="utf-8")
    plan = load_plan(path)
    pools = folder / "pools"
    context = Context(Settings(folder, None, None), "redis://unused")
    context.close()
    context.state = db
    pool = with_earlier(plan, compile_pool(plan, pools), pools, lambda: nullcontext(context))
    header, ledger = header_of(plan, pool), ValkeyLedger(db, name)
    ledger.begin(header)
    codes = read_truth(plan, pool, "truth")
    truth = {pool.item(r).item_id: CLASSES[codes[r]] for r in range(pool.n_items)}
    begun = AtWork(assess(plan, pool), header, ledger, FakeDesk(), truth, folder / "decisions")
    begun.label(n_labels)
    return begun


@pytest.fixture
def months(
    tmp_path: Path, valkey: Redis, assessment_id: str
) -> Callable[..., tuple[AtWork, AtWork]]:
    """Month one, and month two that continues it."""

    def begin(n_then: int = N_THEN, n_now: int = N_NOW, **ways: Any) -> tuple[AtWork, AtWork]:
        one = at_work(tmp_path / "one", valkey, assessment_id, n_then, **ways)
        two = at_work(
            tmp_path / "two", valkey, f"{assessment_id}-2", n_now,
            f"since: {assessment_id}\n", **ways,
        )  # fmt: skip
        return one, two

    return begin


@pytest.fixture
def file(tmp_path: Path, valkey: Redis, assessment_id: str) -> Path:
    """The export of month one, beside its compiled pool."""
    one = at_work(tmp_path / "one", valkey, assessment_id, N_THEN)
    told = export(one.work, one.ledger, pack(valkey, assessment_id))
    path = tmp_path / "month-one.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


# --- what is taken over --------------------------------------------------------------------------


def test_every_label_is_taken_over_into_a_cell_of_its_group(months):
    one, two = months()
    since = two.work.pool.since
    assert since.labels == N_THEN == sum(since.tally.values())
    groups = np.zeros(len(CLASSES), dtype=int)
    for key, n in since.tally.items():
        _, cell, predicted, _ = key.split(":", 3)
        assert two.work.pool.cell_group[int(cell)] == int(predicted)
        groups[int(predicted)] += n
    belief = one.work.believe(one.ledger.state().tally)
    assert groups.tolist() == group_labelled(belief).tolist()


def test_the_same_items_fall_into_the_same_cells(months):
    one, two = months()
    then = one.ledger.state().tally
    expected: dict[str, int] = {}
    for key, n in then.items():
        own = f"0:{key.split(':', 1)[1]}"
        expected[own] = expected.get(own, 0) + n
    assert two.work.pool.since.tally == expected  # both months have one pool here


def test_what_was_known_then_is_kept(months):
    one, two = months()
    belief = one.work.believe(one.ledger.state().tally)
    then = two.work.pool.since.then
    assert [t.mean for t in then] == pytest.approx(mean(belief).tolist(), abs=1e-6)
    np.testing.assert_allclose([[t.low, t.high] for t in then], interval(belief), atol=1e-6)


def test_the_first_belief_is_that_of_the_earlier_labels_in_part(months):
    one, two = months(n_now=0)
    plain = assess(two.work.plan, replace(two.work.pool, since=None)).first
    known = one.work.believe(one.ledger.state().tally)
    between = mean(two.work.first)
    low = np.minimum(mean(plain), mean(known)) - 0.06
    high = np.maximum(mean(plain), mean(known)) + 0.06
    assert ((low < between) & (between < high)).all()
    assert (believed_share(two.work.first) > 0).all()


def test_a_pool_that_continues_nothing_is_not_changed_by_a_byte(months, tmp_path):
    one, two = months(n_now=0)
    base = compile_pool(load_plan(tmp_path / "two" / "plan.yaml"), tmp_path / "again")
    assert base.since is None
    assert base.hash == one.work.pool.hash == two.work.pool.since.base
    assert base.path.read_bytes() == one.work.pool.path.read_bytes()
    assert two.work.pool.hash != base.hash
    np.testing.assert_array_equal(two.work.pool.score, base.score)
    assert b"since" not in one.header.plan.encode()
    assert plan_hash(one.work.plan) != plan_hash(two.work.plan)


def test_the_pools_file_alone_makes_the_same_belief(months):
    _, two = months()
    again = reopen(two.header, Path("nowhere"))
    tally = two.ledger.state().tally
    np.testing.assert_array_equal(mean(again.believe(tally)), mean(two.work.believe(tally)))
    assert open_pool(two.work.pool.path).since == two.work.pool.since
    assert stored_plan(two.header.plan).since == two.work.plan.since


def test_every_choice_can_be_made_again(months):
    _, two = months()
    assert unrepeated_choices(two.work, two.ledger) == []


def test_a_later_change_of_the_predictions_is_noticed(months, tmp_path):
    _, two = months(n_now=0)
    check_source(two.work.pool, two.work.plan)
    with (tmp_path / "two" / "predictions.csv").open("a", encoding="utf-8") as csv:
        csv.write("more,cat,0.5,0.5,0.3,0.2,north,cat\n")
    with pytest.raises(PoolChanged, match="the predictions file changed"):
        check_source(two.work.pool, two.work.plan)


@pytest.mark.parametrize(
    "ways",
    [
        {"question": "{task: identify, metric: bias}"},
        {"question": "{task: identify, metric: ece}", "strata": 1},
        {"question": "{task: estimate, metric: ece}", "groups": "score_bin(5)",
         "stop": "{width: 0.01}"},
        {"question": "{task: estimate, metric: confusion}", "by_probabilities": True,
         "stop": "{rmse: 0.001}"},
        {"question": "{task: identify, metric: cost, which: highest, costs: costs.csv}",
         "by_probabilities": True},
        {"question": "{task: identify, metric: tpr, positive: cow}", "groups": "region",
         "by_probabilities": True},
        {"prior": "{kind: uniform}", "strategy": "thompson"},
        {"prior": "{kind: informative}", "question": "{task: compare, compare: all}",
         "stop": "{rope: {epsilon: 0.02}}"},
        {"stop": "{mrr: {confidence: 0.999}, guarantee: anytime}"},
    ],
    ids=["bias", "ece", "pool-ece", "confusion", "cost", "tpr", "uniform", "compare", "anytime"],
)  # fmt: skip
def test_it_works_for_every_metric_and_prior(months, ways):
    _, two = months(20, 12, **ways)
    state, belief, verdict = assess_now(two.work, two.ledger)
    assert verdict.labels == 12
    assert np.isfinite(mean(belief)[two.work.pool.group_size > 0]).all()
    told = continuation(two.work, belief, state.tally)
    assert told.labels == 20
    assert all(0 <= group.believed <= 1 for group in told.groups if group.labels_then)
    assert unrepeated_choices(two.work, two.ledger) == []


def test_votes_that_contradict_each_other_go_on_with_the_earlier_labels(months):
    _, two = months(20, 0)
    plan = two.work.plan
    shared = plan.annotation.model_copy(update={"rule": "dawid-skene", "per_item": 2})
    work = assess(plan.model_copy(update={"annotation": shared}), two.work.pool)
    cell, k = int(two.work.pool.cell_start.size - 1), 2
    votes = json.dumps({"1": "cow", "2": "cat"}, separators=(",", ":"))
    belief = work.believe({f"0:{cell}:{k}:{votes}": 1, f"0:0:0:{json.dumps({'1': 'cat'})}": 1})
    assert np.isfinite(mean(belief)).all()


# --- what is left out, and what cannot be ---------------------------------------------------------


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


def _at(db: Redis) -> Any:
    context = Context(Settings(Path("nowhere"), None, None), "redis://unused")
    context.close()
    context.state = db
    return context


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


# --- from a file ---------------------------------------------------------------------------------


def test_an_export_says_the_same_as_the_server(file, tmp_path, valkey, assessment_id):
    here, there = on_server(_at_home(valkey, tmp_path / "one"), assessment_id), exported(
        file, tmp_path / "one" / "pools"
    )  # fmt: skip
    assert here.tally == there.tally
    assert (here.status, here.text) == (there.status, there.text)
    assert list(here.items.label) == list(there.items.label)
    np.testing.assert_array_equal(here.items.score, there.items.score)


def _at_home(db: Redis, home: Path) -> Any:
    context = _at(db)
    context.settings = Settings(home, None, None)
    return context


def test_the_pool_may_lie_beside_the_export_and_else_it_is_said(file, tmp_path):
    name = next((tmp_path / "one" / "pools").glob("*.arrow")).name
    moved = tmp_path / "one" / "pools" / name
    moved.rename(tmp_path / name)
    assert exported(file, tmp_path / "nowhere").items.label
    (tmp_path / name).rename(tmp_path / "elsewhere")
    with pytest.raises(NotContinuable, match=f"copy {name} from the folder `pools`"):
        exported(file, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("content", "says"),
    [("nonsense", "is no JSON"), ("{}", "no export of an assessment")],
)
def test_a_file_that_is_no_export_is_refused(tmp_path, content, says):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(Exception, match=says):
        exported(tmp_path / "x.json", tmp_path)
    with pytest.raises(NotContinuable, match="cannot be read"):
        exported(tmp_path / "absent.json", tmp_path)


def test_a_plan_is_checked_and_simulated_with_the_export_beside_it(file, tmp_path):
    folder = tmp_path / "two"
    plan_at_work(folder, **WAYS)
    plan = folder / "plan.yaml"
    text = plan.read_text(encoding="utf-8").replace("assessment: small", "assessment: next")
    plan.write_text(f"{text}since: ../{file.name}\n", encoding="utf-8")

    checked = check_plan(plan, folder / "pools")
    assert any("labels of" in warning and "taken over" in warning for warning in checked.warnings)
    assert checked.pool.since.labels == N_THEN
    for truth in ("truth", None):
        asked = Asked(truth=truth, until=15, at=(5, 15))
        (case,) = prepare(plan, folder / "pools", asked)
        run = replay_run(asdict(case), 0)
        assert run["labels"] == 15
    other = folder / "by-id.yaml"
    other.write_text(f"{text}since: somebody\n", encoding="utf-8")
    with pytest.raises(NotContinuable, match="a simulation asks no server"):
        prepare(other, folder / "pools", Asked(truth="truth"))


# --- what is said --------------------------------------------------------------------------------


def test_the_report_the_decision_and_the_status_say_then_and_now(months, valkey, tmp_path):
    one, two = months()
    report = gather(two.work, two.header, two.ledger)
    told = report.then_and_now
    assert told.assessment == one.work.plan.assessment
    assert [g.name for g in told.groups] == list(CLASSES)
    for group, shown, then in zip(
        told.groups, report.groups, two.work.pool.since.then, strict=True
    ):
        assert (group.now_mean, group.now_low) == (shown.mean, shown.low)
        assert (group.then_mean, group.labels_then) == (then.mean, then.labels)
    text = page(report)
    assert "Then and now" in text
    assert told.text[0].startswith(f"{N_THEN} labels of {told.assessment} are taken over")
    heads, first = groups_csv(report).splitlines()[:2]
    assert heads.endswith("believed,is_changed")
    assert len(heads.split(",")) == len(first.split(","))

    state, belief, verdict = assess_now(two.work, two.ledger)
    published = json.loads(
        decision(two.work, two.header, state, belief, verdict, kind="stop", reason="by hand")
    )
    assert published["continues"]["assessment"] == told.assessment
    assert published["continues"]["changed"] == list(told.changed)
    context = _at_home(valkey, tmp_path / "two")
    shown_status = status_of(context, two.work.plan.assessment, two.work)
    assert shown_status.as_json()["continues"] == published["continues"]
    assert gather(one.work, one.header, one.ledger).then_and_now is None


def test_a_group_that_lost_its_right_answers_is_named(tmp_path, valkey, assessment_id):
    one = at_work(tmp_path / "one", valkey, assessment_id, 100, strategy="random")
    two = at_work(
        tmp_path / "two", valkey, f"{assessment_id}-2", 0, f"since: {assessment_id}\n",
        strategy="random",
    )  # fmt: skip
    predicted = {two.work.pool.item(r).item_id: two.work.pool.item(r) for r in range(150)}
    for item, found in predicted.items():
        if found.predicted == 0:
            two.truth[item] = "dog"
    two.label(60)
    _, belief, _ = assess_now(two.work, two.ledger)
    told = continuation(two.work, belief, two.ledger.state().tally)
    assert told.changed == ("cat",)
    cat, dog, _ = told.groups
    assert cat.difference_high < -0.05
    assert cat.believed < dog.believed
    assert any("“cat” differs from what was known" in text for text in told.text)
    assert one.work.plan.assessment == told.assessment


@pytest.mark.parametrize(
    ("question", "stop", "matters"),
    [
        ("{task: identify, tolerance: 0.01}", "{mrr: {confidence: 0.9999}}", 0.01),
        ("{task: identify}", "{mrr: {confidence: 0.9999}}", 0.05),
        ("{task: compare, compare: all}", "{rope: {epsilon: 0.02}}", 0.02),
        ("{task: compare, compare: all}", "{rope: {epsilon: 0}}", 0),
        ("{task: estimate}", "{rmse: 0.001}", 0.05),
    ],
)
def test_a_difference_matters_if_it_does_to_the_plan(months, question, stop, matters):
    _, two = months(20, 3, question=question, stop=stop)
    state, belief, _ = assess_now(two.work, two.ledger)
    assert continuation(two.work, belief, state.tally).epsilon == matters


def test_a_guarantee_at_any_time_rests_on_nothing_of_the_past(months):
    _, two = months(20, 0, stop="{mrr: {confidence: 0.999}, guarantee: anytime}")
    alone = assess(two.work.plan, replace(two.work.pool, since=None))
    for name in ("alpha", "beta", "log_weight"):
        mine, plain = (
            getattr(work.confidence_sequence.forecast, name) for work in (two.work, alone)
        )
        np.testing.assert_array_equal(mine, plain)
