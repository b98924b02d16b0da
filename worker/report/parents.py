"""Sites and parents on a page: a table of all, and a section for each."""

from __future__ import annotations

from dataclasses import dataclass

from worker.formats import sentence
from worker.report.contents import Report
from worker.report.pictures import against_scores
from worker.report.pictures_svg import Picture
from worker.report.tables import Column, Table


@dataclass(frozen=True, slots=True)
class Section:
    """One parent: its scores against accuracies."""

    name: str
    picture: Picture


def sections(report: Report) -> list[Section]:
    """A section for each parent with scores and labels."""
    made = []
    for p, family in enumerate(report.parents):
        if family.reliability is not None and family.labelled:
            title = f"{family.name}: accuracy against score"
            picture = against_scores(family.reliability, f"calibration-{p}", title)
            made.append(Section(family.name, picture))
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
