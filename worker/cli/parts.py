"""What the commands share: options, the context that they work in, and how they print."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worker.service.logs import Format, are_json, write_logs
from worker.store.settings import read_settings

if TYPE_CHECKING:
    from worker.service.context import Context

PLAN = click.argument("plan", type=click.Path(path_type=Path))
ASSESSMENT = click.argument("assessment")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts.")


def _write_logs(_context: click.Context, _option: click.Parameter, form: Format) -> Format:
    os.environ["ASSAY_LOG"] = form  # for the processes that this one starts
    write_logs(form)
    return form


LOGS = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    envvar="ASSAY_LOG",
    default="text",
    show_default=True,
    expose_value=False,
    callback=_write_logs,
    help="json: one object a line, with the assessment, revision and job. [env: ASSAY_LOG]",
)


@contextmanager
def context_here() -> Iterator[Context]:
    """The servers and settings of this machine, as long as a command works."""
    from worker.service.context import Context
    from worker.service.embedded import server
    from worker.service.server import check

    settings = read_settings()
    with server(settings.home, settings.redis_url) as url:
        opened = Context(settings, url)
        try:
            if settings.state_url:
                check(opened.state, settings.state_url)
            yield opened
        finally:
            opened.close()


def show(value: Any, as_json: bool, text: str, *, is_headed: bool = False) -> None:
    """Print a result, for scripts or for people.

    Args:
        is_headed: the first paragraph says the most.
    """
    if as_json:
        click.echo(json.dumps(value, ensure_ascii=False))
        return
    head, gap, rest = printable(text).partition("\n\n")
    click.echo((coloured(head, bold=True) if is_headed else head) + gap + rest)


def coloured(text: str, **style: Any) -> str:
    """The text with a style of `click.style`; a pipe or file gets it without.

    `NO_COLOR` (no-color.org) turns it off, as does a terminal that has none.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return click.style(text, **style)


def printable(text: str) -> str:
    """The text without what moves a terminal's cursor or colours it: names come from files."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


def say(text: str) -> None:
    """Tell people what goes on, beside the result; where logs are JSON, in a line of theirs."""
    if are_json():
        logging.getLogger("worker").info("%s", text)
    else:
        click.echo(text, err=True)


def complain(text: str) -> None:
    """Say why a command failed."""
    if are_json():
        logging.getLogger("worker").error("%s", text)
    else:
        click.echo(f"{coloured('Error:', fg='red', bold=True)} {printable(text)}", err=True)


def note(text: str) -> None:
    """Say what is allowed but probably not meant."""
    click.echo(f"{coloured('Note:', fg='yellow', bold=True)} {printable(text)}", err=True)


def ask(question: str, choices: Sequence[str]) -> str | None:
    """Let a person choose; None if nobody sits at a terminal, or there is no choice."""
    if not (sys.stdin.isatty() and sys.stderr.isatty() and choices):
        return None
    return str(click.prompt(question, type=click.Choice(list(choices)), err=True))


def quiet_if(as_json: bool) -> Callable[[str], None]:
    """`say`, or nothing for scripts."""
    return (lambda _text: None) if as_json else say
