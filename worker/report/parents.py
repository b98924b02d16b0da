"""The groups' parents on a page: a table of all, and a section for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from worker.report.contents import Report
from worker.report.pictures import against_scores
from worker.report.pictures_svg import Picture
from worker.report.tables import Column, Table, as_html, sentence

MOST_SECTIONS = 60


@dataclass(frozen=True, slots=True)
class Section:
    """One parent: its groups, and its scores against accuracies if it has few enough siblings."""

    name: str
    children: Markup | None
    picture: Picture | None


def sections(report: Report, told: dict[str, Any]) -> list[Section]:
    """A section for each parent with more to say than its line of the table, but for very many."""
    made = []
    for p, family in enumerate(report.parents[:MOST_SECTIONS]):
        has_children = len(family.groups) > 1 or report.groups[family.groups[0]].name != family.name
        children = as_html(children_table(report, p), told) if has_children else None
        picture = None
        if family.reliability is not None and family.labelled:
            title = f"{family.name}: accuracy against score"
            picture = against_scores(family.reliability, f"calibration-{p}", title)
        if children is not None or picture is not None:
            made.append(Section(family.name, children, picture))
    return made


def parents_table(report: Report) -> Table:
    """The parents of the groups: accuracy, labels, and the calibration error where it is known."""
    ece = (
        Column("Calibration error", "parents.{0}.reliability.ece.mean", "value"),
        Column("95% from", "parents.{0}.reliability.ece.low", "value"),
        Column("95% to", "parents.{0}.reliability.ece.high", "value"),
    )
    columns = (
        Column(sentence(report.parents_are), "parents.{0}.name", "text"),
        Column("Accuracy", "parents.{0}.accuracy.mean", "value"),
        Column("95% from", "parents.{0}.accuracy.low", "value"),
        Column("95% to", "parents.{0}.accuracy.high", "value"),
        Column("Items", "parents.{0}.items", "count"),
        Column("Labelled", "parents.{0}.labelled", "count"),
        *(ece if all(one.reliability and one.reliability.ece for one in report.parents) else ()),
    )
    order = sorted(range(len(report.parents)), key=lambda p: report.parents[p].accuracy.mean)
    caption = f"Accuracy of every {report.parents_are or 'parent'}, the lowest first"
    return Table("parents", caption, columns, [(p,) for p in order])


def children_table(report: Report, parent: int) -> Table:
    """The groups of one parent."""
    columns = (
        Column("Group", "groups.{0}.name", "text"),
        Column(sentence(report.metric_name), "groups.{0}.mean", "value"),
        Column("95% from", "groups.{0}.low", "value"),
        Column("95% to", "groups.{0}.high", "value"),
        Column("Items", "groups.{0}.size", "count"),
        Column("Labelled", "groups.{0}.labelled", "count"),
    )
    family = report.parents[parent]
    marked = frozenset((g,) for g in family.groups if report.groups[g].is_chosen)
    rows = [(g,) for g in family.groups]
    return Table(f"children-{parent}", f"Groups of {family.name}", columns, rows, marked)
