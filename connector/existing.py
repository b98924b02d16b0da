"""A project that holds tasks already: the tasks with their predictions and annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connector.border import label_studio_errors
from connector.errors import NotLabelStudio
from connector.labels import Judgement, judge, said
from connector.listing import READ, TaskList, changed_at, where
from connector.ranking import is_ranking
from connector.schema import Schema

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

_PAGE = 500
# Label Studio applies the list to the fields of the annotations too.
_FIELDS = "id,updated_at,data,predictions,annotations,result,completed_by,was_cancelled,lead_time"


@dataclass(frozen=True, slots=True)
class ExistingProject:
    """What a project asks its annotators, and how much there is to read."""

    config: str  # the labelling configuration's XML
    n_tasks: int
    overlap: int  # how many people Label Studio asks for each task


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction of a task.

    version: empty if it has none. label: one of the control's, or None if it says no such class,
    and `reason` why not. score: as it came; None if it has none.
    """

    version: str
    label: str | None
    reason: str
    score: float | None


@dataclass(frozen=True, slots=True)
class ExistingTask:
    """One task as it was when it was read; rankings of ours are no predictions."""

    task: int
    at_us: int
    data: Mapping[str, Any]
    predictions: tuple[Prediction, ...]
    judgements: tuple[Judgement, ...]


def existing_project(client: LabelStudio, url: str, project: int) -> ExistingProject:
    """Look at a project.

    Raises:
        NotFound, ConnectorError.
    """
    with label_studio_errors(url, f"project {project}"):
        found: Any = client.projects.get(id=project, request_options=READ)
    if found.id != project:
        raise NotLabelStudio(url, 200, str(found)[:120])
    n_tasks, overlap = int(found.task_number or 0), int(found.maximum_annotations or 1)
    return ExistingProject(str(found.label_config), n_tasks, overlap)


def model_versions(client: LabelStudio, url: str, project: int) -> list[str]:
    """The model versions of a project's predictions, ascending; rankings of ours are none."""
    found = TaskList(client, url, project).call("GET", "model-versions/", READ)
    return sorted(version for version in found if version and not is_ranking(version))


def existing_tasks(
    client: LabelStudio, url: str, project: int, schema: Schema
) -> Iterator[ExistingTask]:
    """Every task of a project with its predictions and annotations, ascending by id.

    Keyed by the id: whatever changes meanwhile, no task comes twice or is passed over.
    """
    tasks, last_id = TaskList(client, url, project), 0
    while True:
        query = {"filters": where("id", "greater", "Number", last_id), "ordering": ["tasks:id"]}
        # What is copied into another project has no storage connected there.
        rows = tasks.page(query, _PAGE, include=_FIELDS, is_stored=False)
        for row in rows:
            yield _task(row, schema)
        if len(rows) < _PAGE:
            return
        last_id = int(rows[-1]["id"])


def _task(row: Mapping[str, Any], schema: Schema) -> ExistingTask:
    predictions = [_prediction(p, schema) for p in row["predictions"] or ()]
    return ExistingTask(
        task=int(row["id"]),
        at_us=changed_at(row),
        data=row["data"] if isinstance(row["data"], Mapping) else {},
        predictions=tuple(p for p in predictions if not is_ranking(p.version)),
        judgements=tuple(judge(a, schema) for a in row["annotations"] or ()),
    )


def _prediction(row: Mapping[str, Any], schema: Schema) -> Prediction:
    label, reason = said(row["result"], schema)
    score = row["score"]
    return Prediction(
        version=str(row["model_version"] or ""),
        label=label,
        reason=reason,
        score=float(score) if isinstance(score, int | float) else None,
    )
