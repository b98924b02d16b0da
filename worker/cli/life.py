"""The commands of an assessment's life, from its start to its export."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from worker.cli.parts import ASSESSMENT, JSON, PLAN, context_here, quiet_if, show
from worker.errors import AssayError
from worker.formats import counted


@click.command()
@PLAN
@JSON
def start(plan: Path, as_json: bool) -> None:
    """Begin the assessment of a PLAN (workers do the rest: see `up`)."""
    from connector.settings import project_page
    from worker.setup.starting import start as begin

    with context_here() as context:
        header = begin(plan, context, quiet_if(as_json))
    page = project_page(header.url, header.project)
    show(
        {"assessment": header.assessment, "project": header.project, "page": page},
        as_json,
        f"Started {header.assessment}. Annotators label in {page} (the button Label All Tasks).",
    )


@click.command()
@click.argument("assessment", required=False)
@JSON
def status(assessment: str | None, as_json: bool) -> None:
    """Say what is known so far of an ASSESSMENT (or of all), and whether it is enough."""
    from worker.cli.printing import status_text
    from worker.report.status import status_of

    with context_here() as context:
        if assessment:
            one = status_of(context, assessment)
            show(one.as_json(), as_json, status_text(one), is_headed=True)
            return
        found = list(context.each(lambda one: status_of(context, one)))
    values, lines = [], []
    for name, seen in found:
        if isinstance(seen, AssayError):
            values.append({"assessment": name, "status": "unreadable", "error": str(seen)})
            lines.append(f"{name} (unreadable): {seen}")
        else:
            values.append(seen.as_json())
            lines.append(f"{name} ({seen.status}): {seen.text}")
    nothing = "No assessments yet; `assay start PLAN` begins one."
    show(values, as_json, "\n".join(lines) or nothing)


@click.command()
@ASSESSMENT
@click.option("--why", default="", help="The reason; annotators read it in the project.")
@JSON
def pause(assessment: str, why: str, as_json: bool) -> None:
    """Withdraw the queue of an ASSESSMENT; labels that come in still count."""
    from worker.setup.lifecycle import pause as now

    with context_here() as context:
        now(context, assessment, why)
    show({"assessment": assessment, "status": "paused"}, as_json, f"{assessment} is paused.")


@click.command()
@ASSESSMENT
@click.option(
    "--more",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="After a stop: labels to add before it may stop.",
)
@JSON
def resume(assessment: str, more: int, as_json: bool) -> None:
    """Open the queue of a paused or stopped ASSESSMENT again."""
    from worker.setup.lifecycle import resume as now

    with context_here() as context:
        now(context, assessment, more)
    show({"assessment": assessment, "status": "running"}, as_json, f"{assessment} goes on.")


@click.command()
@ASSESSMENT
@JSON
def stop(assessment: str, as_json: bool) -> None:
    """End an ASSESSMENT by hand, with a decision that says so."""
    from worker.setup.lifecycle import stop as now

    with context_here() as context:
        now(context, assessment)
    show({"assessment": assessment, "status": "stopped"}, as_json, f"{assessment} is stopped.")


@click.command()
@ASSESSMENT
@click.option("--to", "target", type=click.Path(path_type=Path), help="A file; else it is printed.")
@JSON
def export(assessment: str, target: Path | None, as_json: bool) -> None:
    """Write all that is kept of an ASSESSMENT as JSON; pause it first to move it."""
    from worker.assessment import reopen
    from worker.setup.moving import pack
    from worker.setup.replaying import export as collect

    with context_here() as context:
        work = reopen(context.header(assessment), context.settings.pools)
        value = collect(work, context.ledger(assessment), pack(context.state, assessment))
    text = json.dumps(value, ensure_ascii=False, indent=None if as_json else 2)
    if target is None:
        click.echo(text)
        return
    target.write_text(text + "\n", encoding="utf-8")
    show(
        {"file": str(target), "pool": str(work.pool.path)},
        as_json,
        f"Wrote {target}. To move the assessment take its pool along: {work.pool.path}.",
    )


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--pool",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The compiled pool, as `assay export` named it.",
)
@JSON
def bring(file: Path, pool: Path | None, as_json: bool) -> None:
    """Take over the assessment in a FILE that `assay export` wrote; it arrives paused."""
    from worker.setup.moving import take_over

    with context_here() as context:
        header = take_over(context, file, pool)
        status = context.ledger(header.assessment).state().status
    more = f" `assay resume {header.assessment}` goes on with it." if status == "paused" else ""
    show(
        {"assessment": header.assessment, "project": header.project, "status": status},
        as_json,
        f"{header.assessment} is here now, {status}.{more}",
    )


@click.command()
@ASSESSMENT
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def forget(assessment: str, yes: bool, as_json: bool) -> None:
    """Take away all that is kept of an ASSESSMENT on the server, also of one that is damaged."""
    with context_here() as context:
        folder = context.folder(assessment)
        if not yes:
            click.confirm(
                f"All that is kept of {assessment} goes: labels as they were counted, choices, "
                f"decisions. Its project in Label Studio stays, and so do {folder} and its pool. "
                f"`assay export {assessment}` keeps a copy. Take it away?",
                abort=True,
                err=True,
            )
        n = context.forget(assessment)
    show(
        {"assessment": assessment, "keys": n},
        as_json,
        f"{assessment} is taken away ({counted(n, 'key')}).",
    )


@click.command()
@ASSESSMENT
@JSON
def replay(assessment: str, as_json: bool) -> None:
    """Rebuild an ASSESSMENT from Label Studio and its plan, and compare it with what is kept."""
    from worker.cli.printing import replay_text
    from worker.setup.replaying import replay as rebuild

    with context_here() as context:
        case = context.case(assessment)
        result = rebuild(case.assessment, case.ledger, case.desk)
    value = {
        "is_equal": result.is_equal,
        "answers": result.answers,
        "labels": result.labels,
        "items_judged_otherwise": list(result.items_judged_otherwise),
        "tally_differences": {k: list(v) for k, v in result.tally_differences.items()},
        "items_queued_twice": result.items_queued_twice,
        "choices": result.choices,
        "choices_not_repeated": list(result.choices_not_repeated),
        "is_decision_repeated": result.is_decision_repeated,
    }
    show(value, as_json, replay_text(result))
    sys.exit(0 if result.is_equal else 1)
