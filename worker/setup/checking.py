"""Checking a plan before it is started: its pool, and what Label Studio is to ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from connector.client import connect as connect_label_studio
from connector.errors import BadConfig
from connector.schema import Schema, read_schema, shown_keys, write_config
from connector.settings import label_studio_settings
from worker.assessment import assess
from worker.assessment.ratings import answers
from worker.errors import PlanError
from worker.nearest import listed
from worker.plan import Plan, load_plan
from worker.pool import Pool, check_question, compile_pool
from worker.pool.files import notes_on_files, tags_of
from worker.pool.remote import localised
from worker.pool.sources import prediction_files
from worker.pool.tables import kind_of
from worker.pool.tables_csv import letters_told
from worker.service.context import Context
from worker.setup.project_pool import ProjectPool, read_project, warnings_of
from worker.setup.since import taken_over, with_earlier


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan that can be started, as far as one can see without Label Studio."""

    plan: Plan
    pool: Pool
    config: str | None  # the labelling configuration; None when the project brings its own
    schema: Schema | None
    warnings: tuple[str, ...]
    read: ProjectPool | None = None  # the project that is the pool


def check_plan(
    path: Path,
    pools: Path,
    say: Callable[[str], None] = lambda _: None,
    context: Callable[[], AbstractContextManager[Context]] | None = None,
) -> Checked:
    """Read the plan, compile its pool and check that they fit.

    A project that is the pool is read into a file beside the folder `pools`.

    Args:
        say: told how far the reading of a project is, or of a large file.
        context: opens the server on which the assessment is that the plan continues, if it does.

    Raises:
        PlanError, PredictionsError, BadConfig, EvaluatorError: what is wrong, where, and what
            to do.
        NotContinuable, NoSuchAssessment: likewise of the assessment that it continues.
        ConnectorError: the project that is the pool cannot be read.
    """
    plan, read = load_plan(path), None
    _refuse_what_a_project_has(plan, path)
    if plan.pool.project is not None:
        settings = label_studio_settings(plan.label_studio.url)
        client = connect_label_studio(settings)
        read = read_project(plan, client, settings.url, pools.parent / "sources", say)
        plan = read.plan
    pool = compile_pool(plan, pools, say)
    check_question(plan, pool)
    pool = with_earlier(plan, pool, pools, context)
    assess(plan, pool)
    warnings = [*plan.warnings(), *(warnings_of(read) if read else ())]
    if pool.since is not None:
        warnings.append(taken_over(pool.since))
    asked = plan.evaluate
    if asked is not None and (asked.human or asked.part or asked.models):
        # Imported here: few plans need it, and it takes a while.
        from worker.evaluation.evaluating import check

        warnings += check(localised(plan, pools).pool, asked)
    files = prediction_files(localised(plan, pools).pool)
    warnings += [told for path in files if kind_of(path) == "csv" and (told := letters_told(path))]
    if plan.queue.mode == "import":
        warnings += notes_on_files(pool)
    empty = pool.empty_groups()
    if empty:
        one = len(empty) == 1
        warnings.append(
            f"{len(empty)} {'group has' if one else 'groups have'} no items ({listed(empty, 8)}): "
            + ("it is never chosen and takes" if one else "they are never chosen and take")
            + " no part in the answer"
        )
    config, schema = _labelling(plan, pool, read)
    return Checked(plan, pool, config, schema, tuple(warnings), read)


def _refuse_what_a_project_has(plan: Plan, path: Path) -> None:
    # Not where plans are read: one that is begun goes on, whatever it says.
    asked = plan.label_studio
    if asked.project != "new" and plan.queue.mode == "import":
        text = f"project {asked.project} has its own; leave it out, or write `project: new`"
        keys = [key for key in ("config", "instruction") if key in asked.given]
        if keys:
            raise PlanError([f"label_studio.{key}: {text}" for key in keys], str(path))


def _labelling(
    plan: Plan, pool: Pool, read: ProjectPool | None
) -> tuple[str | None, Schema | None]:
    given = plan.label_studio.config
    labels, bins = answers(plan, pool.classes)
    if read is not None and plan.queue.mode == "prioritise":
        return None, read.schema
    if given is not None:
        try:
            config = given.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfig(
                f"label_studio.config: {given} cannot be read ({error}); give the path of the "
                "labelling configuration's XML, relative to the plan"
            ) from error
    elif read is not None and plan.label_studio.project == "new":
        config = read.config
        missing = [key for key in shown_keys(config) if key not in plan.pool.data]
        if missing:
            raise BadConfig(
                f"pool.data: the labelling configuration of project {plan.pool.project} shows "
                f"{', '.join(missing)}, which is not copied; name it, as in "
                f"{{{missing[0]}: {missing[0]}}}, or give `label_studio.config`"
            )
    elif plan.label_studio.project == "new":
        free = (name for name in ("answer", "verdict") if name not in plan.pool.data)
        control = plan.annotation.control or next(free, "assay_answer")
        is_headed = plan.annotation.verdict is not None
        shown = list(plan.pool.data)
        config = write_config(labels, shown, control, bins, tags_of(pool), is_headed)
    else:
        return None, None
    return config, read_schema(config, plan.annotation.control, labels, bins, pool.file_keys)
