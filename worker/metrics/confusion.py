"""The confusion matrix: how the true classes share the items of each predicted class."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, summed
from worker.metrics.words import words


def _meaning(cells: Cells) -> Meaning:
    k, predicted = len(cells.classes), cells.group  # the groups are the predicted classes
    kind = np.tile(np.arange(k + 1), (k, 1))
    np.fill_diagonal(kind, -1)
    classes = np.stack([(kind[:, :k] == j).sum(axis=1) for j in range(k)], axis=1)
    share = summed(cells.mean_probability, kind[predicted, :k], k)
    return Meaning(Metric("confusion"), kind, classes[predicted], share)


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
