"""Several annotators an item, with a real Label Studio: served to different people."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from tests.live.pools import ALWAYS_WRONG, GROUPS, SignUp, Trial, all_tasks, insects
from tests.live.service import Service, eventually

pytestmark = pytest.mark.live

GOLD = {f"gold-{n}": GROUPS[n % 3] for n in range(6)}
MOST = 150


def shared_trial(folder: Path, annotation: str) -> Trial:
    """The insects, each judged by several people, with gold items among them."""
    trial = insects(folder, stop="{mrr: {confidence: 0.8}, budget: 30}")
    rows = "".join(f"{item},a photo of {item},{label}\n" for item, label in GOLD.items())
    trial.plan.with_name("gold.csv").write_text("item_id,text,label\n" + rows, encoding="utf-8")
    text = trial.plan.read_text(encoding="utf-8")
    trial.plan.write_text(f"{text}annotation: {annotation}\n", encoding="utf-8")
    trial.truth.update(GOLD)
    return trial


def label_in_turn(running: Service, trial: Trial, project: int, people: list[Annotator]) -> None:
    """Let everybody answer truthfully, but the last one, who says the same of everything."""
    for n in range(MOST):
        if running.status(trial.assessment)["status"] == "stopped":
            return
        person = people[n % len(people)]
        task = person.next_task(project)
        if task is not None:
            trial.submit(person, task, GROUPS[0] if person is people[-1] else None)
    pytest.fail(f"not decided after {MOST} tasks")


@pytest.mark.parametrize(
    "annotation",
    [
        "{per_item: 2, rule: majority, skips: 3}",
        "{per_item: 2, rule: dawid-skene, item_confidence: 0.98, skips: 3,"
        " gold: {items: gold.csv, rate: 0.3}}",
    ],
    ids=["majority", "dawid-skene"],
)
def test_several_people_judge_every_item_until_the_question_is_answered(
    running: Service,
    label_studio: LabelStudioServer,
    annotator: SignUp,
    tmp_path: Path,
    annotation: str,
) -> None:
    trial = shared_trial(tmp_path, annotation)
    people = [annotator(), annotator(), annotator()]
    project = running.begin(trial.plan)

    label_in_turn(running, trial, project, people)

    decision = running.status(trial.assessment)["decision"]
    assert (decision["reason"], decision["chosen"]) == ("answered", [ALWAYS_WRONG])
    tasks = all_tasks(label_studio, project)
    items = [task["data"]["item_id"] for task in tasks]
    assert len(set(items)) == len(items)
    for task in tasks:
        authors = [a["completed_by"] for a in task["annotations"]]
        assert len(set(authors)) == len(authors) <= 4
    if "gold" in annotation:
        assert set(items) & set(GOLD)
    eventually(lambda: all(person.next_task(project) is None for person in people))
    assert running.json("replay", trial.assessment)["is_equal"] is True
    report = running.json("report", trial.assessment, "--to", str(tmp_path / "reports"))
    assert Path(report["page"]).exists()
