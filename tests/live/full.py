"""Projects of a real Label Studio that are full already: tasks, predictions and annotations."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from connector.annotator import Annotator
from connector.local import LabelStudioServer
from connector.schema import write_config
from tests.live.pools import ALWAYS_WRONG, GROUPS

Json = dict[str, Any]
CONTROL, SHOWN = "answer", "text"
IN_ORDER = "queue: {mode: prioritise}\n"


@dataclass(frozen=True, slots=True)
class Full:
    """A project of `size` tasks for each group; all predictions of "fly" are wrong.

    truth, predicted: task -> class.
    """

    studio: LabelStudioServer
    project: int
    truth: Mapping[int, str]
    predicted: Mapping[int, str]

    @property
    def tasks(self) -> list[int]:
        """All tasks, ascending."""
        return sorted(self.truth)

    def asked(self, method: str, path: str, content: Any = None, **query: Any) -> Any:
        """One request to the project as its owner; `path` follows the project's address."""
        return self.call(method, f"/api/projects/{self.project}/{path}", content, **query)

    def call(self, method: str, path: str, content: Any = None, **query: Any) -> Any:
        """One request to Label Studio as the project's owner."""
        headers = {"Authorization": f"Token {self.studio.token}"}
        with httpx.Client(base_url=self.studio.url, headers=headers, timeout=60) as client:
            answer = client.request(method, path, json=content, params=query).raise_for_status()
            return answer.json() if answer.content else None

    def settings(self) -> Json:
        """What an assessment may change of the project."""
        names = ("sampling", "model_version", "show_collab_predictions", "skip_queue")
        more = ("expert_instruction", "show_instruction", "maximum_annotations", "label_config")
        found = self.asked("GET", "")
        return {name: found[name] for name in (*names, *more)}

    def versions(self) -> dict[str, int]:
        """Model version -> predictions of it."""
        found: dict[str, int] = self.asked("GET", "model-versions/")
        return found

    def rankings(self) -> list[str]:
        """The model versions that are orders of ours."""
        return sorted(version for version in self.versions() if version.startswith("assay-"))

    def answer(self, person: Annotator, task: int, label: str | None = None) -> Json:
        """Let a person label a task, truthfully unless a label is named."""
        return person.submit(task, label or self.truth[task], CONTROL, SHOWN)

    def delete_task(self, task: int) -> None:
        """Delete a task, as its owner may at any time."""
        self.call("DELETE", f"/api/tasks/{task}/")


def full_project(
    studio: LabelStudioServer,
    size: int = 12,
    versions: Sequence[str] = ("v1",),
    labels: Sequence[str] = GROUPS,
) -> Full:
    """Make such a project; of several versions the last one predicts as `Full` says."""
    blank = Full(studio, 0, {}, {})
    config = write_config(labels, [SHOWN], CONTROL)
    title = f"Full {secrets.token_hex(4)}"
    description = "What these are for\nand a second line"
    settings = {"title": title, "label_config": config, "description": description}
    settings |= {"expert_instruction": "<p>Look twice.</p>", "show_instruction": True}
    project = int(blank.call("POST", "/api/projects/", settings)["id"])
    groups = [group for group in GROUPS for _ in range(size)]
    tasks = []
    for at, group in enumerate(groups):
        said = {
            version: GROUPS[(GROUPS.index(group) + n) % 3]
            for n, version in enumerate(versions[:-1], 1)
        }
        said[versions[-1]] = group
        score = 0.5 + 0.4 * at / len(groups)
        predictions = [prediction(label, version, score) for version, label in said.items()]
        tasks.append({"data": {SHOWN: f"photo {at}"}, "predictions": predictions})
    path = f"/api/projects/{project}/import"
    ids = blank.call("POST", path, tasks, return_task_ids="true")["task_ids"]
    predicted = dict(zip(ids, groups, strict=True))
    truth = {task: "bee" if group == ALWAYS_WRONG else group for task, group in predicted.items()}
    return Full(studio, project, truth, predicted)


def prediction(label: str, version: str, score: float | None) -> Json:
    """One prediction as it is imported."""
    region = {"from_name": CONTROL, "to_name": SHOWN, "type": "choices"}
    content: Json = {"result": [{**region, "value": {"choices": [label]}}]}
    return content | {"model_version": version} | ({} if score is None else {"score": score})


def plan_of(folder: Path, full: Full, pool: str = "", more: str = "", stop: str = "") -> Path:
    """Write a plan for such a project; return its path."""
    assessment = f"full-{secrets.token_hex(4)}"
    path = folder / f"{assessment}.yaml"
    path.write_text(
        f"assessment: {assessment}\n"
        f"pool: {{project: {full.project}{pool}}}\n"
        f"question: {{task: identify}}\nstop: {stop or '{budget: 30}'}\n{more}",
        encoding="utf-8",
    )
    return path
