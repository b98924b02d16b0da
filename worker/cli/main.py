"""The command `assay`: parse, one call, print."""

from __future__ import annotations

import atexit
import gc
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from worker.cli import assess, evaluate, life, processes, report, simulate
from worker.cli.drafted import draft_of
from worker.cli.ends import told_in
from worker.cli.parts import JSON, PLAN, ask, context_here, note, quiet_if, show
from worker.cli.up import up
from worker.errors import AssayError
from worker.service.logs import write_logs
from worker.store.settings import read_settings

if TYPE_CHECKING:
    from worker.cli.doctor import Finding


class _Group(click.Group):
    """Where every command ends: an expected error is one message, never a traceback.

    Exit codes: 0 done, 1 failed, 2 wrong use, 130 Ctrl-C.
    """

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> NoReturn:
        """Run what is asked for and exit.

        Args:
            args: as click's; `--json` among them asks for errors as JSON, too.
        """
        given = sys.argv[1:] if args is None else list(args)
        with told_in(given):
            code = super().main(given, *rest, **more | {"standalone_mode": False})
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=_Group)
@click.version_option(version("assay"), prog_name="assay")
def cli() -> None:
    """Active assessment of a black-box classifier inside Label Studio.

    It labels the items that tell most, and stops when the question is answered.
    """
    write_logs("text")
    # Or Python's last search for cycles goes through all that was loaded: .3 s after the answer.
    atexit.register(gc.freeze)


@click.command()
@click.argument("predictions", type=click.Path(path_type=Path), required=False)
@click.option("--project", type=int, help="A Label Studio project with tasks and predictions.")
@click.option(
    "--plan",
    "path",
    type=click.Path(path_type=Path),
    help="The plan; else it is called as the predictions, with .yaml, or project-12.yaml.",
)
@click.option("--id", "id_column", help="The column that names each item.")
@click.option("--predicted", help="The column of the predicted class.")
@click.option("--score", help="The column of the predicted class's score.")
@click.option("--data", multiple=True, help="A column that annotators see (may be repeated).")
@click.option("--force", is_flag=True, help="Replace the plan if it is there.")
@JSON
def init(
    predictions: Path | None,
    project: int | None,
    path: Path | None,
    id_column: str | None,
    predicted: str | None,
    score: str | None,
    data: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write a commented plan for a file of PREDICTIONS, or for a project that holds them."""
    from worker.setup.drafting import draft_plan
    from worker.setup.project_pool import draft_from_project

    if (predictions is None) == (project is None):
        raise click.UsageError("Name a file of PREDICTIONS, or a project with --project.")
    plan = path or (draft_of(predictions) if predictions else Path(f"project-{project}.yaml"))
    if plan.exists() and not force:
        raise AssayError(f"{plan} is there already; choose another with --plan, or say --force.")
    if not plan.parent.is_dir():  # before anybody is asked anything
        raise AssayError(f"{plan}: there is no folder {plan.parent}; make it, or name another.")
    guesses: list[str] = []
    tell = quiet_if(as_json)

    def say(guess: str) -> None:
        guesses.append(guess)
        tell(guess)

    if predictions is None:
        assert project is not None, "one of the two is there"
        text = draft_from_project(project)
    else:
        text = draft_plan(
            predictions,
            plan,
            id=id_column,
            predicted=predicted,
            score=score,
            data=list(data) or None,
            say=say,
            ask=ask,
        )
    plan.write_text(text, encoding="utf-8")
    value = {"plan": str(plan), "guesses": guesses}
    show(value, as_json, f"Wrote {plan}. Read it, then: assay check {plan}")


@click.command()
@PLAN
@JSON
def check(plan: Path, as_json: bool) -> None:
    """Check a PLAN and its predictions, and show what would be assessed."""
    from worker.cli.printing import pool_text
    from worker.setup.checking import check_plan
    from worker.setup.opinions_told import strata_per_group, told_of

    checked = check_plan(plan, read_settings().pools, quiet_if(as_json), context_here)
    for warning in checked.warnings:
        note(warning)
    pool = checked.pool
    show(
        {
            "assessment": checked.plan.assessment,
            "items": pool.n_items,
            "classes": len(pool.classes),
            "groups": len(pool.group_names),
            "cells": pool.n_cells,
            "metric": checked.plan.question.metric,
            "strategy": checked.plan.strategy,
            "prior": checked.plan.prior.kind,
            "strata": checked.plan.pool.strata,
            "strata_per_group": round(strata_per_group(pool), 1),
            "opinions": [asdict(told) for told in told_of(checked.plan, pool)],
            "population": checked.plan.population,
            "stop": checked.plan.stop.kind,
            "target": checked.plan.stop.target,
            "confidence": checked.plan.stop.confidence,
            "guarantee": checked.plan.stop.guarantee,
            "pool_hash": pool.hash,
            "warnings": list(checked.warnings),
        },
        as_json,
        pool_text(checked.plan, pool),
    )


@click.command()
@click.argument("key", default="")
@JSON
def explain(key: str, as_json: bool) -> None:
    """Say what a KEY of the plan means, or all of a part such as `stop`, or of the plan."""
    from worker.cli.printing import key_text
    from worker.plan.explaining import explain

    found = explain(key)
    rows = [{"key": k.name, "meaning": k.meaning, "default": k.default or None} for k in found]
    show({"keys": rows}, as_json, "\n\n".join(map(key_text, found)))


@click.command()
@JSON
def doctor(as_json: bool) -> None:
    """Look at everything Assay rests on, and say what to do about each problem.

    A problem keeps labels from counting or an assessment from going on: exit code 1. A hint does
    not.
    """
    from worker.cli.doctor import examine
    from worker.cli.printing import count_text, finding_text

    findings: list[Finding] = []
    with context_here() as context:
        try:
            for finding in examine(context.settings, context):
                findings.append(finding)
                if finding.kind == "ok" and not as_json:
                    click.echo(finding_text(finding))
        finally:  # a server that is not fit ends the round: what was seen before is told
            if not as_json:
                for finding in sorted(findings, key=lambda f: f.kind):  # problems come last
                    if finding.kind != "ok":
                        click.echo(finding_text(finding))
    if as_json:
        click.echo(json.dumps([asdict(f) for f in findings], ensure_ascii=False))
    else:
        click.echo(count_text(findings))
    sys.exit(1 if any(f.kind == "problem" for f in findings) else 0)


for command in (
    init,
    check,
    assess.assess,
    simulate.plan_labels,
    simulate.simulate,
    evaluate.evaluate,
    life.start,
    life.status,
    life.pause,
    life.resume,
    life.stop,
    life.export,
    life.bring,
    life.forget,
    life.replay,
    up,
    processes.worker,
    processes.watch,
    processes.serve,
    report.report,
    explain,
    doctor,
    processes.demo,
):
    cli.add_command(command)
