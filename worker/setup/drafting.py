"""Drafts a plan from a predictions file: what `assay init` writes."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from worker.errors import PredictionsError
from worker.plan.defaults import DEFAULT_STRATA
from worker.plan.model import as_id
from worker.plan.pool_part import PoolPlan
from worker.pool.faults import Faults
from worker.pool.predictions import read_predictions
from worker.pool.texts import Texts
from worker.setup.column_roles import roles_of
from worker.setup.plan_lines import pool_lines, quoted, verdict_lines
from worker.setup.plan_template import TEMPLATE
from worker.setup.roles import (
    Ask,
    Outputs,
    PredictedClass,
    Probabilities,
    ProbabilityList,
    Roles,
)

Drafted = Literal["identify", "compare", "estimate"]


def draft_plan(
    predictions_path: Path | str,
    plan_path: Path | str,
    *,
    assessment: str | None = None,
    id: str | None = None,
    probabilities: Sequence[str] | str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    data: Sequence[str] | None = None,
    task: Drafted = "identify",
    groups: str = "predicted_class",
    is_shown: bool = True,
    say: Callable[[str], None] = lambda _: None,
    ask: Ask = lambda _question, _columns: None,
) -> str:
    """Return a plan with comments, which `load_plan` reads as it is once it stands at `plan_path`.

    Args:
        predictions_path: the predictions file; its columns and first rows are looked at.
        plan_path: where the plan will be; the path of the predictions is written relative to it.
        assessment: the assessment's id; by default the file's name.
        id, probabilities, predicted, score, data: columns, where the guess would be wrong.
        task: what is asked of the groups.
        groups: what they are, as in `pool.groups`.
        is_shown: people will look at the items, so that something must be there to look at.
        say: told each guess with its reason, and how many rows have faults.
        ask: asked where nothing can be guessed.

    Raises:
        PredictionsError: the file cannot be read.
        DraftingError: nothing in it looks like a prediction, or like something to be shown.
    """
    path = Path(predictions_path)
    columns: dict[str, Any] = {"id": id, "predicted": predicted, "score": score}
    roles = roles_of(
        path, **columns, probabilities=probabilities, data=data, is_shown=is_shown, ask=ask
    )
    for reason in roles.reasons:
        say(reason)
    folder = Path(plan_path).resolve().parent
    grouped = quoted(groups)
    if isinstance(roles.prediction, Outputs) and groups == "predicted_class":
        grouped = f"[{', '.join(map(quoted, roles.prediction.groups))}]"
        if not roles.prediction.groups:
            grouped, task = f"{quoted(groups)}   # of outputs: all are one group", "estimate"
            say("groups: none (no column is called like one; name some to tell them apart)")
    return TEMPLATE.format(
        assessment=quoted(assessment or as_id(path)),
        predictions=quoted(_relative(path.resolve(), folder)),
        pool=pool_lines(roles, _drop(path, roles, say, ask), task == "compare"),
        strata=_strata(roles),
        prior="empirical" if _strata(roles) > 1 else "uniform",
        groups=grouped,
        of="outputs" if isinstance(roles.prediction, Outputs) else "a classifier",
        verdict=verdict_lines(roles),
        **_of_task(task),
    )


def draft_for_project(
    project: int, versions: Sequence[str], shown: Sequence[str], assessment: str | None = None
) -> str:
    """Return a plan with comments for the tasks of a Label Studio project, put in order in place.

    Args:
        versions: the model versions of the predictions there; of several the last one is written.
        shown: the keys of the tasks' data that annotators see.
    """
    several = [
        "  # Which predictions are assessed.",
        f"  model_version: {quoted(versions[-1])}   # there is: {', '.join(versions)}",
    ]
    pool = [
        *(several if len(versions) > 1 else ()),
        "  # Annotations that are there: known (outcomes outside the sample), or random (they were",
        "  # drawn at random, and count as labels of the sample).",
        "  existing: known",
        "  # What annotators see; another key of the tasks' data may be named under `groups`.",
        f"  data: {{{', '.join(f'{quoted(key)}: {quoted(key)}' for key in shown)}}}",
    ]
    drafted = TEMPLATE.format(
        assessment=quoted(assessment or f"project-{project}"),
        predictions="",
        pool="\n".join(pool),
        strata=16,
        prior="empirical",
        groups="predicted_class",
        of="a classifier",
        verdict="",
        **_of_task("identify"),
    )
    kept: list[str] = []
    for line in drafted.splitlines():
        if line.startswith("  predictions:"):
            kept[-1] = "  # The project whose tasks, with their predictions, are the pool."
            line = f"  project: {project}"
        if line == "  mode: import":
            line = "  mode: prioritise           # or import: chosen tasks are copied elsewhere"
        kept.append(line)
    return "\n".join(kept) + "\n"


def _of_task(task: Drafted) -> dict[str, str]:
    """What the template writes for a task: what belongs to the others is a comment."""
    return {"task": task} | {one: "" if one == task else "# " for one in get_args(Drafted)}


def has_scores(roles: Roles) -> bool:
    """Whether the classifier says how sure it is."""
    said = roles.prediction
    return not isinstance(said, PredictedClass | Outputs) or said.score is not None


def _strata(roles: Roles) -> int:
    """As many as the plan has by default."""
    has_opinions = any(one.is_sure for one in roles.opinions)
    usual = DEFAULT_STRATA if has_scores(roles) or has_opinions else 1
    return 2 * usual if has_opinions else usual


def _drop(path: Path, roles: Roles, say: Callable[[str], None], ask: Ask) -> str:
    """The line of the plan that leaves rows out, a comment where nobody said yes to it; or none."""
    said = roles.prediction
    columns: dict[str, object] = {"probabilities": None}
    match said:
        case Probabilities(names):
            columns = {"probabilities": names}
        case ProbabilityList(name, n_classes):
            columns = {"probabilities": name, "classes": tuple(map(str, range(n_classes)))}
        case PredictedClass(name, score):
            columns = {"predicted": name, "score": score}
        case Outputs(_, score):
            columns = {"classes": ("right", "wrong"), "score": score}
    pool = PoolPlan.model_validate(
        {"predictions": path, "id": roles.id, "data": dict(roles.data), **columns}
    )
    faults = Faults(path, may_drop=True)
    with suppress(PredictionsError):  # what is no fault of single rows is told by `check`
        read_predictions(pool, Texts(), faults=faults)
    try:
        faults.refuse()
    except PredictionsError as error:
        say(str(error))
    if not faults.kinds:
        return ""
    is_wanted = ask("Leave these rows out?", ["yes", "no"]) == "yes"
    return f"  {'' if is_wanted else '# '}drop: [{', '.join(faults.kinds)}]   # rows to leave out"


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return str(path)
