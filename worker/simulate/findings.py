"""Whether what a verdict says is true of the pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.confidence_sequences.guarantee import alpha_split, ends
from worker.core.posterior.belief import Belief, group_share, group_size
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.summary import mean
from worker.core.questions.question import Question, StopRule
from worker.core.questions.reciprocal_rank import mrr
from worker.core.stopping.verdict import Verdict
from worker.simulate.truths import estimates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def is_right(assessment: Assessment, verdict: Verdict, belief: Belief, truth: Floats) -> bool:
    """Whether the pool bears out what the verdict claims.

    identify: the reported ranking reaches the rule's mean reciprocal rank, or the shortlist has the
    groups that are asked for in it; a tied set is right.
    compare: every pair's true difference lies in the reported region.
    estimate: the true root mean squared error is within the target (rmse), or every group's true
    value is in its 95% interval, or in its band that holds at any time (width; of a confusion
    matrix, its accuracy). Of the ECE of a pool, whose bins are the groups, it is the pool's that
    counts: its error, or its interval.

    Args:
        belief: the one that the verdict is about.
        truth: every group's value on the whole pool (`truths.true_values`).
    """
    question, rule = assessment.question, assessment.rule
    if belief.parts:
        return all(_of_models(assessment, verdict, belief, truth))
    if question.task == "identify":
        return _is_identified(question, rule, verdict.ranking, truth)
    if question.task == "compare":
        return all(
            pair.region == true_region(truth[pair.g1] - truth[pair.g2], question.epsilon)
            for pair in verdict.pairs
        )
    if rule.kind == "rmse":
        if belief.metric.pooled:
            in_all = float(np.nansum(group_share(belief) * truth))
            return pooled_error(belief, in_all) <= rule.target
        return rms_error(belief, truth) <= rule.target
    filled = np.flatnonzero(group_size(belief))
    values = (truth[:, 0] if truth.ndim > 1 else truth)[filled]
    if assessment.confidence_sequence is None:
        bounds = interval(belief)[filled]
    else:
        unknown = np.zeros_like(belief.size)  # a replay waits for every label
        of_task = alpha_split(belief, question, assessment.confidence_sequence.miss)
        bands = ends(belief, unknown, assessment.confidence_sequence, *of_task)
        bounds = np.stack([bands.low, bands.high], axis=1)[filled]
    if belief.metric.pooled:
        share = group_share(belief)[None, filled]
        values = share @ values
        bounds = share @ bounds if assessment.confidence_sequence else np.array([whole(belief)[1:]])
    within = (bounds[:, 0] - SLACK <= values) & (values <= bounds[:, 1] + SLACK)
    return bool(within.all())


def is_least_right(assessment: Assessment, verdict: Verdict, belief: Belief, truth: Floats) -> bool:
    """Whether that is so which the confidence is about: of models or pairs the least certain."""
    if belief.parts:
        return _of_models(assessment, verdict, belief, truth)[verdict.least]
    if verdict.pairs:
        pair = min(verdict.pairs, key=lambda pair: pair.confidence)
        difference = truth[pair.g1] - truth[pair.g2]
        return pair.region == true_region(difference, assessment.question.epsilon)
    return is_right(assessment, verdict, belief, truth)


def _of_models(
    assessment: Assessment, verdict: Verdict, belief: Belief, truth: Floats
) -> list[bool]:
    """Whether the reported ranking of each model's groups reaches the mean reciprocal rank."""
    ranking, is_so, begin = np.array(verdict.ranking), [], 0
    for part in belief.parts:
        end = begin + part.n_groups
        own = ranking[(ranking >= begin) & (ranking < end)] - begin
        is_so.append(_is_identified(assessment.question, assessment.rule, own, truth[begin:end]))
        begin = end
    return is_so


def _is_identified(
    question: Question, rule: StopRule, ranking: Sequence[int] | Ints, truth: Floats
) -> bool:
    if question.shortlist is not None:
        return is_among(ranking[: question.shortlist], ranking, truth, question)
    reached = mrr(ranking, truth[None], question.top, question.which, question.tolerance)
    return bool(reached[0] >= rule.target - SLACK)


def is_among(
    chosen: Sequence[int] | Ints,
    ranking: Sequence[int] | Ints,
    truth: Floats,
    question: Question,
) -> bool:
    """Whether the groups that are asked for are among the chosen ones; of tied ones any.

    Args:
        ranking: all groups with items.
    """
    values = truth if question.which == "lowest" else -truth
    rest = np.setdiff1d(np.asarray(ranking), np.asarray(chosen))
    if not rest.size:
        return True
    last = np.sort(values[np.asarray(chosen)])[question.top - 1]
    return bool(last <= values[rest].min() + question.tolerance + SLACK)


def rms_error(belief: Belief, truth: Floats) -> float:
    """sqrt(sum_g p_g (mean_g - truth_g)^2); of a confusion matrix summed over its entries."""
    filled = np.flatnonzero(group_size(belief))
    error = (estimates(belief) - truth)[filled].reshape(filled.size, -1)
    return float(np.sqrt(group_share(belief)[filled] @ (error**2).sum(axis=1)))


def pooled_error(belief: Belief, truth: float) -> float:
    """How far what is said of the whole pool is from its value."""
    if belief.metric.pooled:
        return abs(whole(belief)[0] - truth)
    return abs(float(np.nansum(group_share(belief) * mean(belief))) - truth)


def true_region(difference: float, epsilon: float) -> str:
    """below, within or above: where a true difference lies; its bounds are within."""
    if difference < -epsilon - SLACK:
        return "below"
    return "above" if difference > epsilon + SLACK else "within"
