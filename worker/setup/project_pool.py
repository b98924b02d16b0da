"""A Label Studio project as the pool: read once, into a file of predictions like any other.

What the project becomes later changes nothing: the assessment goes on with the tasks, predictions
and annotations that were there when it began.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from connector.desk import connect as connect_label_studio
from connector.errors import UnknownClasses
from connector.existing import (
    ExistingTask,
    Prediction,
    existing_project,
    existing_tasks,
    model_versions,
)
from connector.schema import Schema, offered, shown_keys
from connector.settings import label_studio_settings
from connector.shown import text_of
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.plan.project_part import ID, LABEL, PREDICTED, SCORE
from worker.pool.shown import Numbers, Told, refuse_told
from worker.pool.texts import Texts
from worker.setup.drafting import draft_for_project
from worker.store.rules import Rules, tied, votes_of

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio

_SHOWN = 5
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
    table = _table(plan, tasks)
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


def _table(plan: Plan, tasks: Sequence[ExistingTask]) -> pa.Table:
    pool, number = plan.pool, plan.pool.project
    version = _version(number, pool.model_version, tasks)
    found = [_prediction(task, version) for task in tasks]
    _refuse(
        number,
        [task for task, said in zip(tasks, found, strict=True) if not said],
        f"have no prediction{_of(version)}; import theirs too, or take these tasks out",
    )
    _refuse(
        number,
        [task for task, said in zip(tasks, found, strict=True) if len(said) > 1],
        f"have several predictions{_of(version)}, of which only one can be meant; delete the "
        "others, or import them again under a new model version and name it: `model_version`",
    )
    predictions = [said[0] for said in found]
    _check(plan, tasks, predictions, version)
    columns: dict[str, pa.Array] = {
        ID: pa.array([str(task.task) for task in tasks], pa.string()),
        PREDICTED: pa.array([said.label for said in predictions], pa.string()),
        SCORE: pa.array([said.score for said in predictions], pa.float64()),
        LABEL: pa.array([_known(task, plan.annotation.rules) for task in tasks], pa.string()),
    }
    for name in dict.fromkeys((*pool.data.values(), *pool.group_columns)):
        if plan.queue.mode == "import":
            _refuse(
                number,
                [task for task in tasks if isinstance(task.data.get(name), list | dict)],
                f"have a list or an object under {name!r}, which cannot be copied; leave it out of "
                "`pool.data`, or write `queue: {mode: prioritise}`",
            )
        values = [text_of(task.data.get(name)) for task in tasks]
        if not any(values):
            have = ", ".join(sorted({key for task in tasks[:100] for key in task.data})) or "none"
            raise PredictionsError(
                f"project {number}: no task has anything under {name!r} in its data; it has {have}"
            )
        columns[name] = pa.array(values, pa.string())
    return pa.table(columns)


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


def _version(number: int | None, asked: str | None, tasks: Sequence[ExistingTask]) -> str:
    """The model version whose predictions are assessed."""
    counts = Counter(said.version for task in tasks for said in task.predictions)
    listed = ", ".join(f"{name or '(none)'} ({n:,})" for name, n in sorted(counts.items()))
    if asked is not None:
        if asked not in counts:
            raise PredictionsError(
                f"pool.model_version: project {number} has no predictions of the version "
                f"{asked!r}; it has {listed or 'none at all'}"
            )
        return asked
    if len(counts) > 1:
        raise PredictionsError(
            f"project {number} has predictions of {len(counts)} model versions: {listed}. Name the "
            "one that is assessed: `pool: {model_version: ...}`"
        )
    return next(iter(counts), "")


def _prediction(task: ExistingTask, version: str) -> list[Prediction]:
    return [said for said in task.predictions if said.version == version]


def _check(
    plan: Plan, tasks: Sequence[ExistingTask], said: Sequence[Prediction], version: str
) -> None:
    number, both = plan.pool.project, list(zip(tasks, said, strict=True))
    reason = next((one.reason for one in said if one.label is None), "")
    _refuse(
        number,
        [task for task, one in both if one.label is None],
        f"have a prediction{_of(version)} that is no class: {reason}. Correct these predictions, "
        "or add the class to the labelling configuration",
    )
    if plan.pool.score is None:
        return
    _refuse(
        number,
        [task for task, one in both if one.score is None],
        f"have a prediction{_of(version)} without a score; import them with scores from 0 to 1, "
        "or write `pool: {score: null}` to go without",
    )
    _refuse(
        number,
        [task for task, one in both if one.score is not None and not 0 <= one.score <= 1],
        f"have a prediction{_of(version)} whose score is not within 0 and 1; import them with the "
        "probability of the predicted class, or write `pool: {score: null}` to go without",
    )


def _refuse(number: int | None, tasks: Sequence[ExistingTask], text: str) -> None:
    if tasks:
        first = ", ".join(str(task.task) for task in tasks[:_SHOWN])
        raise PredictionsError(f"project {number}: {len(tasks):,} tasks (first: {first}) {text}")


def _of(version: str) -> str:
    return f" of the version {version!r}" if version else ""


def _known(task: ExistingTask, rules: Rules) -> str | None:
    """The class that the annotations of a task add up to; None if somebody has to be asked."""
    votes = votes_of(task.judgements)
    outcome = rules.outcome(votes, 0)
    if outcome is None or not rules.is_settled(votes, outcome) or len(tied(outcome)) > 1:
        return None
    return outcome


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
