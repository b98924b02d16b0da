"""The command that makes a report, or compares two assessments."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from worker.cli.parts import JSON, office_here, show


@click.command()
@click.argument("assessment", required=False)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder; else the one of the plan's reports.",
)
@click.option("--compare", nargs=2, metavar="A B", help="Set two assessments side by side.")
@JSON
def report(
    assessment: str | None, folder: Path | None, compare: tuple[str, str] | None, as_json: bool
) -> None:
    """Make a report of an ASSESSMENT now (HTML, with JSON and CSV beside it)."""
    if (assessment is None) == (compare is None):
        raise click.UsageError("Name one assessment, or two with --compare A B.")
    with _no_collection(), office_here() as office:
        if compare is not None:
            from worker.assessment import reopen
            from worker.report.comparing import compare as set_side_by_side
            from worker.report.comparing import write_comparison

            a, b = (
                (reopen(header, office.settings.pools), header, office.ledger(header.assessment))
                for header in map(office.header, compare)
            )
            to = folder or office.settings.home / "comparisons"
            stem = f"{compare[0]}-and-{compare[1]}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            page = write_comparison(set_side_by_side(a, b), to, stem)
        else:
            from worker.report.making import make_now

            page = make_now(office, str(assessment), folder)
    value = {"page": str(page), "json": str(page.with_suffix(".json"))}
    show(value, as_json, f"Wrote {page}.")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's search for cycles: a tenth of the time, in a process that ends anyway."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
