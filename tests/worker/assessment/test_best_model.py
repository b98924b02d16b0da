"""The best of many models: what is labelled, what is found, and what is refused."""

import json
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from tests.fakes import FakeDesk
from tests.worker.assessment.models_pool import (
    header_of,
    plan_of,
    values_of,
    write_models,
)
from worker.assessment import assess
from worker.cli.main import cli
from worker.cli.printing import pool_text
from worker.core.posterior.summary import draws, mean
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.pool import check_question, compile_pool, open_pool
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

BEST = {"task": "identify", "of": "models", "which": "highest", "tolerance": 0.02}
FOUR = {"a": 0.6, "b": 0.85, "c": 0.7, "d": 0.75}


def _plan(folder: Path, models: dict[str, float] = FOUR, **parts: object) -> Plan:
    return plan_of(folder, values_of([*models], parts.pop("question", BEST), **parts))


def _at_work(folder: Path, plan: Plan):
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    ledger, header = MemoryLedger(plan.assessment), header_of(plan, pool)
    ledger.begin(header)
    return assess(plan, pool), header, ledger


def _labelled(folder: Path, plan: Plan, truth: dict[str, str], most: int = 400):
    work, header, ledger = _at_work(folder, plan)
    desk = FakeDesk()
    for turn in range(most):
        advance(work, header, ledger, desk, folder / "decisions", f"turn-{turn}")
        task = desk.next_task(1)
        if task is None:
            break
        desk.annotate(task, truth[desk.data_of(task)["item_id"]], 1)
    return work, header, ledger, desk


@pytest.fixture
def found(tmp_path):
    truth = write_models(tmp_path, FOUR)
    return *_labelled(tmp_path, _plan(tmp_path), truth), tmp_path


def test_the_best_model_is_named_from_labels_where_models_disagree(found):
    work, _, ledger, *_ = found
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    assert decided["chosen"] == ["b"]
    assert decided["is_conclusive"]
    assert "“b” is the most accurate model, or within 0.02 of it" in decided["text"]
    assert decided["labels"] < 60
    said = work.pool.models.said
    for choice in ledger.choices():
        assert len({*said[work.pool.item(choice["row"]).predicted].tolist()}) > 1


def test_a_decision_says_how_far_each_model_is_behind_and_how_likely_it_is_best(found):
    *_, ledger, _, _ = found
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    first, *others = decided["models"]["best"]
    assert (first["model"], first["behind"], first["low"], first["high"]) == ("b", 0.0, 0.0, 0.0)
    assert first["p_best"] == pytest.approx(decided["confidence"], abs=1e-3)
    assert {row["model"] for row in others} == {"a", "c", "d"}
    assert all(row["low"] < row["behind"] < row["high"] for row in others)
    assert [row["group"] for row in decided["groups"]] == ["a", "b", "c", "d"]


def test_a_decision_says_how_far_every_two_models_are_apart(found):
    *_, ledger, _, _ = found
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    told, behind = decided["models"]["pairs"], decided["models"]["best"]
    names = [row["model"] for row in behind]
    assert [(row["first"], row["second"]) for row in told] == [*combinations(names, 2)]
    of_first = [(row["mean"], row["low"], row["high"]) for row in told[:3]]
    assert of_first == [(row["behind"], row["low"], row["high"]) for row in behind[1:]]


def test_everything_is_rebuilt_from_label_studio_and_the_plan(found):
    work, _, ledger, desk, _ = found
    assert replay(work, ledger, desk).is_equal


def test_the_report_has_the_models_by_how_far_they_are_behind(found):
    work, header, ledger, _, folder = found
    report = gather(work, header, ledger)
    page = write_report(report, folder / "reports", "report").read_text()
    assert "How far each model is behind the first" in page
    assert "How much more accurate each model is than each one after it" in page
    assert "Which is the most accurate model of 4?" in page


def test_the_reopened_pool_is_the_same(found):
    work, *_ = found
    pool = open_pool(work.pool.path, work.pool.file_sha256)
    again = assess(work.plan, pool)
    np.testing.assert_array_equal(mean(again.first), mean(work.first))


def test_the_order_of_the_tally_changes_nothing(found):
    work, _, ledger, *_ = found
    tally = ledger.state().tally
    backwards = dict(reversed(tally.items()))
    np.testing.assert_array_equal(draws(work.believe(tally)), draws(work.believe(backwards)))


