"""`assay demo`: a real Label Studio, two scripted annotators, and a decision at the end."""

from __future__ import annotations

import csv
import json
import os
import secrets
import shutil
import time
from pathlib import Path
from threading import Event, Thread

import click
from rich.console import Console
from rich.live import Live
from rich.panel import Panel

from connector.annotator import Annotator, AnnotatorError, sign_up
from connector.local import LabelStudioServer
from connector.local_own import start_own
from connector.settings import project_page
from worker.cli.own_studio import tell
from worker.errors import AssayError
from worker.formats import counted
from worker.report.scheduled import final_report
from worker.report.status import Status, status_of
from worker.service.context import Context
from worker.service.embedded import server
from worker.service.supervisor import environment, keep_up
from worker.setup.starting import start
from worker.store.settings import SECRETS, Settings, read_settings

_SHIPPED = Path(__file__).parents[1] / "samples" / "digits"  # in a wheel; else at the top
SAMPLE = _SHIPPED if _SHIPPED.exists() else Path(__file__).parents[2] / "samples" / "digits"
PEOPLE = ("ada@example.com", "grace@example.com")
# How long an annotator waits before asking an empty queue again.
PAUSE_S = 0.3
PATIENCE_S = 15 * 60


def run(*, by_hand: bool, keep: bool, stop: Event) -> None:
    """Run the demo until its decision (`keep`: until Ctrl-C).

    Raises:
        AssayError: the sample is not there, or no decision came.
    """
    if not SAMPLE.exists():
        raise AssayError(f"The demo needs {SAMPLE}; run it from a checkout of the project.")
    began = time.monotonic()
    home = read_settings().home / "demo"
    shutil.rmtree(home, ignore_errors=True)
    settings = Settings(home, None, None)
    for name in (*SECRETS, "LABEL_STUDIO_SERVERS"):  # it has servers and secrets of its own
        os.environ.pop(name, None)
        os.environ.pop(f"{name}_FILE", None)
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_PUBLIC_URL"):
        os.environ.pop(name, None)
    os.environ |= {"ASSAY_HOME": str(home), "ASSAY_WEBHOOK_SECRET": secrets.token_hex(24)}
    with start_own(home, _say) as studio, server(home, None) as url:
        context = Context(settings, url)
        try:
            _show(context, studio, by_hand=by_hand, keep=keep, stop=stop, began=began)
        finally:
            context.close()


def _show(
    context: Context,
    studio: LabelStudioServer,
    *,
    by_hand: bool,
    keep: bool,
    stop: Event,
    began: float,
) -> None:
    header = start(SAMPLE / "plan.yaml", context, _say)
    page = project_page(header.url, header.project)
    ended = Event()
    threads = [Thread(target=_keep_up, args=(context, ended), daemon=True)]
    if by_hand:
        tell(studio, context.settings.home, _say)
        _say(f"Label in {page} (Label All Tasks).")
    else:
        truth = _truth()
        for email in PEOPLE:
            person = sign_up(studio.url, studio.token, email, "assay-demo-1")
            arguments = (person, header.project, truth, ended)
            threads.append(Thread(target=_label, args=arguments, daemon=True))
    for thread in threads:
        thread.start()
    try:
        final = _follow(context, header.assessment, stop, by_hand=by_hand)
        if final is not None:
            _conclude(context, final, page, time.monotonic() - began)
            if keep:
                tell(studio, context.settings.home, _say)
                _say("Everything stays up until Ctrl-C.")
                stop.wait()
    finally:
        ended.set()
        for thread in threads:
            thread.join(timeout=30)


def _follow(context: Context, assessment: str, stop: Event, *, by_hand: bool) -> Status | None:
    """Show the state as it changes, until all are told the decision and its report is made."""
    deadline = time.monotonic() + PATIENCE_S
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        while not stop.is_set():
            status = status_of(context, assessment)
            live.update(_panel(status))
            metadata = context.ledger(assessment).metadata()
            if status.status == "stopped" and metadata.get("told_desk"):
                is_reported = final_report(context, status.header, metadata) is not None
                if is_reported or metadata.get("report_error"):
                    return status
            if not by_hand and time.monotonic() > deadline:
                raise AssayError(
                    f"No decision within {PATIENCE_S // 60} minutes. The last turn said: "
                    f"{status.error or 'nothing'}. {status.text}"
                )
            stop.wait(0.5)
    return None


def _panel(s: Status) -> Panel:
    known = [g for g in s.groups if g["size"]]
    lines = [s.text, ""]
    for g in sorted(known, key=lambda g: float(g["mean"])):
        low, high = round(g["low"] * 40), round(g["high"] * 40)
        bar = " " * low + "─" * max(1, high - low) + " " * (40 - high)
        lines.append(f"{g['group']:>4}  |{bar}|  {g['mean']:.2f}  {g['labelled']:>4} labels")
    return Panel("\n".join(lines), title=f"{s.header.assessment}: {s.status}", width=96)


def _conclude(context: Context, status: Status, page: str, took_s: float) -> None:
    path = context.folder(status.header.assessment) / "decision.json"
    decision = json.loads(path.read_text(encoding="utf-8"))
    click.echo("")
    click.echo(decision["text"])
    if decision.get("opinions"):  # how many labels these saved
        click.echo(decision["opinions"]["text"])
    click.echo(f"The decision with its evidence: {path}")
    metadata = context.ledger(status.header.assessment).metadata()
    report = final_report(context, status.header, metadata) or metadata.get("report_error")
    click.echo(f"The report on a page: {report}")
    click.echo(f"What the annotators see now (only while Label Studio is up: --keep): {page}")
    by = counted(decision["annotators"], "annotator")
    click.echo(f"{counted(decision['labels'], 'annotation')} by {by}, {took_s:.0f} s in all.")


def _keep_up(context: Context, ended: Event) -> None:
    children = [
        ("receiver", ("serve", "--port", "0")),
        ("watcher", ("watch", "--every", "2")),
        ("worker-1", ("worker",)),
    ]
    settings = context.settings
    keep_up(context, environment(settings), children, _say, ended, settings.home / "up.pids")


def _label(person: Annotator, project: int, truth: dict[str, str], ended: Event) -> None:
    """Answer what the queue offers, truthfully, until the demo ends."""
    with person:
        while not ended.is_set():
            task = person.next_task(project)
            if task is None:
                ended.wait(PAUSE_S)
                continue
            digit = truth[task["data"]["item_id"]]
            try:
                person.submit(task["id"], digit, "digit", "image")
            except AnnotatorError:
                ended.wait(PAUSE_S)  # withdrawn under our hands, or the server is going down


def _truth() -> dict[str, str]:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        return {row["item_id"]: row["digit"] for row in csv.DictReader(file)}


def _say(text: str) -> None:
    click.echo(text, err=True)
