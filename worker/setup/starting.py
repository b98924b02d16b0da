"""Beginning an assessment: check everything, compile the pool, set the project up, then begin."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from connector.desk import connect as connect_label_studio
from connector.errors import BadConfig
from connector.labelling import labelling
from connector.project import attach_project, create_project
from connector.schema import Schema, read_schema, shown_keys, write_config
from connector.settings import label_studio_settings, project_page
from worker.assessment import assess, reopen
from worker.assessment.ratings import answers
from worker.errors import PlanError
from worker.nearest import listed
from worker.plan import Plan, load_plan, plan_hash, stored_plan
from worker.pool import Pool, check_question, check_source, compile_pool, publish
from worker.pool.remote import localised
from worker.service.context import Context
from worker.setup.project_pool import ProjectPool, read_project, settled_plan, warnings_of
from worker.setup.since import taken_over, with_earlier
from worker.store import AlreadyStarted, Header


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
        control = plan.annotation.control or "answer"
        config = write_config(labels, list(plan.pool.data), control, bins)
    else:
        return None, None
    return config, read_schema(config, plan.annotation.control, labels, bins)


def start(path: Path, context: Context, say: Callable[[str], None]) -> Header:
    """Begin the assessment of a plan and ask for its first turn.

    Raises:
        AlreadyStarted: its id is in use; a second start changes nothing.
        PoolChanged: it is in use, and the predictions file is not the one that it began with.
        StoreFailed: the pool cannot be published; nothing was begun.
        AssayError, ConnectorError: what is wrong and what to do.
    """
    plan = load_plan(path)
    _refuse_second_start(plan, context)
    settings = label_studio_settings(plan.label_studio.url)
    say("Reading the predictions ...")
    checked = check_plan(path, context.settings.pools, say, lambda: nullcontext(context))
    begun = checked.plan
    for warning in checked.warnings:
        say(f"Note: {warning}")
    if (store := context.settings.pool_store) is not None and publish(checked.pool.path, store):
        say("Published the compiled pool to ASSAY_POOL_STORE.")
    client = connect_label_studio(settings)
    asked = plan.label_studio
    if checked.read is not None and plan.queue.mode == "prioritise":
        assert plan.pool.project is not None, "what is put in order is a project"
        project, schema = plan.pool.project, checked.read.schema
    elif asked.project == "new":
        assert checked.config is not None, "a new project gets a configuration"
        assert checked.schema is not None, "a new project gets a configuration"
        say("Setting up the project in Label Studio ...")
        schema = checked.schema
        project = create_project(
            client,
            settings.url,
            asked.title or plan.assessment,
            plan.assessment,
            checked.config,
            asked.instruction or "",
            overlap=plan.annotation.per_item_max,
        )
    else:
        project = asked.project
        labels, bins = answers(plan, checked.pool.classes)
        schema = attach_project(
            client,
            settings.url,
            project,
            plan.annotation.control,
            labels,
            overlap=plan.annotation.per_item_max,
            bins=bins,
        )
    header = _header(plan, begun, checked.pool, project, settings.url, schema)
    context.enter(plan.assessment)
    ledger = context.ledger(plan.assessment)
    ledger.begin(header)
    if checked.config is not None:  # a project's own is looked at by the first turn
        ledger.set_metadata(labelling=labelling(checked.config, schema.control))
    if checked.read is not None and plan.queue.mode == "prioritise":
        # What changed before is in the pool already.
        ledger.advance_cursor(checked.read.at_us)
    context.wake(plan.assessment)
    return header


def start_or_go_on(path: Path, context: Context, say: Callable[[str], None]) -> str:
    """Begin the assessment of a plan, or go on with it if it was begun with the same plan.

    Raises:
        AlreadyStarted: it was begun with another plan under the same id.
        PoolChanged: it was begun with another predictions file.
    """
    plan = load_plan(path)
    label_studio_settings(plan.label_studio.url)  # the workers need address and token
    header = context.ledger(plan.assessment).header()
    if header is None or header.plan_hash != plan_hash(plan):
        header = start(path, context, say)
        verb = "Started"
    else:
        begun = stored_plan(header.plan)
        check_source(reopen(header, context.settings.pools).pool, settled_plan(plan, begun))
        if (begun.report, begun.notify) != (plan.report, plan.notify):
            say("Note: reports and notices go on as they were when the assessment was started.")
        verb = "Going on with"
    page = project_page(header.url, header.project)
    return f"{verb} {header.assessment}. Annotators label in {page} (the button Label All Tasks)."


def _refuse_second_start(plan: Plan, context: Context) -> None:
    header = context.ledger(plan.assessment).header()
    if header is None:
        return
    begun = stored_plan(header.plan)
    if begun.pool == plan.pool:  # never of a project, which is read anew
        check_source(reopen(header, context.settings.pools).pool, plan)
    raise AlreadyStarted(
        f"{plan.assessment} was started already, on {header.started_at}, in project "
        f"{header.project} of {header.url}. `assay status {plan.assessment}` shows it, `assay "
        f"resume {plan.assessment}` goes on with it; for a new one give the plan another "
        "`assessment` id."
    )


def _header(plan: Plan, begun: Plan, pool: Pool, project: int, url: str, schema: Schema) -> Header:
    """The header of a plan, and of what it became when the project in it was read."""
    return Header(
        assessment=plan.assessment,
        plan=begun.model_dump_json(),
        plan_hash=plan_hash(plan),
        pool_hash=pool.hash,
        pool_file=str(pool.path),
        pool_sha256=pool.file_sha256,
        pool_stat=(pool.stat[0], pool.stat[1]),
        project=project,
        url=url,
        control=schema.control,
        to_name=schema.to_name,
        labels=schema.labels,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
