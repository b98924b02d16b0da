"""The tasks of a Label Studio project as a table of predictions, or why they are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from connector.existing import ExistingTask, Prediction
from connector.shown import text_of
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.plan.project_part import ID, LABEL, PREDICTED, SCORE
from worker.store.rules import Rules, tied, votes_of

_SHOWN = 5


def predictions_table(plan: Plan, tasks: Sequence[ExistingTask]) -> pa.Table:
    """One row a task: its id, prediction and known label, and what the plan shows or groups by.

    Raises:
        PredictionsError: tasks have no prediction that can be used, or nothing to show; says which.
    """
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
