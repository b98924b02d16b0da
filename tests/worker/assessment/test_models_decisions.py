"""Several models at work: which items are labelled, what is found, and how often it is right."""

import json
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from tests.fakes import FakeDesk
from tests.worker.assessment.models_pool import (
    CLASSES,
    COMPARE,
    TWO,
    header_of,
    plan_of,
    values_of,
    write_models,
)
from worker.assessment import assess
from worker.assessment.verdicts import assess_now
from worker.findings.wording import headline
from worker.plan import Plan
from worker.pool import check_question, compile_pool
from worker.pool.truth import read_truth
from worker.report.gathering import gather
from worker.report.page import write_report
from worker.setup.replaying import replay
from worker.simulate.measuring import Measures
from worker.simulate.replay import labels
from worker.simulate.replay import replay as simulated
from worker.simulate.truths import outcomes
from worker.store import MemoryLedger
from worker.turn.loop import advance


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
    work, header, ledger, desk = _labelled(tmp_path, plan, truth)
    assert replay(work, ledger, desk).is_equal

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


def test_live_and_simulated_choices_are_the_same(tmp_path):
    truth = write_models(tmp_path, TWO)
    more = {"queue": {"look_ahead": 1}, "stop": {"budget": 60}}
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}, **more))
    work, _, ledger, _ = _labelled(tmp_path, plan, truth)
    outcome = outcomes(work, read_truth(plan, work.pool, "truth"))
    live = [choice["row"] for choice in ledger.choices()]
    assert live == [revealed.row for revealed in islice(labels(work, outcome), len(live))]
    assert len(live) == 60


def test_a_queue_ahead_of_the_answers_is_chosen_again_alike(tmp_path):
    truth = write_models(tmp_path, TWO)
    more = {"queue": {"look_ahead": 7}, "stop": {"budget": 40}}
    plan = plan_of(tmp_path, values_of(["old", "new"], {"task": "identify"}, **more))
    work, _, ledger, desk = _labelled(tmp_path, plan, truth)
    assert any(choice["pending"] for choice in ledger.choices())
    assert replay(work, ledger, desk).is_equal


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


def test_before_any_label_no_model_is_named_the_better_one(tmp_path):
    write_models(tmp_path, TWO)
    work, _, ledger = _at_work(tmp_path, plan_of(tmp_path, values_of(["old", "new"], COMPARE)))
    _, belief, verdict = assess_now(work, ledger)
    assert verdict.pairs[0].confidence < 0.5
    said = headline(work, belief, verdict)
    assert "Not yet: at present it is open which of old and new is better: old less new is" in said


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
    n_pools = 24 if IS_SHORT else 120
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
