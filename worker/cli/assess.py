"""The command that makes a report from a file of labels."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worker.cli.drafted import plan_of
from worker.cli.parts import JSON, quiet_if, show

if TYPE_CHECKING:
    from worker.plan.project_part import Existing


@click.command()
@click.argument("plan", metavar="PLAN|PREDICTIONS", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    required=True,
    metavar="FILE[:COLUMN]",
    help="A file of labels with the items' ids, of all items or some; or a column of the "
    "predictions.",
)
@click.option(
    "--labels-are",
    "use",
    type=click.Choice(["known", "random"]),
    default="known",
    show_default=True,
    help="Where not all items are labelled. known: each label tells of itself only; random: the "
    "labelled items were drawn at random, and tell of the others.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder; else .assay/assessed.",
)
@JSON
def assess(plan: Path, labels: str, use: Existing, folder: Path | None, as_json: bool) -> None:
    """Make a report at once, from labels that are there (HTML, with JSON and CSV).

    For a file of PREDICTIONS it writes a PLAN of its name first. Needs neither Label Studio nor
    Redis, and begins no assessment.
    """
    from worker.pool.without_pandas import keep_pandas_out

    keep_pandas_out()
    from worker.report.index import stem_of
    from worker.report.labelled import report_on
    from worker.report.page import write_report
    from worker.store.settings import read_settings

    settings = read_settings()
    plan = plan_of(plan, "assay assess", quiet_if(as_json), is_shown=False)
    report = report_on(plan, labels, use, settings.pools)
    stem = stem_of(report.assessment, datetime.fromisoformat(report.made_at))
    page = write_report(report, folder or settings.home / "assessed", stem)
    source = report.source
    assert source is not None, "it is made from labels"
    value = {
        "page": str(page),
        "json": str(page.with_suffix(".json")),
        "text": report.text,
        "labels_are": source.use,
        "labelled": source.labelled,
        "items": report.pool_items,
        "left_out": {"empty": source.empty, "elsewhere": source.elsewhere},
    }
    told = "\n".join((report.text, "", *source.text, "", f"Wrote {page}."))
    show(value, as_json, told, is_headed=True)
