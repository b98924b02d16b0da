"""Whether what a verdict says is true of the pool."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.belief import Belief, group_size
from worker.core.marginals import SLACK
from worker.core.posterior import interval, mean
from worker.core.ranking import mrr
from worker.core.stopping import Verdict

Floats = NDArray[np.float64]


def is_right(assessment: Assessment, verdict: Verdict, belief: Belief, truth: Floats) -> bool:
    """Whether the pool bears out what the verdict claims.

    identify: the reported ranking reaches the rule's mean reciprocal rank; a tied set is right.
    compare: every pair's true difference lies in the reported region.
    estimate: the true root mean squared error is within the target (rmse), or every group's true
    value is in its 95% interval (width).

    Args:
        belief: the one that the verdict is about.
        truth: (G,) every group's value on the whole pool (`truths.true_values`).
    """
    question, rule = assessment.question, assessment.rule
    if question.task == "identify":
        reached = mrr(
            verdict.ranking, truth[None], question.top, question.which, question.tolerance
        )
        return bool(reached[0] >= rule.target - SLACK)
    if question.task == "compare":
        return all(
            pair.region == true_region(truth[pair.g1] - truth[pair.g2], question.epsilon)
            for pair in verdict.pairs
        )
    sizes = group_size(belief)
    filled = np.flatnonzero(sizes)
    if rule.kind == "rmse":
        error = (mean(belief) - truth)[filled]
        share = sizes[filled] / sizes.sum()
        return bool(np.sqrt(share @ error**2) <= rule.target)
    low, high = interval(belief)[filled].T
    within = (low - SLACK <= truth[filled]) & (truth[filled] <= high + SLACK)
    return bool(within.all())


def true_region(difference: float, epsilon: float) -> str:
    """below, within or above: where a true difference lies; its bounds are within."""
    if difference < -epsilon - SLACK:
        return "below"
    return "above" if difference > epsilon + SLACK else "within"
