"""The command that makes a report, or compares two assessments."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from worker.cli.parts import JSON, context_here, show


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
    page = _one(str(assessment), folder) if compare is None else _two(*compare, folder)
    value = {"page": str(page), "json": str(page.with_suffix(".json"))}
    show(value, as_json, f"Wrote {page}.")


def _one(assessment: str, folder: Path | None) -> Path:
    with context_here() as context:
        from worker.report.making import make_now

        return make_now(context, assessment, folder)


def _two(first: str, second: str, folder: Path | None) -> Path:
    with context_here() as context:
        from worker.assessment import reopen
        from worker.report.comparing import compare, write_comparison

        a, b = (
            (reopen(header, context.settings.pools), header, context.ledger(header.assessment))
            for header in map(context.header, (first, second))
        )
        to = folder or context.settings.home / "comparisons"
        stem = f"{first}-and-{second}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        return write_comparison(compare(a, b), to, stem)
