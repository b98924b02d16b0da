"""Projects that are full already: read as the pool, and put in order in place of importing."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from tests.live.full import IN_ORDER, Full, full_project, plan_of
from tests.live.pools import ALWAYS_WRONG, SignUp, all_tasks, project_of
from tests.live.service import Service, eventually
from worker.plan import load_plan

pytestmark = pytest.mark.live

Json = dict[str, Any]


def label_until_stopped(service: Service, full: Full, name: str, person: Annotator) -> list[int]:
    """Answer what is ranked until the assessment stops; return the tasks that were labelled."""
    ledger, done = service.context.ledger(name), list[int]()

    def task_or_stop() -> Json | Literal["stopped"] | None:
        if ledger.state().status == "stopped":
            return "stopped"
        ranked = {task for u in ledger.state().unsettled.values() for task in u.open_tasks}
        task = person.next_task(full.project) if ranked else None
        return task if task is not None else None

    for _ in range(len(full.tasks)):
        found = eventually(task_or_stop)
        if found == "stopped":
            return done
        assert isinstance(found, dict)
        assert found["predictions"] == []
        full.answer(person, found["id"])
        done.append(found["id"])
    raise AssertionError(f"everything is labelled and no stop: {service.status(name)['text']}")


def given_back(service: Service, full: Full, name: str) -> Callable[[], bool]:
    """Whether nothing of ours orders the project any more."""
    metadata = service.context.ledger(name).metadata
    return lambda: not full.rankings() and not metadata().get("settings_before")


def test_a_full_project_is_put_in_order_until_enough_is_known_and_then_is_as_it_was(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio, versions=("v1", "v2"))
    full.asked("PATCH", "", {"show_collab_predictions": True, "skip_queue": "IGNORE_SKIPPED"})
    before, versions = full.settings(), full.versions()
    assert before["model_version"] == "v2"
    path = plan_of(tmp_path, full, ", model_version: v2", IN_ORDER, "{mrr: {confidence: 0.9}}")
    name = load_plan(path).assessment

    assert running.begin(path) == full.project
    eventually(full.rankings)
    eventually(lambda: full.settings()["sampling"] == "Uncertainty sampling")
    assert full.settings()["show_collab_predictions"] is False
    ada = annotator()
    done = label_until_stopped(running, full, name, ada)

    status = running.json("status", name)
    assert status["decision"]["chosen"] == [ALWAYS_WRONG]
    # what was answered before the stop was seen may be counted a moment later
    eventually(lambda: running.json("status", name)["labels"] == running.labels(name))
    assert {int(r.item) for r in running.records(name).values() if r.outcome} <= set(done)
    eventually(given_back(running, full, name))
    assert full.settings() == before
    assert full.versions() == versions
    assert len(all_tasks(label_studio, full.project)) == len(full.tasks)
    description = project_of(label_studio, full.project)["description"].splitlines()
    assert description[:2] == ["What these are for", "and a second line"]
    assert "Thank you: enough is known" in description[2]
    assert len(description) == 3
    assert running.json("replay", name)["is_equal"] is True


def test_a_stop_by_hand_puts_back_and_a_resume_takes_over_again(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio)
    before = full.settings()
    path = plan_of(tmp_path, full, more=IN_ORDER)
    name = load_plan(path).assessment
    running.begin(path)
    eventually(full.rankings)

    assert running.run("stop", name).code == 0
    eventually(given_back(running, full, name))
    assert full.settings() == before

    assert running.run("resume", name, "--more", "5").code == 0
    eventually(full.rankings)
    eventually(lambda: full.settings()["sampling"] == "Uncertainty sampling")
    assert running.run("stop", name).code == 0
    eventually(given_back(running, full, name))
    assert full.settings() == before


def test_a_task_that_is_labelled_out_of_order_counts_when_it_is_its_turn(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio, size=4)
    path = plan_of(tmp_path, full, more=IN_ORDER, stop="{looks: 3}")
    name = load_plan(path).assessment
    running.begin(path)
    eventually(full.rankings)
    ada = annotator()

    for task in reversed(full.tasks):  # by hand, in the Data Manager
        full.answer(ada, task)

    ledger = running.context.ledger(name)
    eventually(lambda: ledger.state().status == "stopped")
    assert running.labels(name) == len(full.tasks)
    assert running.json("status", name)["decision"]["is_certain"] is True
    eventually(given_back(running, full, name))


def test_a_claimed_task_that_is_deleted_is_let_go_and_others_take_its_place(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio)
    path = plan_of(tmp_path, full, more=IN_ORDER)
    name = load_plan(path).assessment
    running.begin(path)
    eventually(full.rankings)
    first = int(eventually(lambda: next(iter(running.records(name)), None)))

    full.delete_task(first)

    eventually(lambda: running.state_of(name, str(first)) == "deleted")
    ada = annotator()
    task = eventually(lambda: ada.next_task(full.project))
    full.answer(ada, task["id"])
    eventually(lambda: running.labels(name) == 1)
    running.run("stop", name)
    eventually(given_back(running, full, name))


def test_a_worker_killed_while_it_ranks_leaves_nothing_behind(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio)
    before, versions = full.settings(), full.versions()
    path = plan_of(tmp_path, full, more=IN_ORDER)
    name = load_plan(path).assessment
    running.begin(path)
    ada = annotator()
    killed: set[int] = set()

    def come_back(worker: str) -> int | None:
        pid = running.pids().get(worker)  # none while `up` writes down who runs now
        return None if pid in killed else pid

    for _ in range(3):
        for worker in ("worker-1", "worker-2"):
            pid = eventually(lambda worker=worker: come_back(worker))
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        eventually(lambda: len(full.rankings()) == 1)
        labels = running.labels(name)
        ranked = eventually(lambda: ada.next_task(full.project))
        full.answer(ada, ranked["id"])
        if str(ranked["id"]) in running.records(name):
            eventually(lambda least=labels + 1: running.labels(name) >= least)

    running.run("stop", name)
    eventually(given_back(running, full, name))
    assert full.settings() == before
    assert full.versions() == versions


def test_chosen_tasks_of_a_full_project_are_copied_and_the_project_stays_as_it_is(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio)
    ada = annotator()
    known = [task for task in full.tasks if full.predicted[task] == "ant"][:6]
    for task in known:
        full.answer(ada, task)
    before = full.settings()
    path = plan_of(tmp_path, full, ", data: {text: text}", stop="{mrr: {confidence: 0.9}}")
    name = load_plan(path).assessment

    copies = running.begin(path)

    assert copies != full.project
    ledger = running.context.ledger(name)
    texts = {}
    while ledger.state().status != "stopped":
        task = eventually(lambda: ada.next_task(copies) or ledger.state().status == "stopped")
        if task is not True:
            item = int(task["data"]["item_id"])
            texts[item] = task["data"]["text"]
            ada.submit(task["id"], full.truth[item], "answer", "text")
    assert texts == {item: f"photo {full.tasks.index(item)}" for item in texts}
    assert not set(known) & set(texts)
    decision = running.json("status", name)["decision"]
    assert decision["chosen"] == [ALWAYS_WRONG]
    assert decision["known"] == {"items": 6, "use": "known"}
    assert full.settings() == before
    again = running.run("start", str(path))
    assert again.code == 1
    assert "was started already" in again.err


def test_annotations_drawn_at_random_count_as_labels_of_the_sample(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio, size=4)
    ada = annotator()
    for task in full.tasks:
        full.answer(ada, task)
    path = plan_of(tmp_path, full, ", existing: random", IN_ORDER)
    name = load_plan(path).assessment

    running.begin(path)

    eventually(lambda: running.context.ledger(name).state().status == "stopped")
    decision = running.json("status", name)["decision"]
    assert decision["is_certain"] is True
    assert decision["labels"] == 0
    assert [g["right"] for g in decision["groups"]] == [4, 4, 0]
    eventually(given_back(running, full, name))


def test_a_project_that_goes_on_does_not_change_the_assessment(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    full = full_project(label_studio, size=4)
    path = plan_of(tmp_path, full, more=IN_ORDER)
    name = load_plan(path).assessment
    running.begin(path)
    pool_hash = running.context.header(name).pool_hash
    full.asked("POST", "import", [{"data": {"text": "new"}}])
    full.answer(annotator(), full.tasks[0])

    said = running.run("start", str(path))
    assert (said.code, "was started already" in said.err) == (1, True)
    assert running.context.header(name).pool_hash == pool_hash
    assert running.run("stop", name).code == 0
    assert running.run("resume", name, "--more", "1").code == 0
    assert running.run("stop", name).code == 0
    eventually(given_back(running, full, name))
    assert json.loads(running.context.header(name).plan)["pool"]["project"] == full.project
