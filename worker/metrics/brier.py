"""The Brier score: the mean squared error of the predicted class's score, as a probability."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.metrics import Metric
from worker.metrics.kind import Cells, Meaning, MetricOfPlan, right_or_wrong
from worker.metrics.words import Words


def _meaning(cells: Cells) -> Meaning:
    """An item's score counts as the mean score of its cell.

    Source:
        Brier, "Verification of forecasts expressed in terms of probability" (1950), of whether the
        answer is right. Stephenson, Coelho & Jolliffe, "Two extra components in the Brier score
        decomposition" (2008): scores that are binned leave out their variance within the bins, and
        twice its covariance with the outcomes; of bins a twentieth wide some .0002.
    """
    score = cells.mean_score
    return right_or_wrong(cells, Metric("linear", values=np.stack([(1 - score) ** 2, score**2], 1)))


BRIER = MetricOfPlan(
    name="brier",
    words=Words(
        "Brier score", "Brier scores",
        "{} with the lowest Brier score", "{} with the highest Brier score",
        "{0} has a lower Brier score than {1} by more than {2:g}",
        "{0} and {1} have the same Brier score to within {2:g}",
        "{0} has a higher Brier score than {1} by more than {2:g}",
        "Brier score",
        "The mean squared distance of the score from what came: 1 if the answer is right, else 0. "
        "A score counts as the mean of its bin.",
    ),
    meaning=_meaning,
    keys=("bins",),
    worst_is_highest=True,
    needs_scores=True,
    bins=20,
    strata=4,  # as of the ECE
)  # fmt: skip
