"""The expected calibration error: of each group, or of a pool whose groups are its score bins."""

from __future__ import annotations

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Asked, Cells, Meaning, MetricOfPlan, right_or_wrong
from worker.metrics.words import words


def _meaning(cells: Cells) -> Meaning:
    metric = Metric("ece", score=cells.mean_score, unit=cells.unit, pooled=cells.pooled)
    return right_or_wrong(cells, metric)


def _mistakes(asked: Asked) -> list[tuple[str, str]]:
    if asked.which != "lowest" or asked.task != "identify":
        return []
    text = "came lowest; which group is calibrated best, labels hardly tell: errors near 0"
    cure = "differ less than their intervals (at 95% sure, 60% of answers were right); use"
    return [("which", f"{text} {cure} highest, or `task: estimate`")]


ECE = MetricOfPlan(
    name="ece",
    words=words(
        "calibration error", "calibration errors", ("best calibrated", "worst calibrated"),
        ("better calibrated", "equally well calibrated", "worse calibrated"),
        "expected calibration error",
        "The mean distance of score and accuracy over bins of the score, weighted by the bins' "
        "shares of the pool (ECE).",
    ),
    meaning=_meaning,
    keys=("bins",),
    mistakes=_mistakes,
    worst_is_highest=True,
    best_is_open=True,
    needs_scores=True,
    bins=10,
    # Half of a pool may lie in the last bin, where items of score .91 are wrong 25 times as often
    # as those of .999 (CIFAR-100: 25% and 1%).
    strata=4,
)  # fmt: skip
