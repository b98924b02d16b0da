"""Beginning an assessment: check everything, compile the pool, set the project up, then begin."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from connector.client import connect as connect_label_studio
from connector.labelling import labelling
from connector.project import attach_project, create_project
from connector.schema import Schema
from connector.settings import label_studio_settings, project_page
from worker.assessment import reopen
from worker.assessment.ratings import answers
from worker.plan import Plan, load_plan, plan_hash, stored_plan
from worker.pool import Pool, check_source, publish
from worker.service.context import Context
from worker.setup.checking import check_plan
from worker.setup.project_pool import settled_plan
from worker.store import AlreadyStarted, Header


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
            files=checked.pool.file_keys,
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
