"""The whole service, as real processes against a real Label Studio, does what it promises."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from connector.local import LabelStudioServer
from tests.live.pools import (
    ALWAYS_WRONG,
    SignUp,
    all_tasks,
    assert_no_item_twice,
    assert_tally_is_label_studios,
    digits,
    insects,
    label_until_stopped,
    project_of,
)
from tests.live.service import Service, eventually

pytestmark = pytest.mark.live


def test_an_assessment_goes_on_to_its_decision_and_a_late_label_is_reviewed(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path, stop="{mrr: {confidence: 0.9}}")
    project = running.begin(trial.plan)
    ada, ben = annotator(), annotator()
    held = eventually(lambda: ben.next_task(project))

    label_until_stopped(running, trial, project, ada)

    status = running.json("status", trial.assessment)
    assert (status["status"], status["decision"]["reason"]) == ("stopped", "answered")
    assert status["decision"]["chosen"] == [ALWAYS_WRONG]
    assert status["decision"]["confidence"] >= 0.9
    ledger = running.context.ledger(trial.assessment)
    eventually(lambda: ledger.metadata().get("told_desk"))
    file = running.decision_file(trial.assessment)
    assert {**file, "reviews": []} == {**status["decision"], "reviews": []}
    told = project_of(label_studio, project)
    for text in (told["expert_instruction"], told["description"]):
        assert "Thank you: enough is known, there is nothing left to label here." in text
        assert ALWAYS_WRONG not in text
    assert told["show_instruction"] is True
    eventually(lambda: ada.next_task(project) is None)

    labels = running.labels(trial.assessment)
    trial.submit(ben, held)

    eventually(lambda: running.labels(trial.assessment) == labels + 1)
    published = eventually(lambda: _published_with(running, trial.assessment, labels + 1))
    eventually(lambda: ledger.metadata().get("told_desk") == published)
    file = running.decision_file(trial.assessment)
    assert {**file, "reviews": []} == {**status["decision"], "reviews": []}
    review = file["reviews"][-1]
    assert review["since"] in ("confirmed", "weakened")  # the label was true
    assert review["labels"] == labels + 1
    after = running.json("status", trial.assessment)
    assert (after["status"], after["review"]) == ("stopped", review)
    assert ben.next_task(project) is None
    assert_tally_is_label_studios(running, label_studio, trial, project)
    replayed = running.json("replay", trial.assessment)
    assert replayed["is_equal"] is True


def _published_with(running: Service, assessment: str, labels: int) -> int:
    """How many decisions there are, once the last one is of so many labels; else 0."""
    decisions = [json.loads(text) for text in running.context.ledger(assessment).decisions()]
    return len(decisions) if decisions[-1]["labels"] == labels else 0


def test_a_spent_budget_stops_the_sample_without_a_conclusion(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = digits(tmp_path, stop="{mrr: {confidence: 0.99}, budget: 4}")
    project = running.begin(trial.plan)
    ada = annotator()

    label_until_stopped(running, trial, project, ada)

    decision = running.status(trial.assessment)["decision"]
    assert (decision["reason"], decision["is_conclusive"]) == ("budget", False)
    assert decision["labels"] == 4
    eventually(lambda: ada.next_task(project) is None)
    assert_tally_is_label_studios(running, label_studio, trial, project)


def test_a_task_shows_the_annotator_the_item_and_nothing_that_the_classifier_said(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    project = running.begin(trial.plan)

    task = eventually(lambda: annotator().next_task(project))

    item = task["data"]["item_id"]
    assert task["data"] == {"item_id": item, "text": f"a photo of {item}"}
    assert task["predictions"] == []
    assert task["meta"] in ({}, None)
    assert project_of(label_studio, project)["show_collab_predictions"] is False


def test_an_edit_changes_the_outcome_and_a_deletion_takes_it_back(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    name = trial.assessment
    project = running.begin(trial.plan)
    ada = annotator()
    task = eventually(lambda: ada.next_task(project))
    item = task["data"]["item_id"]

    annotation = trial.submit(ada, task)
    eventually(lambda: running.labels(name) == 1)
    assert running.records(name)[item].outcome == trial.truth[item]

    ada.edit(annotation["id"], trial.another(item))
    eventually(lambda: running.records(name)[item].outcome == trial.another(item))
    assert running.labels(name) == 1
    assert_tally_is_label_studios(running, label_studio, trial, project)

    ada.delete(annotation["id"])
    eventually(lambda: running.labels(name) == 0)
    assert running.state_of(name, item) == "open"
    again = eventually(lambda: annotator().next_task(project))
    assert again["data"]["item_id"] == item


def test_a_skip_goes_to_others_and_the_second_one_gives_the_item_up(
    running: Service, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    name = trial.assessment
    project = running.begin(trial.plan)
    ada, ben, eve = annotator(), annotator(), annotator()
    task = eventually(lambda: ada.next_task(project))
    item = task["data"]["item_id"]

    ada.skip(task["id"])
    assert eventually(lambda: ada.next_task(project))["id"] != task["id"]
    assert eventually(lambda: ben.next_task(project))["id"] == task["id"]
    ben.skip(task["id"])

    eventually(lambda: running.status(name)["retired"] == {"skipped": 1})
    assert running.state_of(name, item) == "skipped"
    eventually(lambda: all(seen.is_closed for _, seen in running.records(name)[item].tasks))
    assert eventually(lambda: eve.next_task(project))["id"] != task["id"]
    assert "skipped" in running.run("status", name).out


def test_of_two_annotations_the_first_counts_and_after_its_deletion_the_second(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    name = trial.assessment
    project = running.begin(trial.plan)
    ada, ben = annotator(), annotator()
    task = eventually(lambda: ada.next_task(project))
    item = task["data"]["item_id"]

    first = trial.submit(ada, task)
    trial.submit(ben, task, trial.another(item))
    eventually(lambda: len(running.records(name)[item].judgements()) == 2)
    assert running.records(name)[item].outcome == trial.truth[item]
    assert running.labels(name) == 1

    ada.delete(first["id"])
    eventually(lambda: running.records(name)[item].outcome == trial.another(item))
    assert running.labels(name) == 1
    assert_tally_is_label_studios(running, label_studio, trial, project)


def test_rejected_annotations_are_kept_with_their_reasons_and_shown(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    project = running.begin(trial.plan)
    ada, ben = annotator(), annotator()
    outside = trial.submit(ada, eventually(lambda: ada.next_task(project)), "zebra")
    task = eventually(lambda: ben.next_task(project))
    headers = {"Authorization": f"Token {label_studio.token}"}
    path = f"{label_studio.url}/api/tasks/{task['id']}/annotations/"
    sent = httpx.post(path, json={"result": [], "lead_time": 1.0}, headers=headers, timeout=60)
    empty = sent.raise_for_status().json()

    eventually(lambda: len(running.status(trial.assessment)["rejected"]) == 2)

    rejected = running.json("status", trial.assessment)["rejected"]
    assert "'zebra' is not one of the classes" in rejected[str(outside["id"])]["reason"]
    assert rejected[str(outside["id"])]["author"] == ada.user_id
    assert rejected[str(empty["id"])]["reason"] == "an empty result"
    assert running.labels(trial.assessment) == 0


def test_a_deleted_task_is_retired_with_its_label_and_never_imported_again(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    name = trial.assessment
    project = running.begin(trial.plan)
    task = trial.answer(annotator(), project)
    item = task["data"]["item_id"]
    eventually(lambda: running.labels(name) == 1)

    headers = {"Authorization": f"Token {label_studio.token}"}
    path = f"{label_studio.url}/api/tasks/{task['id']}/"
    httpx.delete(path, headers=headers, timeout=60).raise_for_status()

    eventually(lambda: running.labels(name) == 0)
    assert running.status(name)["retired"] == {"deleted": 1}
    assert running.state_of(name, item) == "deleted"
    shown = [task["data"]["item_id"] for task in all_tasks(label_studio, project)]
    assert item not in shown
    assert len(shown) == len(set(shown)) >= 3


def test_pause_empties_the_queue_and_resume_fills_it_and_a_stop_by_hand_ends_it(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path)
    name = trial.assessment
    project = running.begin(trial.plan)
    ada, ben = annotator(), annotator()
    held = eventually(lambda: ada.next_task(project))

    assert running.json("pause", name)["status"] == "paused"
    eventually(lambda: running.status(name)["open_items"] == 0)
    assert ben.next_task(project) is None
    trial.submit(ada, held)  # whoever holds a task may still submit it, and it counts
    eventually(lambda: running.labels(name) == 1)
    assert running.status(name)["status"] == "paused"

    assert running.json("resume", name)["status"] == "running"
    trial.answer(ben, project)
    eventually(lambda: running.labels(name) == 2)

    assert running.json("stop", name)["status"] == "stopped"
    eventually(lambda: running.context.ledger(name).metadata().get("told_desk"))
    decision = running.decision_file(name)
    assert (decision["reason"], decision["is_conclusive"]) == ("by hand", False)
    assert decision["labels"] == 2
    assert ben.next_task(project) is None
    assert_tally_is_label_studios(running, label_studio, trial, project)


def test_several_assessments_share_two_workers_and_do_not_meet(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    stops = ["{budget: 3}", "{mrr: {confidence: 0.9}, budget: 5}", "{budget: 4}"]
    trials = [insects(tmp_path, stop=stop) for stop in stops]
    projects = [running.begin(trial.plan) for trial in trials]
    ada = annotator()

    for _ in range(3):
        for trial, project in zip(trials, projects, strict=True):
            trial.answer(ada, project)

    for trial, project in zip(trials, projects, strict=True):
        label_until_stopped(running, trial, project, ada)
        assert_tally_is_label_studios(running, label_studio, trial, project)
        assert_no_item_twice(running, label_studio, trial.assessment, project)
    assert {"worker-1", "worker-2"} <= set(running.pids())
    listed = {one["assessment"]: one["status"] for one in running.json("status")}
    assert {listed[trial.assessment] for trial in trials} == {"stopped"}
