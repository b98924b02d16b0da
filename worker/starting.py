"""Beginning an assessment: check everything, compile the pool, set the project up, then begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from connector.desk import connect as connect_label_studio
from connector.errors import BadConfig
from connector.labels import Schema, read_schema, write_config
from connector.project import attach_project, create_project
from connector.settings import label_studio_settings
from worker.assessment import assess, reopen
from worker.ledger import AlreadyStarted, Header
from worker.office import Office
from worker.plan import Plan, load_plan, plan_hash
from worker.pool import Pool, check_question, check_source, compile_pool


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan that can be started, as far as one can see without Label Studio."""

    plan: Plan
    pool: Pool
    config: str | None  # the labelling configuration; None when the project brings its own
    schema: Schema | None
    warnings: tuple[str, ...]


def check_plan(path: Path, pools: Path) -> Checked:
    """Read the plan, compile its pool and check that they fit.

    Raises:
        PlanError, PredictionsError, BadConfig: what is wrong, where, and what to do.
    """
    plan = load_plan(path)
    pool = compile_pool(plan, pools)
    check_question(plan, pool)
    assess(plan, pool)
    warnings = list(plan.warnings())
    empty = pool.empty_groups()
    if empty:
        warnings.append(
            f"{len(empty)} groups have no items ({', '.join(empty[:8])}): they are never chosen "
            "and take no part in the answer"
        )
    config, schema = _labelling(plan, pool)
    return Checked(plan, pool, config, schema, tuple(warnings))


def _labelling(plan: Plan, pool: Pool) -> tuple[str | None, Schema | None]:
    given = plan.label_studio.config
    if given is not None:
        try:
            config = given.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadConfig(
                f"label_studio.config: {given} cannot be read ({error}); give the path of the "
                "labelling configuration's XML, relative to the plan"
            ) from error
    elif plan.label_studio.project == "new":
        control = plan.annotation.control or "answer"
        config = write_config(pool.classes, list(plan.pool.data), control)
    else:
        return None, None
    return config, read_schema(config, plan.annotation.control, pool.classes)


def start(path: Path, office: Office, say: Callable[[str], None]) -> Header:
    """Begin the assessment of a plan and ask for its first turn.

    Raises:
        AlreadyStarted: its id is in use; a second start changes nothing.
        PoolChanged: it is in use, and the predictions file is not the one that it began with.
        AssayError, ConnectorError: what is wrong and what to do.
    """
    plan = load_plan(path)
    _refuse_second_start(plan, office)
    settings = label_studio_settings(plan.label_studio.url)
    say("Reading the predictions ...")
    checked = check_plan(path, office.settings.pools)
    for warning in checked.warnings:
        say(f"Note: {warning}")
    client = connect_label_studio(settings)
    asked = plan.label_studio
    if asked.project == "new":
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
        )
    else:
        project = asked.project
        schema = attach_project(
            client, settings.url, project, plan.annotation.control, checked.pool.classes
        )
    header = _header(plan, checked.pool, project, settings.url, schema)
    office.enter(plan.assessment)
    office.ledger(plan.assessment).begin(header)
    office.wake(plan.assessment)
    return header


def start_or_go_on(path: Path, office: Office, say: Callable[[str], None]) -> str:
    """Begin the assessment of a plan, or go on with it if it was begun with the same plan.

    Raises:
        AlreadyStarted: it was begun with another plan under the same id.
        PoolChanged: it was begun with another predictions file.
    """
    plan = load_plan(path)
    label_studio_settings(plan.label_studio.url)  # the workers need address and token
    header = office.ledger(plan.assessment).header()
    if header is None or header.plan_hash != plan_hash(plan):
        header = start(path, office, say)
        verb = "Started"
    else:
        check_source(reopen(header, office.settings.pools).pool, plan)
        verb = "Going on with"
    page = f"{header.url}/projects/{header.project}/data"
    return f"{verb} {header.assessment}. Annotators label in {page} (the button Label All Tasks)."


def _refuse_second_start(plan: Plan, office: Office) -> None:
    header = office.ledger(plan.assessment).header()
    if header is None:
        return
    begun = Plan.model_validate_json(header.plan)
    if begun.pool == plan.pool:
        check_source(reopen(header, office.settings.pools).pool, plan)
    raise AlreadyStarted(
        f"{plan.assessment} was started already, on {header.started_at}, in project "
        f"{header.project} of {header.url}. `assay status {plan.assessment}` shows it, `assay "
        f"resume {plan.assessment}` goes on with it; for a new one give the plan another "
        "`assessment` id."
    )


def _header(plan: Plan, pool: Pool, project: int, url: str, schema: Schema) -> Header:
    return Header(
        assessment=plan.assessment,
        plan=plan.model_dump_json(),
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
