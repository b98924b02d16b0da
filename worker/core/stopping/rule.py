"""Whether enough is known, and what is then reported."""

from dataclasses import dataclass, replace

import numpy as np

from worker.core.confidence_sequences.guarantee import (
    ConfidenceSequence,
    alpha_split,
    differences,
    ends,
    is_identified,
    region_of,
    width,
)
from worker.core.posterior.belief import (
    Belief,
    Counts,
    by_group,
    group_labelled,
    group_size,
    unlabelled,
)
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.mixing import mixed
from worker.core.questions.comparison import pairs_asked, regions
from worker.core.questions.question import TASK_OF_RULE, Question, StopRule
from worker.core.questions.ranking import ranking
from worker.core.questions.reciprocal_rank import mrr_confidence
from worker.core.questions.rewards import squared_error
from worker.core.stopping.pairs import NO_PAIRS, PairVerdicts
from worker.core.stopping.refuting import confidence_of_set, is_far_from_holding
from worker.core.stopping.verdict import Reason, Verdict


@dataclass(frozen=True, slots=True)
class _Report:
    """What is known of the question, and whether that satisfies the rule."""

    holds: bool
    groups: tuple[int, ...]
    confidence: float | None = None
    value: float | None = None
    ranking: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    pairs: PairVerdicts = NO_PAIRS


def decide(
    b: Belief,
    question: Question,
    rule: StopRule,
    spent: int,
    left: int,
    rng: np.random.Generator | None = None,
    sequence: ConfidenceSequence | None = None,
    unknown: Counts | None = None,
    bound_suffices: bool = False,
    beforehand: Counts | None = None,
) -> Verdict:
    """Stop or go on, by the labels alone.

    The reason of a stop is the first of: "exhausted" if all items that matter are labelled and none
    are left; "answered" if the rule holds and there is a label at all; "exhausted" if none are left
    and none pending, though some stay unlabelled; "budget" if it is spent. The last two are
    inconclusive.

    Args:
        spent: labelled items.
        left: items that can still be claimed or are pending, and whose labels would tell something.
        rng: for the one inexact rule (see `mrr_confidence`). Without it the draws are always the
            same, so that the same tally gives the same decision.
        sequence: with it the rule holds only where the claim is true of all that is not ruled out
            at any time (`confidence_sequences`); the posterior is reported, but does not decide.
        unknown: (C,) claimed items without an outcome, for the sequence; None: there are none.
        bound_suffices: while the question is open and a bound says that the rule does not hold, the
            confidence is not worked out (None): it takes ten times as long.
        beforehand: (C,) items whose outcome was known before the first label; None: there are none.
            They are no labels of the rule's `min_per_group`.

    Raises:
        ValueError: the rule is of another task than the question, has another epsilon, or the
            question does not fit the groups.
    """
    if TASK_OF_RULE[rule.kind] != question.task:
        known = ", ".join(kind for kind, task in TASK_OF_RULE.items() if task == question.task)
        raise ValueError(
            f"the stop rule {rule.kind} does not fit the task {question.task}; use {known}."
        )
    if not group_size(b).any():
        raise ValueError("the pool has no items, so there is nothing to decide; check the pool.")
    if question.task == "identify":
        report = _identify(b, question, rule, rng, bound_suffices)
    elif question.task == "compare":
        report = _compare(b, question, rule)
    else:
        report = _estimate(b, rule)
    if sequence is not None:
        nothing = np.zeros(b.group.size, dtype=np.int64)
        report = _under_sequence(
            b, question, rule, report, sequence, nothing if unknown is None else unknown
        )

    is_open = bool(by_group(b, unlabelled(b))[list(report.groups)].any())
    if b.metric.classes == "each":  # of which any item may be
        is_open = bool(unlabelled(b).any())
    if b.accuracies is not None:  # where all models agree labels tell nothing of which is best
        is_open = b.accuracies.is_open
    # Nor is it ever certain what all people would say of an item.
    is_known = b.population == "finite" and not b.variants and b.soft_labels is None
    certain = is_known and not is_open
    reason: Reason = "open"
    if certain and left == 0:
        reason = "exhausted"
    elif report.holds and _are_enough(b, rule, report, beforehand):
        reason = "answered"
    elif left == 0:
        reason = "exhausted"
    elif rule.budget is not None and spent >= rule.budget:
        reason = "budget"
    if bound_suffices and reason != "open" and question.task == "identify":
        report = _identify(b, question, rule, rng, bound_suffices=False)
    return Verdict(
        stop=reason != "open",
        reason=reason,
        certain=certain,
        confidence=report.confidence,
        value=report.value,
        ranking=report.ranking,
        chosen=report.chosen,
        pairs=report.pairs,
        labels=spent,
    )


