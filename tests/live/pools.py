"""Pools whose truth is known, plans for them, and people who answer truthfully."""

from __future__ import annotations

import csv
import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from tests.live.service import Service, eventually

SAMPLE = Path(__file__).parents[2] / "samples" / "digits"
GROUPS, GROUP_SIZE = ("ant", "bee", "fly"), 12
ALWAYS_WRONG = "fly"

Json = dict[str, Any]
SignUp = Callable[[], Annotator]


@dataclass(frozen=True, slots=True)
class Trial:
    """One assessment to be: its plan, and what is true of its items."""

    assessment: str
    plan: Path
    control: str
    to_name: str
    truth: dict[str, str]  # item -> class
    predicted: dict[str, str]  # item -> class

    def answer(self, person: Annotator, project: int) -> Json:
        """Let a person answer the next task truthfully, when there is one; return the task."""
        task = eventually(lambda: person.next_task(project))
        self.submit(person, task)
        return task

    def submit(self, person: Annotator, task: Json, label: str | None = None) -> Json:
        """Submit a label for a task, the true one unless another is named."""
        label = self.truth[task["data"]["item_id"]] if label is None else label
        return person.submit(task["id"], label, self.control, self.to_name)

    def another(self, item: str) -> str:
        """A label that the item's true class is not."""
        return next(c for c in sorted(set(self.truth.values())) if c != self.truth[item])


def insects(
    folder: Path,
    stop: str = "{budget: 30}",
    task: str = "identify",
    size: int = GROUP_SIZE,
    more: str = "",
) -> Trial:
    """Three groups of `size` items; all predictions of "fly" are wrong, all others right."""
    assessment = f"insects-{secrets.token_hex(4)}"
    groups = [group for group in GROUPS for _ in range(size)]
    predicted = {f"item-{n:02d}": group for n, group in enumerate(groups)}
    truth = {i: "bee" if group == ALWAYS_WRONG else group for i, group in predicted.items()}
    folder = folder / assessment
    folder.mkdir(parents=True)
    rows = [f"{item},{group},0.9,a photo of {item}" for item, group in predicted.items()]
    table = "\n".join(["item_id,predicted,score,text", *rows]) + "\n"
    (folder / "predictions.csv").write_text(table, encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        f"assessment: {assessment}\n"
        "pool: {predictions: predictions.csv, predicted: predicted, score: score,"
        " data: {text: text}}\n"
        f"question: {{task: {task}}}\nstop: {stop}\n{more}",
        encoding="utf-8",
    )
    return Trial(assessment, plan, "answer", "text", truth, predicted)


def digits(folder: Path, stop: str) -> Trial:
    """The sample that ships with Assay, under an id of its own."""
    assessment = f"digits-{secrets.token_hex(4)}"
    plan = folder / f"{assessment}.yaml"
    columns = ", ".join(f"p_{n}" for n in range(10))
    classes = ", ".join(f'"{n}"' for n in range(10))
    plan.write_text(
        f"assessment: {assessment}\n"
        f"pool: {{predictions: {SAMPLE / 'predictions.csv'}, probabilities: [{columns}],"
        f" classes: [{classes}], data: {{image: image}}}}\n"
        f"question: {{task: identify}}\nstop: {stop}\nannotation: {{control: digit}}\n"
        f"label_studio: {{config: {SAMPLE / 'labeling.xml'}}}\n",
        encoding="utf-8",
    )
    truth = {row["item_id"]: row["digit"] for row in _rows(SAMPLE / "truth.csv")}
    predicted = {
        row["item_id"]: max("0123456789", key=lambda digit: float(row[f"p_{digit}"]))
        for row in _rows(SAMPLE / "predictions.csv")
    }
    return Trial(assessment, plan, "digit", "image", truth, predicted)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def label_until_stopped(
    service: Service, trial: Trial, project: int, person: Annotator, most: int = 40
) -> None:
    """Answer what the queue offers until the assessment stops; it must within `most` labels."""
    ledger = service.context.ledger(trial.assessment)

    def task_or_stop() -> Json | Literal["stopped"] | None:
        task = person.next_task(project)
        return task or ("stopped" if ledger.state().status == "stopped" else None)

    for _ in range(most + 1):
        found: Json | Literal["stopped"] = eventually(task_or_stop)
        if found == "stopped":
            return
        trial.submit(person, found)
    raise AssertionError(f"{most} labels and no stop: {service.status(trial.assessment)['text']}")


