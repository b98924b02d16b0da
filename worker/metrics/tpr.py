"""The true positive rate: of the items that truly are positive, the share that is found."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, whatever_predicted
from worker.metrics.words import Words


def _meaning(cells: Cells) -> Meaning:
    assert cells.positive is not None, "a plan for the metric tpr names the positive class"
    k = len(cells.classes)
    kind = whatever_predicted(k, np.where(np.arange(k + 1) == cells.positive, 0, 1))
    can_miss = cells.unit == 0  # predicted another class than the positive one
    n_classes = np.stack([can_miss, np.where(can_miss, k - 2, k - 1)], axis=1).astype(np.int64)
    share = None
    if cells.mean_probability is not None:
        missed = np.where(can_miss, cells.mean_probability[:, cells.positive], 0.0)
        # the rest but for the predicted class, whose probability is the score
        others = np.maximum(1 - cells.mean_score - missed, 0.0)
        share = np.stack([missed, others], axis=1)
    return Meaning(Metric("tpr", unit=cells.unit), kind, n_classes, share)


def _mistakes(asked: Asked) -> list[tuple[str, str]]:
    if asked.positive is not None:
        return []
    return [("positive", "missing; name the class whose rate is meant")]


TPR = MetricOfPlan(
    name="tpr",
    words=Words(
        "true positive rate", "true positive rates",
        "{} with the lowest true positive rate", "{} with the highest true positive rate",
        "{0} has a lower true positive rate than {1} by more than {2:g}",
        "{0} and {1} have the same true positive rate to within {2:g}",
        "{0} has a higher true positive rate than {1} by more than {2:g}",
        "true positive rate", "Of the items that truly are positive, the share that is found.",
    ),
    meaning=_meaning,
    keys=("positive",),
    mistakes=_mistakes,
    best_is_open=True,
    of_true_classes=True,
    groups="attribute",
    is_share=True,
    is_summed=False,
)  # fmt: skip
