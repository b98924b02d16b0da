"""The Label Studio that `assay up` runs where none is named: asked for, told of, kept up."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from connector.annotator import invitation
from connector.errors import ConnectorError
from connector.local import LABEL_STUDIO_VERSION, LabelStudioServer, is_prepared
from connector.own import kept_at, own_server
from connector.settings import SERVERS, is_named
from worker.errors import AssayError
from worker.plan import load_plan

AGAIN_S = 10.0

Say = Callable[[str], None]


def is_wanted(plan: Path | None, is_asked_for: bool, home: Path) -> bool:
    """Return whether to run one; on a terminal, people are asked.

    Raises:
        AssayError: none is named, and nobody is there who could be asked; or one is named, and
            another was asked for.
    """
    if is_named():
        if is_asked_for:
            raise AssayError(
                f"--with-label-studio, and LABEL_STUDIO_URL or {SERVERS}_FILE names one already. "
                "Leave the option out to label there, or unset the variable."
            )
        return False
    if is_asked_for or own_server(home) is not None:
        return True
    if plan is None or load_plan(plan).label_studio.url:
        return False
    if not sys.stdin.isatty():
        raise AssayError(
            "No Label Studio is named. Say where it is with LABEL_STUDIO_URL and "
            "LABEL_STUDIO_API_KEY; or say --with-label-studio, and Assay runs one beside it, for "
            "this machine only."
        )
    takes = "" if is_prepared() else f"It installs Label Studio {LABEL_STUDIO_VERSION} first. "
    click.echo(
        f"No Label Studio is named (LABEL_STUDIO_URL). Assay can run one, for this machine only; "
        f"its data stay in {home}. {takes}",
        err=True,
    )
    with suppress(click.Abort):  # the end of what is typed is no answer
        if click.confirm("Run one?", default=True, err=True):
            return True
    raise AssayError("Set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, and say it again.")


def tell(studio: LabelStudioServer, home: Path, say: Say) -> None:
    """Say where it is, who signs in there, and how annotators do; the password on terminals only.

    Raises:
        ConnectorError: it does not answer.
    """
    own = own_server(home)
    assert own is not None, "it was started a moment ago"
    password = own.password if sys.stderr.isatty() else f"in {kept_at(home)}"
    say(
        f"Label Studio is at {studio.url} (this machine only). Sign in as {own.email}, "
        f"password {password}"
    )
    say(f"Annotators sign up at {invitation(studio.url, studio.token)}")


def kept_up(studio: LabelStudioServer, say: Say) -> Callable[[], None]:
    """Return what starts it again when it has died; to be called every now and then."""
    failed_at = float("-inf")

    def look() -> None:
        nonlocal failed_at
        if studio.is_running() or time.monotonic() - failed_at < AGAIN_S:
            return
        say("Label Studio ended; starting it again.")
        try:
            studio.restart()
        except ConnectorError as error:
            failed_at = time.monotonic()
            say(str(error))

    return look