# --- the truth by Label Studio alone -------------------------------------------------------------


def exported(studio: LabelStudioServer, project: int) -> list[Json]:
    """Label Studio's own export: every labelled task with its annotations."""
    tasks: list[Json] = _get(studio, f"/api/projects/{project}/export?exportType=JSON")
    return tasks


def all_tasks(studio: LabelStudioServer, project: int) -> list[Json]:
    """Every task of a project, labelled or not."""
    query = f"/api/tasks?project={project}&fields=all&page_size=1000"
    tasks: list[Json] = _get(studio, query)["tasks"]
    return tasks


def project_of(studio: LabelStudioServer, project: int) -> Json:
    """What Label Studio says of a project."""
    found: Json = _get(studio, f"/api/projects/{project}/")
    return found


def outcomes_of(tasks: list[Json], trial: Trial) -> dict[str, str]:
    """Item -> class by the rule `first`, worked out from Label Studio's JSON and nothing else."""
    first: dict[str, tuple[int, str]] = {}
    for task in tasks:
        item = task["data"]["item_id"]
        for annotation in task["annotations"]:
            if annotation["was_cancelled"]:
                continue
            (label,) = annotation["result"][0]["value"]["choices"]
            if label in trial.truth.values():
                mine = (annotation["id"], label)
                first[item] = min(first.get(item, mine), mine)
    return {item: label for item, (_, label) in first.items()}


def assert_tally_is_label_studios(
    service: Service, studio: LabelStudioServer, trial: Trial, project: int
) -> None:
    """Compare outcomes and tally with those recomputed here from the export.

    What is answered while a decision is published, is read after it.
    """
    outcomes = outcomes_of(exported(studio, project), trial)

    def kept() -> dict[str, str]:
        records = service.records(trial.assessment)
        return {i: r.outcome for i, r in records.items() if r.outcome is not None}

    with suppress(AssertionError):
        eventually(lambda: kept() == outcomes)
    assert kept() == outcomes
    expected = Counter((trial.predicted[item], label) for item, label in outcomes.items())
    assert kept_tally(service, trial) == expected


def kept_tally(service: Service, trial: Trial) -> Counter[tuple[str, str]]:
    """How often each class was said of each predicted one, by the ledger's tally."""
    classes = sorted(set(trial.predicted.values()) | set(trial.truth.values()))
    counts: Counter[tuple[str, str]] = Counter()
    for key, count in service.context.ledger(trial.assessment).state().tally.items():
        *_, number, label = key.split(":", 3)
        counts[classes[int(number)], label] += count
    return counts


def assert_no_item_twice(
    service: Service, studio: LabelStudioServer, assessment: str, project: int
) -> None:
    """Every claimed item has exactly one task, and no other item has any.

    Asked at a moment when no import is under way: the queue is filled beside whoever looks.
    """

    def at_rest() -> tuple[set[str], Counter[str]] | None:
        claimed = service.records(assessment)
        shown = shown_items(studio, project)
        is_same = claimed.keys() == service.records(assessment).keys()
        is_there = all(record.tasks for record in claimed.values())
        return (set(claimed), shown) if is_same and is_there else None

    claimed, shown = eventually(at_rest)
    assert shown == Counter(claimed)


def shown_items(studio: LabelStudioServer, project: int) -> Counter[str]:
    """How many tasks there are of each item, by Label Studio."""
    return Counter(task["data"]["item_id"] for task in all_tasks(studio, project))


def _get(studio: LabelStudioServer, path: str) -> Any:
    headers = {"Authorization": f"Token {studio.token}"}
    with httpx.Client(base_url=studio.url, headers=headers, timeout=60) as client:
        return client.get(path, follow_redirects=True).raise_for_status().json()


CLASSES_OF_UP = ("zero", "one")


def predictions_of_up(file: Path) -> None:
    """A file of predictions as people have them: no plan, no truth."""
    rows = ["id,text,predicted,score"]
    rows += [f"n{n},a photo of {n},{CLASSES_OF_UP[n % 2]},0.{55 + n % 44}" for n in range(60)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
