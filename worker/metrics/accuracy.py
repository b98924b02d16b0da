"""Accuracy: the share of right answers."""

from __future__ import annotations

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Cells, Meaning, MetricOfPlan, right_or_wrong
from worker.metrics.words import words


def _meaning(cells: Cells) -> Meaning:
    return right_or_wrong(cells, Metric())


ACCURACY = MetricOfPlan(
    name="accuracy",
    words=words(
        "accuracy", "accuracies", ("least accurate", "most accurate"),
        ("less accurate", "equally accurate", "more accurate"),
    ),
    meaning=_meaning,
    is_share=True,
)  # fmt: skip
