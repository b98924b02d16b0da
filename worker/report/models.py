"""The tables of several models: their differences, or each one's own groups."""

from __future__ import annotations

from worker.report.contents import Report
from worker.report.tables import Column, Table


def models_tables(report: Report) -> dict[str, Table]:
    """Differences of two models, overall and by group; each model's own groups; the best model."""
    told = report.models or {"differences": [], "groups": []}
    differences = Table(
        "differences",
        "How much more accurate the first model is than the second",
        (
            Column("First", "models.differences.{0}.first", "text"),
            Column("Second", "models.differences.{0}.second", "text"),
            Column("In", "models.differences.{0}.group", "text"),
            Column("Mean", "models.differences.{0}.mean", "value"),
            Column("95% from", "models.differences.{0}.low", "value"),
            Column("95% to", "models.differences.{0}.high", "value"),
            Column("P(second better)", "models.differences.{0}.below", "sure"),
            Column("P(equivalent)", "models.differences.{0}.within", "sure"),
            Column("P(first better)", "models.differences.{0}.above", "sure"),
            Column("Items", "models.differences.{0}.size", "count"),
            Column("they disagree on", "models.differences.{0}.disagreed", "count"),
            Column("Labelled", "models.differences.{0}.labelled", "count"),
            Column("first right", "models.differences.{0}.first_right", "count"),
            Column("second right", "models.differences.{0}.second_right", "count"),
        ),
        [(n,) for n in range(len(told["differences"]))],
    )
    groups = Table(
        "own-groups",
        "Each model's accuracy in its own groups",
        (
            Column("Model", "models.groups.{0}.model", "text"),
            Column("Group", "models.groups.{0}.group", "text"),
            Column("Mean", "models.groups.{0}.mean", "value"),
            Column("95% from", "models.groups.{0}.low", "value"),
            Column("95% to", "models.groups.{0}.high", "value"),
            Column("Items", "models.groups.{0}.size", "count"),
            Column("Labelled", "models.groups.{0}.labelled", "count"),
            Column("of these right", "models.groups.{0}.right", "count"),
        ),
        [(n,) for n in range(len(told["groups"]))],
        frozenset((n,) for n, row in enumerate(told["groups"]) if row["is_chosen"]),
    )
    best = Table(
        "best-model",
        "How far each model is behind the first",
        (
            Column("Model", "models.best.{0}.model", "text"),
            Column("Behind", "models.best.{0}.behind", "value"),
            Column("95% from", "models.best.{0}.low", "value"),
            Column("95% to", "models.best.{0}.high", "value"),
            Column("P(none is better)", "models.best.{0}.p_best", "sure"),
        ),
        [(n,) for n in range(len(told.get("best", ())))],
        frozenset((n,) for n, row in enumerate(told.get("best", ())) if row["is_chosen"]),
    )
    pairs = Table(
        "model-pairs",
        "How much more accurate each model is than each one after it",
        (
            Column("First", "models.pairs.{0}.first", "text"),
            Column("Second", "models.pairs.{0}.second", "text"),
            Column("Mean", "models.pairs.{0}.mean", "value"),
            Column("95% from", "models.pairs.{0}.low", "value"),
            Column("95% to", "models.pairs.{0}.high", "value"),
        ),
        [(n,) for n in range(len(told.get("pairs", ())))],
    )
    return {
        "differences": differences, "own_groups": groups, "best_model": best, "model_pairs": pairs,
    }  # fmt: skip
