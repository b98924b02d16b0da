"""`assay up`: everything on one machine until Ctrl-C, and a Label Studio where none is named."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import click

from worker.cli.drafted import plan_of
from worker.cli.ending import ended_by_signals
from worker.cli.parts import LOGS, context_here, say
from worker.cli.processes import HOST, PORT, PUBLIC_URL, SECONDS
from worker.errors import AssayError
from worker.store.settings import read_settings


@click.command()
@click.argument(
    "plan", required=False, metavar="[PLAN|PREDICTIONS]", type=click.Path(path_type=Path)
)
@click.option(
    "--with-label-studio",
    is_flag=True,
    help="Run a Label Studio beside it, for this machine only, without asking.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="One that dies is back after seconds; another goes on at once.",
)
@HOST
@click.option(
    "--port",
    type=PORT,
    default=8765,
    show_default=True,
    help="Of receiver and dashboard; 0: any free one.",
)
@PUBLIC_URL
@click.option(
    "--every", type=SECONDS, default=3.0, show_default=True, help="The watcher's seconds."
)
@LOGS
def up(
    plan: Path | None,
    with_label_studio: bool,
    workers: int,
    host: str,
    port: int,
    public_url: str | None,
    every: float,
) -> None:
    """Run everything on this machine until Ctrl-C.

    With a PLAN, begin it or go on with it; for a file of PREDICTIONS, write a plan of its name
    first. While another `assay up` runs, a PLAN joins it.
    """
    receiver = ["serve", "--host", host, "--port", str(port)]
    if public_url:
        receiver += ["--public-url", public_url]
    children = [("receiver", receiver), ("watcher", ["watch", "--every", str(every)])]
    children += [(f"worker-{n + 1}", ["worker"]) for n in range(workers)]
    with ended_by_signals() as stop:  # what is imported takes a while, too
        try:
            from worker.cli.own_studio import is_wanted
            from worker.service.alone import alone
            from worker.web.security import gate
            from worker.web.serving import port_is_free

            home = read_settings().home
            with alone(home) as is_alone:
                plan = None if plan is None else plan_of(plan, "assay up", say)
                if not is_alone:
                    _join(plan, home)
                    return
                gate(host, public_url)  # without its token the receiver would end again and again
                port_is_free(host, port)
                with_own = is_wanted(plan, with_label_studio, home)
                _run(plan, children, home, stop, with_own=with_own)
        finally:
            if stop.is_set():
                say("Ended. Nothing is lost: `assay up` goes on where it was.")


def _run(
    plan: Path | None,
    children: Sequence[tuple[str, Sequence[str]]],
    home: Path,
    stop: Event,
    *,
    with_own: bool,
) -> None:
    from connector.local_own import start_own
    from worker.cli import own_studio
    from worker.cli.news import News
    from worker.plan import load_plan
    from worker.service.context import Context
    from worker.service.supervisor import environment, keep_up
    from worker.setup.checking import check_plan
    from worker.setup.starting import start_or_go_on

    with ExitStack() as ends:
        looks = []
        if with_own:
            if plan is not None and load_plan(plan).pool.project is None:
                # what is wrong is told before anything is started for it
                check_plan(plan, home / "pools", say, context_here)
            studio = ends.enter_context(start_own(home, say))
            own_studio.tell(studio, home, say)
            looks.append(own_studio.kept_up(studio, say))
        context = ends.enter_context(context_here())
        env = environment(context.settings)
        if plan is not None:
            click.echo(start_or_go_on(plan, context, say))
        quick = Context(context.settings, context.url, is_patient=False)
        ends.callback(quick.close)
        looks.append(News(quick, say).look)
        say("Everything is up; Ctrl-C ends it. See `assay status`.")
        keep_up(context, env, children, say, stop, home / "up.pids", looks)


def _join(plan: Path | None, home: Path) -> None:
    """Begin the assessment of a plan, for the `assay up` that runs."""
    from worker.setup.starting import start_or_go_on

    if plan is None:
        raise AssayError(
            f"An `assay up` of {home} runs already, and takes care of all assessments there. "
            "`assay up PLAN` gives it one more; another ASSAY_HOME has its own."
        )
    with context_here() as context:
        click.echo(start_or_go_on(plan, context, say))
    say("The `assay up` that runs takes care of it.")
