"""The table of an assessment beside the one that it continues."""

from __future__ import annotations

from worker.report.contents import Report
from worker.report.tables import Column, Table


def then_and_now_table(report: Report) -> Table:
    """Every group then and now, those that changed first, then those that differ the most."""
    columns = (
        Column("Group", "then_and_now.groups.{0}.name", "text"),
        Column("Then", "then_and_now.groups.{0}.then_mean", "value"),
        Column("95% from", "then_and_now.groups.{0}.then_low", "value"),
        Column("95% to", "then_and_now.groups.{0}.then_high", "value"),
        Column("Now", "then_and_now.groups.{0}.now_mean", "value"),
        Column("95% from", "then_and_now.groups.{0}.now_low", "value"),
        Column("95% to", "then_and_now.groups.{0}.now_high", "value"),
        Column("Labels then", "then_and_now.groups.{0}.labels_then", "count"),
        Column("Labels now", "then_and_now.groups.{0}.labels_now", "count"),
        Column("Difference of the labels", "then_and_now.groups.{0}.difference", "value"),
        Column("95% from", "then_and_now.groups.{0}.difference_low", "value"),
        Column("95% to", "then_and_now.groups.{0}.difference_high", "value"),
        Column("Surprise (p)", "then_and_now.groups.{0}.p", "value"),
        Column("Still believed", "then_and_now.groups.{0}.believed", "share"),
        Column("Changed", "then_and_now.groups.{0}.is_changed", "yes"),
    )
    groups = report.then_and_now.groups if report.then_and_now else ()
    order = sorted(
        range(len(groups)),
        key=lambda g: (not groups[g].is_changed, -abs(groups[g].difference or 0.0)),
    )
    marked = frozenset((g,) for g in order if groups[g].is_changed)
    rows = [(g,) for g in order]
    return Table("then-and-now", "Then and now, group by group", columns, rows, marked)