def _are_enough(b: Belief, rule: StopRule, report: _Report, beforehand: Counts | None) -> bool:
    """Whether there is a label at all, and every group in question has its least number."""
    labels = group_labelled(b)
    known = np.zeros_like(labels) if beforehand is None else by_group(b, beforehand)
    least = np.minimum(rule.min_per_group + known, group_size(b))
    return bool(labels.any()) and bool((labels >= least)[list(report.groups)].all())


def _identify(
    b: Belief,
    question: Question,
    rule: StopRule,
    rng: np.random.Generator | None,
    bound_suffices: bool,
) -> _Report:
    order = ranking(b, question.which)
    if question.n_named > order.size:
        raise ValueError(
            f"the question asks for {question.n_named} groups, but only {order.size} have items; "
            "ask for fewer."
        )
    ranked = tuple(order.tolist())
    chosen = ranked[: question.n_named]
    if bound_suffices and is_far_from_holding(b, question, rule):
        return _Report(False, ranked, ranking=ranked, chosen=chosen)
    if question.shortlist is not None:
        confidence = float(mixed(b, lambda of: np.array(confidence_of_set(of, chosen, question))))
    else:
        confidence = mrr_confidence(
            b,
            order,
            question.top,
            question.which,
            rule.target,
            question.tolerance,
            np.random.default_rng(0) if rng is None else rng,
        )
    return _Report(
        holds=_reaches(confidence, rule),
        groups=ranked,
        confidence=confidence,
        ranking=ranked,
        chosen=chosen,
    )


def _compare(b: Belief, question: Question, rule: StopRule) -> _Report:
    if rule.target != question.epsilon:
        raise ValueError(
            f"the rule's epsilon is {rule.target}, the question's {question.epsilon}; "
            "they are the same thing, so set both to one number."
        )
    pairs = pairs_asked(b, question)
    found = regions(b, pairs, question.epsilon)
    groups = np.array(pairs, dtype=np.intp)
    least = float(found.max(axis=1).min())
    return _Report(
        holds=_reaches(least, rule),
        groups=tuple(np.unique(groups).tolist()),
        confidence=least,
        value=least,
        pairs=PairVerdicts(groups, found, found.argmax(axis=1)),
    )


def _estimate(b: Belief, rule: StopRule) -> _Report:
    sizes = group_size(b)
    filled = np.flatnonzero(sizes)
    if rule.kind == "rmse":
        value = float(np.sqrt(squared_error(b)))
    elif b.metric.pooled:
        _, low, high = whole(b)
        value = high - low
    else:
        value = float(np.diff(interval(b)[filled]).max())
    return _Report(holds=value <= rule.target, groups=tuple(filled.tolist()), value=value)


def _under_sequence(
    b: Belief,
    question: Question,
    rule: StopRule,
    report: _Report,
    sequence: ConfidenceSequence,
    unknown: Counts,
) -> _Report:
    """The report with a rule that holds by the bands and not by the posterior."""
    if question.task == "compare":
        pairs = report.pairs
        intervals = differences(b, unknown, sequence, pairs.groups, sequence.miss / len(pairs))
        found = [region_of(low, high, question.epsilon) for low, high in intervals.tolist()]
        region = [
            likeliest if at is None else at
            for at, likeliest in zip(found, pairs.region, strict=True)
        ]
        pairs = replace(pairs, region=np.array(region, dtype=np.intp))
        return replace(report, holds=None not in found, pairs=pairs)
    bands = ends(b, unknown, sequence, *alpha_split(b, question, sequence.miss))
    if question.task == "identify":
        holds = is_identified(b, bands, report.chosen, question)
        return replace(report, holds=holds)
    widest = width(b, bands)
    return replace(report, holds=widest <= rule.target, value=widest)


def _reaches(confidence: float, rule: StopRule) -> bool:
    # A certainty of 1 may be summed up to 1 - 1e-15.
    return rule.confidence is not None and confidence >= rule.confidence - 1e-12
