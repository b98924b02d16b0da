"""The confusion matrix: how the true classes share the items of each predicted class."""

from __future__ import annotations

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, by_true_class
from worker.metrics.words import words


def _meaning(cells: Cells) -> Meaning:
    # the groups are the predicted classes
    return by_true_class(cells, cells.group, Metric("confusion"))


def _mistakes(asked: Asked) -> list[tuple[str, str]]:
    if asked.task == "estimate":
        return []
    text = f"came confusion, a matrix for which the task {asked.task} has no order; use"
    cure = "`task: estimate`, or `metric: cost`, which sums the matrix up to one number"
    return [("metric", f"{text} {cure}")]


CONFUSION = MetricOfPlan(
    name="confusion",
    words=words(
        "accuracy", "rows of the confusion matrix", ("", ""), ("", "", ""),
        "confusion matrix", "How the true classes share the items of each predicted class.",
    ),
    meaning=_meaning,
    mistakes=_mistakes,
    of_true_classes=True,
    has_entries=True,
    groups="predicted_class",
    is_share=True,
    strata=1,  # as of costs
    strength=1.0,
)  # fmt: skip
