"""The command `assay`: parse, one call, print."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Any

import click

from connector.errors import ConnectorError
from worker.cli_simulate import plan_labels, simulate
from worker.errors import AssayError
from worker.settings import read_settings

PLAN = click.argument("plan", type=click.Path(path_type=Path))
PORT = click.IntRange(0, 65535)
SECONDS = click.FloatRange(min=0.05)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts.")


class _Group(click.Group):
    """Expected errors are one message and exit code 1, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        from redis.exceptions import RedisError

        try:
            return super().invoke(ctx)
        except (AssayError, ConnectorError) as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(1)
        except RedisError as error:
            click.echo(
                f"Error: the server that keeps the state failed ({type(error).__name__}: {error}). "
                "Check that it runs and has memory and disk left; `assay doctor` looks at it.",
                err=True,
            )
            ctx.exit(1)
        except OSError as error:
            # Only what names a file is about what was asked for; click ends quietly when a pipe
            # closes, and anything else is ours.
            if error.filename is None:
                raise
            click.echo(f"Error: {error.filename}: {error.strerror}.", err=True)
            ctx.exit(1)


@click.group(cls=_Group)
@click.version_option(version("assay"), prog_name="assay")
def cli() -> None:
    """Active assessment of a black-box classifier inside Label Studio.

    It labels the items that tell most, and stops when the question is answered.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")


cli.add_command(simulate)
cli.add_command(plan_labels)


@contextmanager
def _office() -> Iterator[Any]:
    from worker.embedded import server
    from worker.office import Office

    settings = read_settings()
    with server(settings.home, settings.redis_url) as url:
        office = Office(settings, url)
        try:
            yield office
        finally:
            office.close()


def _print(value: Any, as_json: bool, text: str) -> None:
    click.echo(json.dumps(value, ensure_ascii=False) if as_json else text)


def _quiet_if(as_json: bool) -> Any:
    return (lambda _text: None) if as_json else (lambda text: click.echo(text, err=True))


def _stop_event() -> Event:
    """Set by Ctrl-C and by SIGTERM."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


# --- before an assessment ------------------------------------------------------------------------


