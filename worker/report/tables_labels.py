"""The tables of other metrics that a file of labels tells: of the whole pool, and of the groups."""

from __future__ import annotations

from worker.formats import sentence
from worker.report.contents import Report
from worker.report.tables import Column, Table


def metrics_tables(report: Report) -> dict[str, Table]:
    """One row a metric; one row a group, with all metrics beside each other."""
    found = () if report.source is None else report.source.metrics
    whole = Table(
        "metrics",
        "The whole pool: every metric that these labels tell",
        (
            Column("Metric", "source.metrics.{0}.name", "text"),
            Column("Value", "source.metrics.{0}.overall.mean", "value"),
            Column("95% from", "source.metrics.{0}.overall.low", "value"),
            Column("95% to", "source.metrics.{0}.overall.high", "value"),
        ),
        [(n,) for n, one in enumerate(found) if one.overall is not None],
    )
    told = [(n, one) for n, one in enumerate(found) if one.groups]
    columns = [Column("Group", "groups.{0}.name", "text")]
    for n, one in told:
        at = f"source.metrics.{n}.groups.{{0}}"
        columns += (
            Column(sentence(one.name), f"{at}.mean", "value"),
            Column("from", f"{at}.low", "value"),
            Column("to", f"{at}.high", "value"),
        )
    rows = [(g,) for g, group in enumerate(report.groups) if group.mean is not None]
    caption = "Every group: mean and 95% interval of every metric that these labels tell"
    marked = frozenset((g,) for g, group in enumerate(report.groups) if group.is_chosen)
    of_groups = Table("metrics-groups", caption, tuple(columns), rows if told else [], marked)
    return {"metrics": whole, "metrics_groups": of_groups}
