"""A Label Studio project as the pool: read once, into a file of predictions like any other.

What the project becomes later changes nothing: the assessment goes on with the tasks, predictions
and annotations that were there when it began.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from connector.client import connect as connect_label_studio
from connector.errors import UnknownClasses
from connector.existing import (
    ExistingTask,
    existing_project,
    existing_tasks,
    model_versions,
)
from connector.schema import Schema, offered, shown_keys
from connector.settings import label_studio_settings
from connector.shown import text_of
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.plan.project_part import ID, PREDICTED, SCORE
from worker.pool.shown import Numbers, refuse_told
from worker.pool.shown_names import Told
from worker.pool.texts import Texts
from worker.setup.drafting import draft_for_project
from worker.setup.project_table import predictions_table

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

_SAY_EVERY = 5_000  # tasks


@dataclass(frozen=True, slots=True)
class ProjectPool:
    """A project as it was read.

    plan: with the file that it was read into, and with its classes. config: the project's labelling
    configuration. at_us: the latest change that was read, by Label Studio's clock. overlap: how
    many people Label Studio asks for each task.
    """

    plan: Plan
    config: str
    schema: Schema
    at_us: int
    overlap: int


def read_project(
    plan: Plan, client: LabelStudio, url: str, folder: Path, say: Callable[[str], None]
) -> ProjectPool:
    """Read the project that is a plan's pool into a Parquet file in `folder`, named by its content.

    Its columns are the task's id, the predicted class and its score, the label where one is known
    already, and of the tasks' data what the plan shows or groups by.

    Raises:
        PredictionsError: the project has no tasks, tasks without a prediction, predictions of
            several versions, or predictions that cannot be used; says which tasks and what to do.
        BadConfig: the control is not there, or cannot answer the question.
        UnknownClasses: `pool.classes` are not the labels that the control offers.
    """
    number = plan.pool.project
    assert number is not None, "asked of a plan whose pool is a project"
    project = existing_project(client, url, number)
    schema = offered(project.config, plan.annotation.control)
    classes = plan.pool.classes or schema.labels
    if set(classes) != set(schema.labels):
        missing = [name for name in classes if name not in schema.labels]
        surplus = [name for name in schema.labels if name not in classes]
        raise UnknownClasses(schema.control, missing, surplus)
    tasks: list[ExistingTask] = []
    for task in existing_tasks(client, url, number, schema):
        tasks.append(task)
        if len(tasks) % _SAY_EVERY == 0:
            say(f"Read {len(tasks):,} of {project.n_tasks:,} tasks of project {number} ...")
    if not tasks:
        raise PredictionsError(
            f"project {number} holds no tasks; import them with their predictions, or write "
            "`pool: {predictions: FILE}`"
        )
    is_theirs = plan.queue.mode == "prioritise"  # people see the tasks themselves
    plan = _with_shown(plan, project.config, tasks) if is_theirs else plan
    table = predictions_table(plan, tasks)
    if is_theirs:
        _check_shown(number, project.config, tasks, table)
    path = _kept(folder, number, table)
    pool = plan.pool.model_copy(update={"predictions": path, "classes": classes})
    return ProjectPool(
        plan.model_copy(update={"pool": pool}),
        project.config,
        schema,
        max(task.at_us for task in tasks),
        project.overlap,
    )


def draft_from_project(number: int) -> str:
    """Draft a plan for a project: its tasks, their predictions, what its annotators see.

    Raises:
        PredictionsError: it holds no predictions.
        ConnectorError: it cannot be read.
    """
    settings = label_studio_settings(None)
    client = connect_label_studio(settings)
    project = existing_project(client, settings.url, number)
    versions = model_versions(client, settings.url, number)
    if not versions:
        raise PredictionsError(
            f"project {number} holds no predictions; import the classifier's, with its model "
            "version and a score from 0 to 1 each"
        )
    return draft_for_project(number, versions, shown_keys(project.config))


def settled_plan(plan: Plan, begun: Plan) -> Plan:
    """The plan as it was begun with: the project that is its pool is not read again."""
    if plan.pool.project is None or begun.pool.project != plan.pool.project:
        return plan
    kept = {key: getattr(begun.pool, key) for key in ("predictions", "classes", "data")}
    return plan.model_copy(update={"pool": plan.pool.model_copy(update=kept)})


def _with_shown(plan: Plan, config: str, tasks: Sequence[ExistingTask]) -> Plan:
    """The plan with all that the labelling page shows: what people saw is compared with the pool.

    An id of its own among the tasks' data is no part of it: the pool keeps that of the task there.
    """
    named = set(plan.pool.data.values()) | {ID}
    there = {key for task in tasks for key, value in task.data.items() if text_of(value)}
    more = {key: key for key in shown_keys(config) if key in there - named}
    data = {**more, **plan.pool.data}
    return plan.model_copy(update={"pool": plan.pool.model_copy(update={"data": data})})


def _check_shown(number: int, config: str, tasks: Sequence[ExistingTask], table: pa.Table) -> None:
    """Refuse tasks whose labelling page tells annotators what was predicted."""
    keys, scores = list(shown_keys(config)), table.column(SCORE).to_numpy()
    shown = [[text_of(task.data.get(key)) or "" for task in tasks] for key in keys]
    said = table.column(PREDICTED).combine_chunks().dictionary_encode()
    told = Told("the predicted class", said.dictionary.to_pylist(), said.indices.to_numpy())
    cure = "leave it out of the labelling configuration, or show another key"
    with closing(Texts()) as texts:
        texts.add(pa.record_batch([pa.array(one, pa.large_string()) for one in shown], keys))
        called = [(f"the tasks' key {key}, which the labelling page shows,", cure) for key in keys]
        by_score: Numbers = lambda rows: iter([("the score", scores[rows])])  # noqa: E731
        refuse_told(f"project {number}", called, texts, [told], by_score)


def _kept(folder: Path, number: int, table: pa.Table) -> Path:
    """Write a table whole, under a name that its content alone gives."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".project-{number}.{uuid.uuid4().hex}.part"
    try:
        pq.write_table(table, part)
        with part.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        path = folder / f"project-{number}-{content[:16]}.parquet"
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def warnings_of(found: ProjectPool) -> tuple[str, ...]:
    """What is allowed but will not work as one may think."""
    if found.plan.queue.mode == "prioritise" and found.overlap > 1:
        return (
            f"project {found.plan.pool.project} asks {found.overlap} people for each task: Label "
            "Studio then serves the tasks that some of them labelled before all others, so the "
            "order is not kept; set its overlap to 1 if you can",
        )
    return ()