@cli.command()
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("--plan", "plan", type=click.Path(path_type=Path), default=Path("plan.yaml"))
@click.option("--id", "id_column", help="The column that names each item.")
@click.option("--predicted", help="The column of the predicted class.")
@click.option("--score", help="The column of the predicted class's score.")
@click.option("--data", multiple=True, help="A column that annotators see (may be repeated).")
@click.option("--force", is_flag=True, help="Replace the plan if it is there.")
@JSON
def init(
    predictions: Path,
    plan: Path,
    id_column: str | None,
    predicted: str | None,
    score: str | None,
    data: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write a commented plan for a file of PREDICTIONS."""
    from worker.plan.drafting import draft_plan

    if plan.exists() and not force:
        raise AssayError(f"{plan} is there already; choose another with --plan, or say --force.")
    text = draft_plan(
        predictions,
        plan,
        id=id_column,
        predicted=predicted,
        score=score,
        data=list(data) or None,
    )
    plan.write_text(text, encoding="utf-8")
    _print({"plan": str(plan)}, as_json, f"Wrote {plan}. Read it, then: assay check {plan}")


@cli.command()
@PLAN
@JSON
def check(plan: Path, as_json: bool) -> None:
    """Check a PLAN and its predictions, and show what would be assessed."""
    from worker.printing import pool_text
    from worker.starting import check_plan

    checked = check_plan(plan, read_settings().pools)
    for warning in checked.warnings:
        click.echo(f"Note: {warning}", err=True)
    pool = checked.pool
    _print(
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
            "stop": checked.plan.stop.kind,
            "guarantee": checked.plan.stop.guarantee,
            "pool_hash": pool.hash,
            "warnings": list(checked.warnings),
        },
        as_json,
        pool_text(checked.plan, pool),
    )


@cli.command()
@JSON
def doctor(as_json: bool) -> None:
    """Look at everything Assay rests on, and say what to do about each problem."""
    from worker.doctor import examine
    from worker.printing import finding_text

    with _office() as office:
        findings = []
        for finding in examine(office.settings, office):
            findings.append(finding)
            if not as_json:
                click.echo(finding_text(finding))
    if as_json:
        shown = [{"what": f.what, "seen": f.seen, "cure": f.cure} for f in findings]
        click.echo(json.dumps(shown, ensure_ascii=False))
    sys.exit(1 if any(f.is_fatal for f in findings) else 0)


# --- an assessment's life ------------------------------------------------------------------------


@cli.command()
@PLAN
@JSON
def start(plan: Path, as_json: bool) -> None:
    """Begin the assessment of a PLAN (workers do the rest: see `up`)."""
    from worker.starting import start as begin

    with _office() as office:
        header = begin(plan, office, _quiet_if(as_json))
    page = f"{header.url}/projects/{header.project}/data"
    _print(
        {"assessment": header.assessment, "project": header.project, "page": page},
        as_json,
        f"Started {header.assessment}. Annotators label in {page} (the button Label All Tasks).",
    )


@cli.command()
@click.argument("assessment", required=False)
@JSON
def status(assessment: str | None, as_json: bool) -> None:
    """Say what is known so far of an ASSESSMENT (or of all), and whether it is enough."""
    from worker.printing import status_text
    from worker.status import status_of

    with _office() as office:
        found = [status_of(office, one) for one in ([assessment] if assessment else office.ids())]
    if assessment:
        _print(found[0].as_json(), as_json, status_text(found[0]))
    else:
        lines = [f"{s.header.assessment} ({s.status}): {s.text}" for s in found]
        nothing = "No assessments yet; `assay start PLAN` begins one."
        _print([s.as_json() for s in found], as_json, "\n".join(lines) or nothing)


@cli.command()
@click.argument("assessment")
@JSON
def pause(assessment: str, as_json: bool) -> None:
    """Withdraw the queue of an ASSESSMENT; labels that come in still count."""
    from worker.steering import pause as now

    with _office() as office:
        now(office, assessment)
    _print({"assessment": assessment, "status": "paused"}, as_json, f"{assessment} is paused.")


@cli.command()
@click.argument("assessment")
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
    from worker.steering import resume as now

    with _office() as office:
        now(office, assessment, more)
    _print({"assessment": assessment, "status": "running"}, as_json, f"{assessment} goes on.")


@cli.command()
@click.argument("assessment")
@JSON
def stop(assessment: str, as_json: bool) -> None:
    """End an ASSESSMENT by hand, with a decision that says so."""
    from worker.steering import stop as now

    with _office() as office:
        now(office, assessment)
    _print({"assessment": assessment, "status": "stopped"}, as_json, f"{assessment} is stopped.")


@cli.command()
@click.argument("assessment")
@click.option("--to", "target", type=click.Path(path_type=Path), help="A file; else it is printed.")
@JSON
def export(assessment: str, target: Path | None, as_json: bool) -> None:
    """Write all that is kept of an ASSESSMENT as JSON."""
    from worker.replaying import export as collect

    with _office() as office:
        office.header(assessment)
        kept = collect(reopened(office, assessment), office.ledger(assessment))
    text = json.dumps(kept, ensure_ascii=False, indent=None if as_json else 2)
    if target is None:
        click.echo(text)
        return
    target.write_text(text + "\n", encoding="utf-8")
    _print({"file": str(target)}, as_json, f"Wrote {target}.")


def reopened(office: Any, assessment: str) -> Any:
    """The plan and pool of an assessment, without Label Studio."""
    from worker.assessment import reopen

    return reopen(office.header(assessment), office.settings.pools)


@cli.command()
@click.argument("assessment")
@JSON
def replay(assessment: str, as_json: bool) -> None:
    """Rebuild an ASSESSMENT from Label Studio and its plan, and compare it with what is kept."""
    from worker.printing import replay_text
    from worker.replaying import replay as rebuild

    with _office() as office:
        case = office.case(assessment)
        result = rebuild(case.assessment, case.ledger, case.desk)
    value = {
        "is_equal": result.is_equal,
        "answers": result.answers,
        "labels": result.labels,
        "tally_differences": {k: list(v) for k, v in result.tally_differences.items()},
        "items_queued_twice": result.items_queued_twice,
        "choices": result.choices,
        "choices_not_repeated": list(result.choices_not_repeated),
        "is_decision_repeated": result.is_decision_repeated,
    }
    _print(value, as_json, replay_text(result))
    sys.exit(0 if result.is_equal else 1)


# --- the processes -------------------------------------------------------------------------------


@cli.command()
@click.option("--burst", is_flag=True, help="End when no job is left.")
def worker(burst: bool) -> None:
    """Take turns of the loop as they are asked for (run as many as you like)."""
    from worker.jobs import work

    with _office() as office:
        work(office, burst=burst)


@cli.command()
@click.option(
    "--every", type=SECONDS, default=3.0, show_default=True, help="Seconds between two rounds."
)
def watch(every: float) -> None:
    """Ask for a turn of every assessment every few seconds: the truth, webhooks or not."""
    from worker.schedule import watch as keep_watch

    stop = _stop_event()
    with _office() as office:
        keep_watch(office, every, stop)


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=PORT, default=8765, show_default=True, help="0: any free one.")
@click.option(
    "--public-url", help="How Label Studio reaches the receiver, if not by host and port."
)
def serve(host: str, port: int, public_url: str | None) -> None:
    """Receive Label Studio's webhooks."""
    from worker.serving import serve as receive

    with _office() as office:
        receive(office, host, port, public_url, lambda text: click.echo(text, err=True))


@cli.command()
@click.argument("plan", required=False, type=click.Path(path_type=Path))
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--port",
    type=PORT,
    default=8765,
    show_default=True,
    help="The receiver's; 0: any free one.",
)
@click.option("--public-url", help="How Label Studio reaches the receiver.")
@click.option(
    "--every", type=SECONDS, default=3.0, show_default=True, help="The watcher's seconds."
)
def up(plan: Path | None, workers: int, port: int, public_url: str | None, every: float) -> None:
    """Run everything on this machine until Ctrl-C; with a PLAN, begin it or go on with it."""
    from worker.serving import port_is_free
    from worker.starting import start_or_go_on
    from worker.upkeep import environment, keep_up

    stop = _stop_event()
    port_is_free(port)
    with _office() as office:
        settings = office.settings
        env = environment(settings)
        if plan is not None:
            click.echo(start_or_go_on(plan, office, lambda text: click.echo(text, err=True)))
        receiver = ["serve", "--port", str(port)]
        if public_url:
            receiver += ["--public-url", public_url]
        children = [("receiver", receiver), ("watcher", ["watch", "--every", str(every)])]
        children += [(f"worker-{n + 1}", ["worker"]) for n in range(workers)]
        click.echo("Everything is up; Ctrl-C ends it. See `assay status`.", err=True)
        keep_up(
            settings,
            env,
            children,
            lambda text: click.echo(text, err=True),
            stop,
            settings.home / "up.pids",
        )
    click.echo("Ended. Nothing is lost: `assay up` goes on where it was.", err=True)


@cli.command()
@click.option("--by-hand", is_flag=True, help="You label in the browser, nobody else does.")
@click.option("--keep", is_flag=True, help="Leave the servers up at the end, until Ctrl-C.")
def demo(by_hand: bool, keep: bool) -> None:
    """Assess a weak digit classifier with a real Label Studio and two scripted annotators."""
    from worker.demo import run

    run(by_hand=by_hand, keep=keep, stop=_stop_event())


if __name__ == "__main__":
    cli()
