"""The tables of a page: every number with the place in the report's JSON that it comes from."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from worker.formats import counted, found, plain, sentence, shown
from worker.report.contents import Report
from worker.report.pictures_groups import sorted_groups

_MOST_CELLS = 400
_MOST_POINTS = 40


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, the path of its values in the JSON, and how they look.

    path: with {0}, {1} for the numbers of the row; kind: one of `formats.KINDS`.
    """

    head: str
    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a report, as numbers that complete the columns' paths; the first heads its row."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[int, ...]]
    marked: frozenset[tuple[int, ...]] = frozenset()  # rows of the chosen groups


def as_html(table: Table, told: dict[str, Any]) -> Markup:
    """The table in a frame that scrolls by itself, so that the page never does so sideways."""
    heads = "".join(
        f'<th scope=col class="{_side(c)}" data-of="{c.path}" data-as={c.kind}>{c.head}'
        for c in table.columns
    )
    rows = "".join(_row(table, row, told) for row in table.rows)
    return Markup(
        f'<div class=scroll tabindex=0 role=region aria-labelledby="{table.name}-caption">'
        f'<table id="{table.name}-table"><caption id="{table.name}-caption">'
        f"{html.escape(plain(table.caption))}</caption>"
        f"<thead><tr>{heads}</thead><tbody>{rows}</tbody></table></div>"
    )


def _row(table: Table, row: tuple[int, ...], told: dict[str, Any]) -> str:
    cells = [html.escape(shown(found(told, c.path.format(*row)), c.kind)) for c in table.columns]
    mark = " class=chosen" if row in table.marked else ""
    numbers = "".join(
        f"<td{' class=w' if c.kind in ('text', 'votes') else ''}>{cell}"
        for c, cell in zip(table.columns[1:], cells[1:], strict=True)
    )
    chosen = "<span class=unseen> (chosen)</span>" if mark else ""
    head = f"<th scope=row><bdi>{cells[0]}</bdi>{chosen}"
    return f"<tr data-row={','.join(map(str, row))}{mark}>{head}{numbers}"


def _side(column: Column) -> str:
    return "w" if column.kind in ("text", "votes", "when") else "n"


def progress_table(report: Report) -> Table:
    """The points of the progress."""
    kind = "sure" if report.progress_is_share else "error"
    return Table(
        "progress",
        "Progress after so many labels",
        (
            Column("Labels", "progress.{0}.labels", "count"),
            Column(sentence(report.progress_name), "progress.{0}.reached", kind),
            Column("Finding at that point", "progress.{0}.finding", "text"),
        ),
        _count(report.progress),
    )


def group_tables(report: Report) -> dict[str, Table]:
    """Three tables of all groups: values, labels, ranks; in the order of the pictures."""
    place = {id(group): n for n, group in enumerate(report.groups)}
    filled = [(place[id(group)],) for group in sorted_groups(report)]
    rows = [*filled, *((n,) for n, group in enumerate(report.groups) if group.mean is None)]
    marked = frozenset((n,) for n, group in enumerate(report.groups) if group.is_chosen)
    name = Column("Group", "groups.{0}.name", "text")
    bands = (
        (
            Column("band from", "groups.{0}.band_low", "value"),
            Column("band to", "groups.{0}.band_high", "value"),
        )
        if any(group.band_low is not None for group in report.groups)
        else ()
    )
    values = (
        Column("Mean", "groups.{0}.mean", "value"),
        Column("95% from", "groups.{0}.low", "value"),
        Column("95% to", "groups.{0}.high", "value"),
        *bands,
    )
    labels = (
        Column("Items", "groups.{0}.size", "count"),
        Column("Share of pool", "groups.{0}.share", "share"),
        Column("Labelled", "groups.{0}.labelled", "count"),
        Column(
            "of these right" if report.evaluation is None else "predicted class leads",
            "groups.{0}.right",
            "count",
        ),
    )
    chances = (
        Column(f"P({end})", f"groups.{{0}}.p_{end}", "share")
        for end in ("lowest", "highest")
        if any(getattr(group, f"p_{end}") is not None for group in report.groups)
    )
    ranks = (
        *chances,
        Column("Median rank", "groups.{0}.rank", "count"),
        Column("95% from", "groups.{0}.rank_low", "count"),
        Column("95% to", "groups.{0}.rank_high", "count"),
    )
    captions = {
        "values": f"{sentence(report.metric_name)} of every group: mean and 95% interval",
        "labels": "Items and labels of every group",
        "ranks": f"Where every group's {report.metric_name} stands; rank 1 is the lowest",
    }
    columns = {"values": values, "labels": labels, "ranks": ranks}
    return {key: Table(key, captions[key], (name, *columns[key]), rows, marked) for key in columns}


