"""Outputs that a person judges, in a real Label Studio: the sample, from start to finding."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from connector.local import LabelStudioServer
from tests.live.pools import SAMPLE, SignUp, Trial, all_tasks, label_until_stopped, project_of
from tests.live.service import Service
from tests.worker.answers import rates_of_judge, values_of, write_outputs, write_pairs

pytestmark = [pytest.mark.live, pytest.mark.slow]

ANSWERS = SAMPLE.parent / "answers"


def test_the_topic_that_fails_most_is_found_by_verdicts(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    with (ANSWERS / "truth.csv").open(encoding="utf-8", newline="") as file:
        truth = {row["item_id"]: row["verdict"] for row in csv.DictReader(file)}
    text = (ANSWERS / "plan.yaml").read_text(encoding="utf-8")
    text = text.replace("answers.jsonl", str(ANSWERS / "answers.jsonl"))
    plan = tmp_path / "plan.yaml"
    plan.write_text(text.replace("0.99, confidence: 0.95", "0.99, confidence: 0.8"))
    project = running.begin(plan)
    trial = Trial("answers-worst-topic", plan, "verdict", "question", truth, {})

    config = project_of(label_studio, project)["label_config"]
    assert '<Choice value="No answer"/>' in config
    ada = annotator()
    task = trial.answer(ada, project)
    assert {*task["data"]} == {"item_id", "question", "answer"}
    assert "\n\n" in task["data"]["answer"]
    label_until_stopped(running, trial, project, ada, 400)

    (shown,) = {frozenset(task["data"]) for task in all_tasks(label_studio, project)}
    assert shown == {"item_id", "question", "answer"}
    decision = running.decision_file("answers-worst-topic")
    assert "“letters” is the group with the lowest pass rate" in decision["text"]
    assert "of 1,200 outputs labelled" in decision["text"]


def test_how_often_the_judge_says_what_people_say_is_estimated(
    running: Service, annotator: SignUp, tmp_path: Path
) -> None:
    truth = write_outputs(tmp_path, 40)
    asked = {"question": {"task": "estimate", "metric": "judge_tnr"}, "stop": {"rmse": 1e-4}}
    values = values_of(assessment="how-good-a-judge", pool={"groups": "all_items"}, **asked)
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(values), encoding="utf-8")
    project = running.begin(plan)
    trial = Trial("how-good-a-judge", plan, "verdict", "question", truth, {})
    label_until_stopped(running, trial, project, annotator(), 40)

    decision = running.decision_file("how-good-a-judge")
    exact = pytest.approx(rates_of_judge(tmp_path, truth)["judge_tnr"], abs=1e-6)
    assert decision["overall"] == {"mean": exact, "low": exact, "high": exact}
    assert "the TNR of the judge of all items is" in decision["text"]


def test_models_are_compared_in_pairs_of_outputs_of_the_same_prompts(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    truth = write_pairs(tmp_path, 60)
    asked = {"question": {"task": "compare", "compare": "all"}, "stop": {"budget": 40}}
    values = values_of(
        assessment="in-pairs",
        pool={"groups": "model", "pairs_by": "prompt", "score": None},
        **asked,
    )
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(values), encoding="utf-8")
    project = running.begin(plan)
    trial = Trial("in-pairs", plan, "verdict", "question", truth, {})
    label_until_stopped(running, trial, project, annotator(), 40)

    tasks = all_tasks(label_studio, project)
    assert {frozenset(task["data"]) for task in tasks} == {
        frozenset(("item_id", "question", "answer"))
    }
    prompts = [task["data"]["question"] for task in tasks if task["total_annotations"]]
    assert len(set(prompts)) <= 0.6 * len(prompts)
    decision = running.decision_file("in-pairs")
    assert decision["pairs"][0]["groups"] == ["large", "small"]