def test_a_run_takes_the_labels_that_a_live_assessment_would(found):
    work, _, ledger, *_ = found
    truth = read_truth(work.plan, work.pool, "truth")
    live = [choice["row"] for choice in ledger.choices()]
    one_by_one = labels(work, outcomes(work, truth))
    assert next(one_by_one).row == live[0]
    last = list(islice(one_by_one, 150))[-1].belief
    assert mean(last).argmax() == 1


def test_with_every_label_the_accuracies_are_those_of_the_pool(tmp_path):
    write_models(tmp_path, FOUR, n=60)
    plan = _plan(tmp_path)
    work, *_ = _at_work(tmp_path, plan)
    truth = read_truth(plan, work.pool, "truth")
    said = work.pool.models.said[work.pool.predicted]
    differ = (said != said[:, :1]).any(axis=1)
    *_, last = labels(work, outcomes(work, truth))
    right = (said == truth[:, None])[differ].sum(axis=0) / 60
    np.testing.assert_allclose(mean(last.belief) - right, (mean(last.belief) - right)[0])
    drawn = draws(last.belief)
    np.testing.assert_allclose(drawn - drawn[:, :1], np.tile(right - right[0], (len(drawn), 1)))
    verdict = work.ask(last.belief, 0, work.rule)
    assert verdict.certain


def test_a_simulation_needs_no_truth(tmp_path):
    write_models(tmp_path, FOUR)
    work, *_ = _at_work(tmp_path, _plan(tmp_path))
    run = simulated(work, None, Measures(400, (), True), 1, 0)
    assert run.labels > 0


def test_before_any_label_it_is_said_how_many_it_will_take(tmp_path, monkeypatch):
    write_models(tmp_path, FOUR)
    (tmp_path / "plan.yaml").write_text(json.dumps(values_of([*FOUR], BEST)))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    asked = ["plan-labels", str(tmp_path / "plan.yaml"), "--runs", "3", "--processes", "1"]
    done = CliRunner().invoke(cli, asked)
    assert "The question will cost about" in done.stdout


def test_models_without_scores_are_told_apart(tmp_path):
    truth = write_models(tmp_path, FOUR)
    values = values_of([*FOUR], BEST)
    for model in values["models"]:
        del model["score"]
    _, _, ledger, _ = _labelled(tmp_path, plan_of(tmp_path, values), truth)
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    assert decided["chosen"] == ["b"]


def test_the_worst_models_can_be_asked_for_by_a_list(tmp_path):
    truth = write_models(tmp_path, FOUR)
    asked = BEST | {"which": "lowest", "shortlist": 2}
    _, _, ledger, _ = _labelled(tmp_path, _plan(tmp_path, question=asked), truth)
    (decided,) = [json.loads(text) for text in ledger.decisions()]
    assert "a" in decided["chosen"]
    assert len(decided["chosen"]) == 2


def test_a_check_asks_which_model_is_best(tmp_path):
    write_models(tmp_path, FOUR)
    plan = _plan(tmp_path)
    told = pool_text(plan, compile_pool(plan, tmp_path / "pools"))
    assert "the question is which is the most accurate model of 4 (tolerance 0.02)" in told


def test_many_models_are_refused_with_a_cure(tmp_path):
    many = {f"m{n}": 0.7 for n in range(101)}
    with pytest.raises(ValidationError, match="came 101 of them, expected 2 to 8, or to 100"):
        _plan(tmp_path, many)
    nine = {f"m{n}": 0.7 for n in range(9)}
    with pytest.raises(ValidationError, match="only to find the best"):
        _plan(tmp_path, nine, question={"task": "identify"})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"question": BEST | {"top": 4}}, "expected less than the 4 models"),
        ({"question": {"task": "compare", "of": "models"}}, "only the task identify has it"),
        ({"question": BEST | {"metric": "bias"}}, "compared by their accuracy"),
    ],
)
def test_what_does_not_go_with_the_question_is_refused(tmp_path, change, expected):
    with pytest.raises(ValidationError, match=expected):
        plan_of(tmp_path, values_of([*FOUR], BEST) | change)


def test_models_of_other_items_are_refused(tmp_path):
    write_models(tmp_path, {"a": 0.6, "b": 0.8}, n=40)
    write_models(tmp_path, {"b": 0.8}, n=39)
    with pytest.raises(PredictionsError, match="models are compared on the same items"):
        compile_pool(_plan(tmp_path, {"a": 0.6, "b": 0.8}), tmp_path / "pools")


def test_models_that_never_disagree_are_refused(tmp_path):
    write_models(tmp_path, {"a": 0.6}, n=40)
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text())
    with pytest.raises(PredictionsError, match="none is better"):
        compile_pool(_plan(tmp_path, {"a": 0.6, "b": 0.6}), tmp_path / "pools")
