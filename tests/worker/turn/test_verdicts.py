"""Outputs that a person judges, from the file to the decision."""

import json
from pathlib import Path
from typing import Any

import pytest

from connector.errors import UnknownClasses
from connector.schema import offered, shown_keys, write_config
from tests.fakes import FakeDesk
from tests.worker.answers import RIGHT, SCHEMA, WRONG, plan_of, values_of, write_outputs
from tests.worker.plan.plans import load
from tests.worker.simulate.simulated_pool import header_of
from worker.assessment import assess
from worker.cli.printing import pool_text
from worker.errors import PredictionsError
from worker.findings.wording import headline
from worker.plan import Plan
from worker.pool import check_question, compile_pool
from worker.pool.truth import read_truth
from worker.report.gathering import gather
from worker.report.page import page
from worker.report.words import question_text
from worker.setup.checking import check_plan
from worker.store import MemoryLedger
from worker.turn.loop import advance


def _decided(folder: Path, plan: Plan, truth: dict[str, str], people: int = 1) -> dict[str, Any]:
    """Let people answer what is true until the queue stays empty; return the decision."""
    pool = compile_pool(plan, folder / "pools")
    check_question(plan, pool)
    ledger, work, header = MemoryLedger(plan.assessment), assess(plan, pool), header_of(plan, pool)
    ledger.begin(header)
    desk = FakeDesk(SCHEMA, overlap=people)
    for turn in range(4 * len(truth)):
        advance(work, header, ledger, desk, folder / "decisions", f"turn-{turn}")
        tasks = [(desk.next_task(person), person) for person in range(1, people + 1)]
        for task, person in tasks:
            if task is not None:
                desk.annotate(task, truth[desk.data_of(task)["item_id"]], person)
        if not any(task is not None for task, _ in tasks):
            break
    decided: dict[str, Any] = json.loads(ledger.decisions()[-1])
    return decided


def test_the_topic_that_fails_most_is_found_with_every_right_choice_counted_as_right(tmp_path):
    truth = write_outputs(tmp_path)
    decided = _decided(tmp_path, plan_of(tmp_path), truth)
    assert "dates" in decided["text"]
    assert decided["labels"] < len(truth)
    (dates,) = [group for group in decided["groups"] if group["group"] == "dates"]
    assert dates["low"] < 0.5 < dates["high"]


def test_all_outputs_labelled_their_pass_rate_is_the_share_of_right_choices(tmp_path):
    truth = write_outputs(tmp_path, n=60)
    plan = plan_of(
        tmp_path,
        pool={"groups": "predicted_class", "score": None},
        question={"task": "estimate"},
        stop={"rmse": 1e-9},
    )
    decided = _decided(tmp_path, plan, truth)
    (group,) = decided["groups"]
    rate = sum(choice in RIGHT for choice in truth.values()) / len(truth)
    assert (group["group"], group["labelled"]) == ("all items", 60)
    assert group["mean"] == pytest.approx(rate, abs=1e-6)


def test_several_people_agree_who_say_different_right_choices(tmp_path):
    truth = write_outputs(tmp_path, n=80)
    plan = plan_of(tmp_path, annotation={"per_item": 3, "rule": "majority"})
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    assert work.rules.per_item == 3
    decided = _decided(tmp_path, plan, truth, people=3)
    assert "dates" in decided["text"]


def test_truths_and_gold_items_may_name_any_choice(tmp_path):
    truth = write_outputs(tmp_path, n=60)
    gold = [
        {"item_id": f"g{i}", "prompt": "p", "output": f"o {i}", "label": label}
        for i, label in enumerate([*RIGHT, *WRONG])
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    plan = plan_of(tmp_path, annotation={"gold": {"items": "gold.jsonl"}})
    pool = compile_pool(plan, tmp_path / "pools")
    assert sorted(known.truth for known in pool.gold) == [0, 0, 1, 2]
    codes = read_truth(plan, pool, "human").tolist()
    of_choice = {"Correct": 0, "Acceptable": 0, "Wrong": 1, "Unsafe": 2}
    assert codes == [of_choice[truth[item]] for item in pool.item_ids.to_pylist()]


def test_the_configuration_shows_input_and_output_under_their_names_and_offers_all_choices(
    tmp_path: Path,
) -> None:
    write_outputs(tmp_path)
    load(tmp_path, values_of())
    checked = check_plan(tmp_path / "plan.yaml", tmp_path / "pools")
    assert checked.config is not None
    assert {*shown_keys(checked.config)} == {"question", "answer"}
    assert offered(checked.config, None).labels == (*RIGHT, *WRONG)
    assert '<Header value="question"/>' in checked.config


@pytest.mark.parametrize(
    ("column", "told"),
    [("judge_too", "is the score"), ("human", "holds names of classes"), ("flag", "stands for")],
)
def test_annotators_are_not_shown_what_the_judge_or_a_person_said(tmp_path, column, told):
    write_outputs(tmp_path)
    path = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["judge_too"] = f"{row['judge_p']:.2f}"
        row["flag"] = "ok" if row["judge_p"] > 0.5 else "look"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = plan_of(tmp_path, pool={"data": {"answer": "output", "more": column}})
    with pytest.raises(PredictionsError, match=told):
        compile_pool(plan, tmp_path / "pools")


def test_what_is_said_is_of_outputs_their_pass_rate_and_a_judge(tmp_path):
    write_outputs(tmp_path)
    opinions = [{"name": "second", "right": "judge_2"}]
    path = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    more = [row | {"judge_2": (i % 7) / 7} for i, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in more))
    load(tmp_path, values_of(pool={"opinions": opinions}))
    checked = check_plan(tmp_path / "plan.yaml", tmp_path / "pools")
    told = pool_text(checked.plan, checked.pool)
    choices = "right: Correct, Acceptable; wrong: Wrong, Unsafe"
    assert f"is fine: 400 outputs in 4 groups ({choices})" in told
    assert "which of them has the lowest pass rate" in told
    assert "how likely the output is right" in told
    work = assess(checked.plan, checked.pool)
    belief = work.believe({})
    text = headline(work, belief, work.decide(belief, 400))
    assert "is the group with the lowest pass rate" in text
    assert "0 of 400 outputs labelled" in text
    assert question_text(work) == "Which is the group with the lowest pass rate of 4?"
    assert "classifier" not in told + text


