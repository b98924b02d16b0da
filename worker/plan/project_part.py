"""What the plan's `pool` says of a Label Studio project whose tasks are the pool."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from worker.plan.fields import Mistakes

# What is known of tasks that were annotated before the assessment began; see `worker.pool.known`.
Existing = Literal["known", "random"]

# A key that older plans do not have; left out of what is stored and hashed where it is not given.
OPTIONAL: Any = Field(default=None, exclude_if=lambda value: value is None)

# Columns of the file into which a project is read, beside those of the tasks' data.
ID, PREDICTED, SCORE, LABEL = "item_id", "assay:predicted", "assay:score", "assay:known"

_READ_FROM_IT = ("predictions", "probabilities", "predicted", "id")


def from_project(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the plan's `pool` says, with the columns that the predictions of a project have.

    Raises:
        Mistakes: a file of predictions, or a column of one, is named beside the project.
    """
    project = values.get("project")
    if project is None:
        return values
    found = [(key, _why_not(key)) for key in _READ_FROM_IT if values.get(key) is not None]
    if isinstance(score := values.get("score"), str):
        text = f"came {score!r}, but the predictions of a project have their own; leave it out"
        found.append(("score", f"{text}, or write `score: null` if they have none"))
    used = values.get("data")
    if isinstance(used, dict) and ID in used.values():
        found.append(("data", f"the column {ID} holds the tasks' own ids; show another one"))
    if found:
        raise Mistakes(found)
    usual = {"score": SCORE, "data": {}, "existing": "known"}
    return {
        **usual,
        **values,
        "predictions": f"project-{project}",
        "id": ID,
        "predicted": PREDICTED,
    }


def _why_not(key: str) -> str:
    if key == "predictions":
        return "came beside `project`, expected one of the two: a file, or a project with tasks"
    return "came beside `project`, whose tasks and predictions need no columns; leave it out"


def mistakes_without_project(
    project: int | None, model_version: str | None, existing: Existing | None
) -> list[tuple[str, str]]:
    """Return what is said of a project though none is named."""
    given = {"model_version": model_version, "existing": existing}
    return [
        (key, "only tasks of a Label Studio project have it; name one: `project: 12`")
        for key, value in given.items()
        if value is not None and project is None
    ]
