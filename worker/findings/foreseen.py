"""About how many labels more it takes, and how many can be had."""

from __future__ import annotations

from worker.assessment import Assessment
from worker.assessment.queueing import pending_cells, unclaimed_cells
from worker.core.posterior.belief import Belief
from worker.core.stopping.foreseeing import labels_missing
from worker.core.stopping.verdict import Verdict
from worker.metrics import METRICS
from worker.store import State


def labels_more(work: Assessment, belief: Belief, verdict: Verdict) -> list[float] | None:
    """About how many labels are missing, and from and to how many perhaps: [low, middle, high].

    A claim has to hold at several looks running, each 10% of labels after the last; it comes half
    of that before the first one, on average; an estimate is enough at the next look. None where
    `labels_missing` has none, for `guarantee: anytime`, whose bands close at no foreseeable moment,
    for several models, which share labels, for groups within parents, which took two to six times
    as many, and for a judge's rates, where the range had the stop in 3 of 15 runs.
    """
    if work.confidence_sequence is not None or work.several is not None:
        return None
    if work.pool.parents is not None or work.best_model is not None:
        return None
    if METRICS[work.plan.question.metric].judge_says is not None:
        return None
    missing = labels_missing(belief, work.question, work.rule, verdict)
    if missing is None:
        return None
    looks = (1.1 ** max(0.0, work.plan.stop.looks - 1.5),) * 3
    if work.rule.confidence is None:
        looks = 1.0, 1.05, 1.1
    n = verdict.labels
    return [max(1.0, times * (n + more) - n) for times, more in zip(looks, missing, strict=True)]


def to_be_had(work: Assessment, state: State) -> int:
    """Items that can still get a label that tells something: never claimed, or open."""
    return work.n_helpful(unclaimed_cells(work, state) + pending_cells(work, state))


def within_budget(work: Assessment, verdict: Verdict, left: int) -> int:
    """How many of the labels that can be had the budget leaves."""
    budget = work.rule.budget
    return left if budget is None else max(0, min(left, budget - verdict.labels))
