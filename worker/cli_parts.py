"""What the commands share: options, the office that they work in, and how they print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worker.settings import read_settings

if TYPE_CHECKING:
    from worker.office import Office

PLAN = click.argument("plan", type=click.Path(path_type=Path))
ASSESSMENT = click.argument("assessment")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts.")


@contextmanager
def office_here() -> Iterator[Office]:
    """The servers and settings of this machine, as long as a command works."""
    from worker.embedded import server
    from worker.office import Office

    settings = read_settings()
    with server(settings.home, settings.redis_url) as url:
        opened = Office(settings, url)
        try:
            yield opened
        finally:
            opened.close()


def show(value: Any, as_json: bool, text: str) -> None:
    """Print a result, for scripts or for people."""
    click.echo(json.dumps(value, ensure_ascii=False) if as_json else text)


def say(text: str) -> None:
    """Tell people what goes on, beside the result."""
    click.echo(text, err=True)


def quiet_if(as_json: bool) -> Callable[[str], None]:
    """`say`, or nothing for scripts."""
    return (lambda _text: None) if as_json else say