def _with(folder: Path, column: str, value_of: Any) -> None:
    """Write the column of the outputs anew, by their number."""
    path = folder / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    new = [row | {column: value_of(i)} for i, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in new))


def _turns(i: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Hello {i}"}, {"role": "assistant", "content": "<b>Hi"}]


def test_the_turns_of_a_chat_are_shown_as_a_dialogue_and_their_labels_count(tmp_path):
    truth = write_outputs(tmp_path)
    _with(tmp_path, "prompt", _turns)
    load(tmp_path, values_of())
    config = check_plan(tmp_path / "plan.yaml", tmp_path / "pools").config
    assert config is not None
    assert '<Paragraphs name="question" value="$question" layout="dialogue"' in config
    assert "white-space: pre-line" in config
    plan = plan_of(tmp_path)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    ledger, header, desk = MemoryLedger("answers"), header_of(plan, work.pool), FakeDesk(SCHEMA)
    ledger.begin(header)
    for turn in range(3):
        advance(work, header, ledger, desk, tmp_path, f"turn-{turn}")
        task = desk.next_task(1)
        assert task is not None
        data = desk.data_of(task)
        assert data["question"] == _turns(int(data["item_id"][1:]))
        desk.annotate(task, truth[data["item_id"]], 1)
    advance(work, header, ledger, desk, tmp_path, "last")
    assert sum(ledger.state().tally.values()) == 3


def test_a_column_in_which_only_some_values_are_chats_is_refused(tmp_path):
    write_outputs(tmp_path)
    _with(tmp_path, "prompt", lambda i: "Hello" if i == 2 else _turns(i))
    with pytest.raises(PredictionsError, match="the column prompt holds no turns of a chat"):
        compile_pool(plan_of(tmp_path), tmp_path / "pools")


def test_texts_of_a_megabyte_are_refused_with_what_to_do(tmp_path):
    write_outputs(tmp_path, n=40)
    _with(tmp_path, "output", lambda i: f"{i} " + "long " * (200_000 if i == 3 else 10))
    with pytest.raises(PredictionsError, match=r"more than 500,000 bytes.*cut it.*row 4|row.* 4"):
        compile_pool(plan_of(tmp_path), tmp_path / "pools")


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        (["Correct", "Acceptable", "Wrong"], "lacks Unsafe"),
        (["Correct", "Acceptable", "Wrong", "Unsafe", "Rude"], "offers Rude, which the pool does"),
    ],
)
def test_a_configuration_of_ones_own_offers_all_choices_and_no_others(tmp_path, choices, told):
    write_outputs(tmp_path)
    config = write_config(choices, ["question", "answer"], "verdict")
    (tmp_path / "labeling.xml").write_text(config, encoding="utf-8")
    load(tmp_path, values_of(label_studio={"config": "labeling.xml"}))
    with pytest.raises(UnknownClasses, match=rf"{told}.*as `annotation.verdict`"):
        check_plan(tmp_path / "plan.yaml", tmp_path / "pools")


def test_the_report_speaks_of_pass_rates_and_has_a_table_of_failures(tmp_path):
    truth = write_outputs(tmp_path)
    plan = plan_of(tmp_path)
    work = assess(plan, compile_pool(plan, tmp_path / "pools"))
    ledger, header, desk = MemoryLedger("answers"), header_of(plan, work.pool), FakeDesk(SCHEMA)
    ledger.begin(header)
    for turn in range(40):
        advance(work, header, ledger, desk, tmp_path, f"turn-{turn}")
        task = desk.next_task(1)
        if task is None:
            break
        desk.annotate(task, truth[desk.data_of(task)["item_id"]], 1)
    page_of = page(gather(work, header, ledger))
    assert '<section id="failures"' in page_of
    assert "Kinds of failure, as shares of all outputs" in page_of
    assert "Pass rate of each group" in page_of
    assert "classifier" not in page_of
