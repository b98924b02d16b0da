"""Several models in one plan: the pool that they share, the loop, and what is found."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from tests.fakes import FakeDesk
from tests.worker.assessment.models_pool import CLASSES, header_of, plan_of, values_of, write_models
from worker.assessment import assess
from worker.cli.printing import pool_text
from worker.core.posterior.summary import mean
from worker.errors import PlanError, PredictionsError
from worker.findings.wording import headline
from worker.plan import Plan, load_plan
from worker.pool import check_question, compile_pool
from worker.pool.truth import read_truth
from worker.report.gathering import gather
from worker.report.page import write_report
from worker.setup.replaying import replay
from worker.simulate.jointly import all_counted
from worker.simulate.measuring import Measures
from worker.simulate.replay import replay as simulated
from worker.simulate.truths import outcomes
from worker.store import MemoryLedger
from worker.turn.loop import advance, assess_now

TWO = {"old": 0.6, "new": 0.85}
COMPARE = {"task": "compare"}


def _mistakes(folder: Path, values: dict) -> str:
    with pytest.raises(ValidationError) as caught:
        plan_of(folder, values)
    return str(caught.value)


def _at_work(folder: Path, plan: Plan):
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    ledger = MemoryLedger(plan.assessment)
    header = header_of(plan, pool)
    ledger.begin(header)
    return assess(plan, pool), header, ledger


def _labelled(folder: Path, plan: Plan, truth: dict[str, str], most: int = 400):
    """Let one annotator answer until the queue stays empty."""
    work, header, ledger = _at_work(folder, plan)
    desk = FakeDesk()
    for turn in range(most):
        advance(work, header, ledger, desk, folder / "decisions", f"turn-{turn}")
        task = desk.next_task(1)
        if task is None:
            break
        desk.annotate(task, truth[desk.data_of(task)["item_id"]], 1)
    return work, header, ledger, desk


@pytest.mark.parametrize("models", [("old", "new"), ("old", "new", "third")])
def test_every_label_says_of_every_model_whether_it_is_right(tmp_path, models):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    plan = plan_of(tmp_path, values_of(list(models), {"task": "identify"}))
    pool = compile_pool(plan, tmp_path / "pools")
    truth = read_truth(plan, pool, "truth")
    work = assess(plan, pool)
    outcome = outcomes(work, truth)
    done = all_counted(work.several, outcome)
    said = pool.models.said[pool.predicted]
    for m, part in enumerate(done.parts):
        right = said[:, m] == truth
        for k in range(len(CLASSES)):
            own = said[:, m] == k
            assert mean(part)[k] == pytest.approx(right[own].mean())


@pytest.mark.parametrize("where", ["overall", "groups", "both"])
def test_a_labelled_pool_has_its_true_differences(tmp_path, where):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    values = values_of(["old", "new", "third"], COMPARE | {"where": where})
    values["pool"]["groups"] = "region"
    plan = plan_of(tmp_path, values)
    pool = compile_pool(plan, tmp_path / "pools")
    truth = read_truth(plan, pool, "truth")
    work = assess(plan, pool)
    found = mean(all_counted(work.several, outcomes(work, truth)))
    said = pool.models.said[pool.predicted]
    right = said == truth[:, None]
    group = np.repeat(pool.cell_group, pool.cell_size)
    for g, asked in enumerate(work.several.asked):
        own = np.ones(300, bool)
        if asked.group != "all items":
            own = group == pool.group_names.index(asked.group)
        expected = right[own, asked.first].mean() - right[own, asked.second].mean()
        assert found[g] == pytest.approx(expected)


def test_only_items_on_which_models_disagree_are_labelled_to_compare_them(tmp_path):
    truth = write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    work, _, ledger, _ = _labelled(tmp_path, plan, truth)
    said = work.pool.models.said
    for choice in ledger.choices():
        first, second = said[work.pool.item(choice["row"]).predicted]
        assert first != second


def test_the_decision_names_the_better_model(tmp_path):
    truth = write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    work, header, ledger, desk = _labelled(tmp_path, plan, truth)

    (decided,) = [json.loads(text) for text in ledger.decisions()]
    (row,) = decided["models"]["differences"]
    assert (row["better"], row["region"]) == ("new", "below")
    assert "new is better than old by" in decided["text"]
    assert decided["labels"] < row["disagreed"]
    assert row["labelled"] == decided["labels"]
    assert replay(work, ledger, desk).is_equal

    report = gather(work, header, ledger)
    page = write_report(report, tmp_path / "reports", "report").read_text()
    assert "The models" in page
    assert "new is better than old" in page


def test_equal_models_are_told_to_be_equivalent(tmp_path):
    truth = write_models(tmp_path, {"old": 0.97, "new": 0.97}, n=500)
    rope = {"rope": {"epsilon": 0.05}}
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE, stop=rope))
    _, _, ledger, _ = _labelled(tmp_path, plan, truth)

    (decided,) = [json.loads(text) for text in ledger.decisions()]
    (row,) = decided["models"]["differences"]
    assert row["better"] is None
    assert "equivalent to within 5 points" in decided["text"]


def test_the_worst_group_of_each_model_is_found_with_the_same_labels(tmp_path):
    truth = write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}))
    work, header, ledger, _ = _labelled(tmp_path, plan, truth)

    (decided,) = [json.loads(text) for text in ledger.decisions()]
    chosen = [row for row in decided["models"]["groups"] if row["is_chosen"]]
    assert [(row["model"], row["group"]) for row in chosen] == [("old", "dog"), ("new", "dog")]
    numbers = ("mean", "low", "high", "labelled")
    own = [[row[name] for name in numbers] for row in decided["models"]["groups"]]
    assert [[row[name] for name in numbers] for row in decided["groups"]] == own
    of_old = sum(r["labelled"] for r in decided["models"]["groups"] if r["model"] == "old")
    assert of_old == decided["labels"]
    report = gather(work, header, ledger)
    assert "old: “dog” is the least accurate class; new: “dog” is the least accurate class, " in (
        report.text
    )
    assert re.search(r", each at least \d[\d.]*% sure; ", report.text)


def test_a_budget_that_is_spent_says_among_which_of_its_groups_each_models_worst_is(tmp_path):
    truth = write_models(tmp_path, TWO)
    stop = {"mrr": {}, "budget": 18}
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}, stop=stop))
    _, _, ledger, _ = _labelled(tmp_path, plan, truth)

    (decided,) = [json.loads(text) for text in ledger.decisions()]
    assert decided["reason"] == "budget"
    of_each = decided["models"]["shortlists"]
    assert [row["model"] for row in of_each] == ["old", "new"]
    told = 0
    for row in of_each:
        assert row["confidence"] >= 0.95
        assert "dog" in row["groups"]
        if 1 < len(row["groups"]) < len(CLASSES):
            among = " and ".join(f"“{name}”" for name in row["groups"])
            assert (
                f"; {row['model']}: the least accurate class is one of {among}, "
                in (decided["text"])
            )
            told += 1
    assert told


@pytest.mark.parametrize("question", [COMPARE, {"task": "identify"}])
def test_a_simulation_ends_right_and_is_the_same_again(tmp_path, question):
    write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], question))
    pool = compile_pool(plan, tmp_path / "pools")
    work = assess(plan, pool)
    outcome = outcomes(work, read_truth(plan, pool, "truth"))
    measures = Measures(pool.n_items, (), only_stop=True)
    runs = [simulated(work, outcome, measures, 1, number) for number in (0, 0)]
    assert runs[0].stop is not None
    assert runs[0].stop == runs[1].stop
    assert runs[0].stop.is_right


def test_without_a_truth_pools_are_made_up(tmp_path):
    write_models(tmp_path, TWO)
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    pool = compile_pool(plan, tmp_path / "pools")
    run = simulated(assess(plan, pool), None, Measures(pool.n_items, (), only_stop=True), 1, 0)
    assert run.stop is not None


def test_a_model_that_misses_items_is_refused_by_name(tmp_path):
    write_models(tmp_path, TWO, n=50)
    lines = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join(lines[:40]) + "\n")
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="the model new misses 11 of the 50 items of old"):
        compile_pool(plan, tmp_path / "pools")


def test_a_model_with_more_items_is_refused_by_name(tmp_path):
    write_models(tmp_path, TWO, n=50)
    lines = (tmp_path / "old.csv").read_text().splitlines()
    (tmp_path / "old.csv").write_text("\n".join(lines[:49]) + "\n")
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="new has 2 items that old has not"):
        compile_pool(plan, tmp_path / "pools")


def test_one_id_for_two_contents_is_refused(tmp_path):
    write_models(tmp_path, TWO, n=50)
    text = (tmp_path / "new.csv").read_text()
    (tmp_path / "new.csv").write_text(text.replace("http://images/7.png", "http://images/x.png"))
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    with pytest.raises(PredictionsError, match="1 items of the model new have another image"):
        compile_pool(plan, tmp_path / "pools")


def test_the_order_of_the_files_does_not_matter(tmp_path):
    write_models(tmp_path, TWO, n=80)
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}))
    before = compile_pool(plan, tmp_path / "pools")
    head, *rows = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([head, *rows[::-1]]) + "\n")
    after = compile_pool(plan, tmp_path / "pools")
    assert (after.predicted == before.predicted).all()
    assert after.item_ids.equals(before.item_ids)


def test_cells_are_in_one_group_of_every_model_and_in_one_pattern(tmp_path):
    write_models(tmp_path, {"old": 0.5, "new": 0.7, "third": 0.6}, n=300)
    plan = plan_of(tmp_path, values_of(["old", "new", "third"], {"task": "identify"}))
    pool = compile_pool(plan, tmp_path / "pools")
    said = pool.models.said[pool.predicted]
    own = np.repeat(pool.models.own, pool.cell_size, axis=0)
    assert (own == said).all()
    assert (np.diff(pool.cell_group) >= 0).all()
    assert all(
        a + n == b for (a, b), n in zip(pairwise(pool.cell_start), pool.cell_size, strict=False)
    )


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


def test_before_any_label_no_model_is_named_the_better_one(tmp_path):
    write_models(tmp_path, TWO)
    work, _, ledger = _at_work(tmp_path, plan_of(tmp_path, values_of(["old", "new"], COMPARE)))
    _, belief, verdict = assess_now(work, ledger)
    assert verdict.pairs[0].confidence < 0.5
    said = headline(work, belief, verdict)
    assert "Not yet: at present it is open which of old and new is better: old less new is" in said


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


def test_when_every_item_that_could_tell_is_given_up_the_queue_ends_undecided(tmp_path):
    write_models(tmp_path, TWO, n=60)
    plan = plan_of(tmp_path, values_of(["old", "new"], COMPARE))
    _, _, ledger, _ = _labelled(tmp_path, plan, dict.fromkeys(map("i{}".format, range(60)), ""))
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    assert decided["reason"] == "exhausted"
    assert not decided["is_conclusive"]


@pytest.mark.slow
def test_claims_are_right_at_least_as_often_as_they_say(tmp_path):
    """Differences from none to large, drawn at random; the bound is that of a binomial."""
    n_pools = 24 if os.environ.get("ASSAY_SLOW") == "0" else 120
    rng = np.random.default_rng(5)
    rights = []
    for number in range(n_pools):
        folder = tmp_path / str(number)
        accuracies = dict(zip(("old", "new"), rng.uniform(0.6, 0.9, size=2).tolist(), strict=True))
        write_models(folder, accuracies, n=500, seed=number)
        values = values_of(["old", "new"], COMPARE, stop={"rope": {"epsilon": 0.02}})
        plan = plan_of(folder, values)
        pool = compile_pool(plan, folder / "pools")
        work = assess(plan, pool)
        outcome = outcomes(work, read_truth(plan, pool, "truth"))
        run = simulated(work, outcome, Measures(pool.n_items, (), only_stop=True), 1, number)
        assert run.stop is not None
        rights.append(run.stop.is_right)
    assert sum(rights) >= stats.binom.ppf(0.001, n_pools, 0.95)
