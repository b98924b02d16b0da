"""Files of outputs that a person judges: what is guessed of them, and that the plan can be used."""

import json
from pathlib import Path

import pytest

from tests.worker.answers import write_outputs, write_pairs
from tests.worker.setup.test_drafting import drafted, write

ASKED = [f"What is {i} plus {i}, in words?" for i in range(40)]
GIVEN = [f"That would be the number {2 * i}." for i in range(40)]


def test_input_output_judge_and_groups_make_a_plan_of_verdicts(
    tmp_path: Path,
) -> None:
    write_outputs(tmp_path)
    told: list[str] = []
    plan = drafted(tmp_path / "answers.jsonl", say=told.append)
    assert plan.annotation.verdict is not None
    assert plan.pool.data == {"prompt": "prompt", "output": "output"}
    assert plan.pool.score == "judge_p"
    assert plan.pool.groups == ("model", "topic")
    assert plan.question.task == "identify"
    assert any(line.startswith("output: output (its name says so; nothing is") for line in told)
    assert any(line.startswith("not shown: human (it may hold the verdict") for line in told)


def test_further_judges_are_opinions(tmp_path: Path) -> None:
    write_outputs(tmp_path)
    path = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    more = [row | {"judge_small": round(1 - row["judge_p"] / 2, 3)} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in more))
    plan = drafted(path)
    assert plan.pool.opinions is not None
    assert [(one.name, one.right) for one in plan.pool.opinions] == [("judge_small", "judge_small")]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("prompt", "response"),
        ("question", "answer"),
        ("instruction", "model_output"),
        ("article", "summary"),
        ("user_input", "completion"),
    ],
)
def test_outputs_without_groups_and_judge_are_estimated_as_a_whole(
    tmp_path: Path, asked: str, given: str
) -> None:
    plan = drafted(write(tmp_path / "o.csv", {asked: ASKED, given: GIVEN, "id": [*range(40)]}))
    assert [*plan.pool.data.values()] == [asked, given]
    assert plan.question.task == "estimate"
    assert [str(factor) for factor in plan.pool.factors] == ["all_items"]


def test_a_file_with_a_predicted_class_is_of_a_classifier(tmp_path: Path) -> None:
    said = ["spam", "ham"] * 20
    columns = {"prompt": ASKED, "response": GIVEN, "predicted": said, "id": [*range(40)]}
    plan = drafted(write(tmp_path / "o.csv", columns))
    assert plan.annotation.verdict is None
    assert plan.pool.predicted == "predicted"


def test_models_that_answer_the_same_prompts_are_compared_in_pairs(tmp_path: Path) -> None:
    write_pairs(tmp_path, 30)
    told: list[str] = []
    plan = drafted(tmp_path / "answers.jsonl", task="compare", say=told.append)
    assert plan.pool.pairs_by == "prompt"
    assert "pairs_by: prompt (30 different ones in 60 rows)" in told
    assert drafted(tmp_path / "answers.jsonl").pool.pairs_by is None


def test_prompts_that_differ_or_come_twice_to_one_model_are_not_paired(tmp_path: Path) -> None:
    write_outputs(tmp_path)
    assert drafted(tmp_path / "answers.jsonl", task="compare").pool.pairs_by is None
    write_pairs(tmp_path, 30)
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    rows.append(rows[0] | {"item_id": "again"})
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert drafted(tmp_path / "answers.jsonl", task="compare").pool.pairs_by is None
