"""The tables of second opinions: what each says, what agreement meant, what each weighs."""

from __future__ import annotations

from worker.report.contents import Report
from worker.report.tables import Column, Table


def opinions_tables(report: Report) -> dict[str, Table]:
    """All opinions; the two sides of the classifiers among them; the weights of their terms."""
    told = report.opinions
    of = told.of if told is not None else ()
    every = Table(
        "opinions",
        "The opinions",
        (
            Column("Opinion", "opinions.of.{0}.name", "text"),
            Column("What it is", "opinions.of.{0}.kind", "text"),
            Column("Agrees on", "opinions.of.{0}.agrees", "share"),
            Column("Says nothing of", "opinions.of.{0}.silent", "count"),
        ),
        [(n,) for n in range(len(of))],
    )
    sides = Table(
        "opinions-sides",
        "Accuracy of the classifier where an opinion agrees, and where it does not",
        (
            Column("Opinion", "opinions.of.{0}.name", "text"),
            Column("Where", "opinions.of.{0}.sides.{1}.where", "text"),
            Column("Accuracy", "opinions.of.{0}.sides.{1}.accuracy.mean", "value"),
            Column("95% from", "opinions.of.{0}.sides.{1}.accuracy.low", "value"),
            Column("95% to", "opinions.of.{0}.sides.{1}.accuracy.high", "value"),
            Column("Items", "opinions.of.{0}.sides.{1}.items", "count"),
            Column("Labelled", "opinions.of.{0}.sides.{1}.labelled", "count"),
        ),
        [
            (n, m)
            for n, one in enumerate(of)
            for m, side in enumerate(one.sides)
            if side.accuracy is not None
        ],
    )
    weights = Table(
        "opinions-weights",
        "What is learnt: a weight, in logits of accuracy, for one standard deviation of what the "
        "opinion says (of a category: for being of it); the odds of being right are so many times "
        "as high then, at like scores",
        (
            Column("Opinion", "opinions.weights.{0}.opinion", "text"),
            Column("Term", "opinions.weights.{0}.term", "text"),
            Column("Weight", "opinions.weights.{0}.weight", "value"),
            Column("Odds, times", "opinions.weights.{0}.times", "value"),
        ),
        [(n,) for n in range(len(told.weights if told is not None else ()))],
    )
    return {"opinions": every, "opinions_sides": sides, "opinions_weights": weights}
