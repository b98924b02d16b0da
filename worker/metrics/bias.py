"""Bias: the mean score less the accuracy."""

from __future__ import annotations

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Cells, Meaning, MetricOfPlan, right_or_wrong
from worker.metrics.words import words


def _meaning(cells: Cells) -> Meaning:
    return right_or_wrong(cells, Metric("bias", score=cells.mean_score))


BIAS = MetricOfPlan(
    name="bias",
    words=words(
        "overconfidence", "overconfidences", ("least overconfident", "most overconfident"),
        ("less overconfident", "equally overconfident", "more overconfident"),
        "overconfidence",
        "Mean score less accuracy: above 0 the classifier claims more than it keeps.",
    ),
    meaning=_meaning,
    worst_is_highest=True,
    needs_scores=True,
    range=(-1.0, 1.0),
)  # fmt: skip
