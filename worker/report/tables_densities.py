"""The tables of values and differences of which a report draws the densities."""

from __future__ import annotations

from worker.report.contents import Report
from worker.report.tables import Column, Table


def densities_tables(report: Report) -> dict[str, Table]:
    """One row a group; one row a difference."""
    told = report.densities
    numbers = (("Mean", "mean"), ("95% from", "low"), ("95% to", "high"))
    ece = Table(
        "eces",
        "Expected calibration error: mean and 95% interval",
        (
            Column("Group", "densities.ece.{0}.name", "text"),
            *(Column(head, f"densities.ece.{{0}}.{key}", "value") for head, key in numbers),
        ),
        [(n,) for n in range(len(told.ece if told else ()))],
    )
    within = f"within {told.epsilon:g}" if told and told.epsilon else "equal"
    chances = (("First is lower", "below"), (within, "within"), ("First is higher", "above"))
    at = "densities.differences.{0}."
    apart = Table(
        "apart",
        "The first less the second: mean, 95% interval, and probabilities",
        (
            Column("First", f"{at}first", "text"),
            Column("Second", f"{at}second", "text"),
            *(Column(head, f"{at}{key}", "value") for head, key in numbers),
            *(Column(head, f"{at}{key}", "share") for head, key in chances),
        ),
        [(n,) for n in range(len(told.differences if told else ()))],
    )
    return {"eces": ece, "apart": apart}