def calibration_table(report: Report) -> Table:
    """The bins of scores."""
    columns = (
        Column("Mean score", "reliability.bins.{0}.score", "value"),
        Column("Accuracy", "reliability.bins.{0}.accuracy", "value"),
        Column("95% from", "reliability.bins.{0}.low", "value"),
        Column("95% to", "reliability.bins.{0}.high", "value"),
        Column("Items", "reliability.bins.{0}.items", "count"),
        Column("Labelled", "reliability.bins.{0}.labelled", "count"),
    )
    bins = report.reliability.bins if report.reliability else ()
    return Table("calibration", "Accuracy in bins of the score", columns, _count(bins))


def curve_table(report: Report) -> Table:
    """The smooth curve; of more points every fourth."""
    columns = (
        Column("Score", "reliability.curve.{0}.score", "value"),
        Column("Accuracy", "reliability.curve.{0}.accuracy", "value"),
        Column("95% from", "reliability.curve.{0}.low", "value"),
        Column("95% to", "reliability.curve.{0}.high", "value"),
    )
    points = report.reliability.curve if report.reliability else ()
    rows = _count(points)[:: 4 if len(points) > _MOST_POINTS else 1]
    return Table("curve", "Accuracy about a score, smoothed", columns, rows)


def pairs_table(report: Report) -> Table:
    """The pairs, the least sure first."""
    columns = (
        Column("First", "pairs.{0}.first", "text"),
        Column("Second", "pairs.{0}.second", "text"),
        Column("First is lower", "pairs.{0}.below", "share"),
        Column("Within", "pairs.{0}.within", "share"),
        Column("First is higher", "pairs.{0}.above", "share"),
    )
    n, of_all = len(report.pairs), counted(report.n_pairs, "pair")
    some = (
        f"the {n} least sure of {of_all}" if n < report.n_pairs else f"{of_all}, least sure first"
    )
    return Table("pairs", f"Probabilities of {some}", columns, _count(report.pairs))


def confusion_table(report: Report) -> Table:
    """The cells of the confusion matrix, the largest errors first; of many, only the largest."""
    columns = (
        Column("Predicted", "confusion.classes.{0}", "text"),
        Column("True class", "confusion.classes.{1}", "text"),
        Column("Share", "confusion.mean.{0}.{1}", "share"),
        Column("95% from", "confusion.low.{0}.{1}", "share"),
        Column("95% to", "confusion.high.{0}.{1}", "share"),
    )
    mean = report.confusion.mean if report.confusion else ()
    cells = [(j, k) for j, row in enumerate(mean) for k, cell in enumerate(row) if cell is not None]
    cells.sort(key=lambda at: (at[0] == at[1], -(mean[at[0]][at[1]] or 0.0)))
    caption = "Shares of the true classes among the items of a predicted one; errors first"
    if len(cells) > _MOST_CELLS:
        caption = f"The {_MOST_CELLS} largest errors; the JSON file has all {len(cells):,} shares"
    return Table("confusion", caption, columns, cells[:_MOST_CELLS])


def moved_table(report: Report) -> Table:
    """The groups whose means moved since the last report."""
    columns = (
        Column("Group", "changes.moved.{0}.name", "text"),
        Column("was", "changes.moved.{0}.was", "value"),
        Column("is now", "changes.moved.{0}.now", "value"),
    )
    moved = report.changes.moved if report.changes else ()
    return Table("moved", "Groups whose mean moved the most", columns, _count(moved))


def rejected_table(report: Report) -> Table:
    """The annotations that could not be read."""
    columns = (
        Column("Annotation", "rejected.{0}.annotation", "text"),
        Column("Why it does not count", "rejected.{0}.reason", "text"),
    )
    return Table("rejected", "Rejected annotations", columns, _count(report.rejected))


def _count(things: Sequence[object]) -> list[tuple[int, ...]]:
    return [(n,) for n in range(len(things))]
