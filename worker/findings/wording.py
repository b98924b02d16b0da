"""What was found out, in words: one sentence for every task and metric, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.summary import mean
from worker.core.stopping.pairs import PairVerdict
from worker.core.stopping.shortlist import Shortlist
from worker.core.stopping.verdict import Verdict
from worker.findings.claims import (
    extreme_among,
    extreme_claim,
    how_sure,
    miss_text,
    sure_text,
    wrong_at_most,
)
from worker.findings.model_comparison import finding_of_models
from worker.formats import counted, error
from worker.metrics import Words


def finding(assessment: Assessment, belief: Belief, verdict: Verdict) -> str:
    """Say what was found out, in one sentence that holds whether or not the rule is met."""
    if assessment.several is not None:
        rule, noun = assessment.rule, noun_of(assessment)
        found = finding_of_models(assessment.several, belief, verdict, rule, noun)
        return found if assessment.several.asked else found + _sure(assessment, verdict)
    names, question = assessment.group_names, assessment.question
    words = assessment.plan.words
    if question.task == "identify":
        ranked = [names[g] for g in verdict.ranking]
        is_guarded = assessment.confidence_sequence is not None
        found = extreme_claim(
            ranked, noun_of(assessment), words, question, assessment.rule, is_guarded
        )
        return found + _sure(assessment, verdict)
    if question.task == "compare":
        said = [_of_pair(words, names, pair, question.epsilon) for pair in verdict.pairs[:3]]
        n_more = len(verdict.pairs) - 3
        more = f", and {counted(n_more, 'more pair')}" if n_more > 0 else ""
        return "; ".join(said) + more + _sure(assessment, verdict)
    value = verdict.value if verdict.value is not None else float("nan")
    asked = f"{error(value)} (asked for: {assessment.rule.target:g})"
    held = (
        "95% interval"
        if assessment.confidence_sequence is None
        else "95% band that holds at any time"
    )
    if belief.soft_labels is not None:
        middle, low, high = whole(belief)
        level = f"{100 * belief.metric.level:g}% HPDI"
        return (
            f"the mean {words.name} between predictions and people's votes is {middle:.4f} "
            f"({level} {low:.4f} to {high:.4f}); the width of the interval is {asked}"
        )
    if assessment.meaning.metric.pooled:
        middle, low, high = whole(belief)
        ece = f"the pool's expected calibration error is {middle:.4f} ({low:.4f} to {high:.4f})"
        if assessment.rule.kind == "rmse":
            return f"{ece}, with an expected error of {asked}"
        return f"{ece}; the width of its {held} is {asked}"
    if _kinds(assessment) == ["all_items"]:
        middle, (low, high) = mean(belief)[0], interval(belief)[0]
        told = f"the {words.name} of all items is {middle:.4f} ({low:.4f} to {high:.4f})"
        if assessment.rule.kind == "rmse":
            return f"{told}, with an expected error of {asked}"
        return f"{told}; the width of its {held} is {asked}"
    if assessment.rule.kind == "rmse":
        return f"the expected root mean squared error of the groups' {words.names} is {asked}"
    return f"the widest {held} of a group's {words.name} is {asked}"


def noun_of(assessment: Assessment) -> str:
    """What is asked about: "class", or "group" also where it is the classes' parents."""
    if assessment.best_model is not None:
        return "model"
    is_class = _kinds(assessment) == ["predicted_class"]
    return "class" if is_class and assessment.plan.question.level is None else "group"


def _kinds(assessment: Assessment) -> list[str]:
    """Of the factors by which the pool is grouped."""
    return [factor.kind for factor in assessment.plan.pool.factors]


def _of_pair(words: Words, names: Sequence[str], pair: PairVerdict, epsilon: float) -> str:
    form = {"below": words.below, "within": words.within, "above": words.above}[pair.region]
    return form.format(names[pair.g1], names[pair.g2], epsilon)


def headline(
    assessment: Assessment, belief: Belief, verdict: Verdict, among: Sequence[Shortlist] = ()
) -> str:
    """The one line for people: is enough known, what, how sure, after how many labels.

    Args:
        among: the groups that surely have the answer among them, of every model; none: not to be
            told.
    """
    start = {
        "open": "Not yet: at present",
        "answered": "Enough is known:",
        "exhausted": "Everything is labelled:"
        if verdict.certain
        else "All that can be labelled is labelled, and the question is not answered: at present",
        "budget": "The budget is spent, and the question is not answered: at present",
    }[verdict.reason]
    if verdict.reason == "open" and _waits_for_confirmation(assessment, verdict):
        start = "Nearly: a few more labels have to confirm that at present"
    return f"{start} {_and_labels(assessment, belief, verdict, among)}"


def _waits_for_confirmation(assessment: Assessment, verdict: Verdict) -> bool:
    """Whether the rule holds now, but not yet at as many looks as the plan wants."""
    wanted = assessment.rule.confidence
    if assessment.confidence_sequence is not None or wanted is None or verdict.confidence is None:
        return False
    return assessment.plan.stop.looks > 1 and verdict.confidence >= wanted


def headline_by_hand(
    assessment: Assessment, belief: Belief, verdict: Verdict, among: Sequence[Shortlist] = ()
) -> str:
    """The one line of an assessment that a person ended."""
    return f"Stopped by hand: at present {_and_labels(assessment, belief, verdict, among)}"


def _and_labels(
    assessment: Assessment, belief: Belief, verdict: Verdict, among: Sequence[Shortlist]
) -> str:
    found, n_items = finding(assessment, belief, verdict), assessment.pool.n_items
    if belief.soft_labels is not None:
        votes = counted(belief.soft_labels.n_votes, "vote")
        votes += f" on {verdict.labels:,} of {counted(n_items, 'item')}"
        return f"{found}; after {votes}."
    known = known_text(assessment)
    more = f" ({known})" if known else ""
    found += _among(assessment, among)
    of = counted(n_items, assessment.plan.words.item)
    return f"{found}; {verdict.labels:,} of {of} labelled{more}."


def _among(assessment: Assessment, among: Sequence[Shortlist]) -> str:
    """Among which groups the answer surely is; empty where it says no more than the finding."""
    pool, several = assessment.pool, assessment.several
    whose = [("", assessment.group_names, len(pool.group_names) - len(pool.empty_groups()))]
    if assessment.best_model is not None:
        whose = [("", assessment.group_names, len(assessment.group_names))]
    if several is not None:
        whose = [
            (f"{name}: ", own, np.count_nonzero(np.bincount(view.group, view.size)))
            for name, own, view in zip(
                several.models.names, several.models.own_names, several.views, strict=False
            )
        ]
    words, noun = assessment.plan.words, noun_of(assessment)
    told = ""
    for one, (of, names, n_groups) in zip(among, whose, strict=False):
        if not assessment.question.n_named < len(one.groups) < n_groups:
            continue
        listed = [names[g] for g in one.groups]
        said = extreme_among(listed, noun, words, assessment.question, n_groups)
        is_guarded = assessment.confidence_sequence is not None
        sure = wrong_at_most(assessment.rule) if is_guarded else sure_text(one.confidence)
        told += f"; {of}{said}, {sure}"
    return told


def known_text(assessment: Assessment) -> str:
    """What is made of the items that were labelled before; empty if none is, or all are."""
    known, n = assessment.pool.known, assessment.pool.n_known
    if known is None:
        return ""
    if known.file:
        is_sample = known.use == "random"
        told = "a random sample, as was said" if is_sample else "each tells of itself only"
        return "" if n == assessment.pool.n_items else told
    own = "itself" if n == 1 else "themselves"
    how = "as drawn at random" if known.use == "random" else f"for {own} only"
    said = "was known before and counts" if n == 1 else "were known before and count"
    return f"{n:,} more {said} {how}"


def guarantee_means(assessment: Assessment) -> str:
    """What the plan's guarantee is worth, no more and no less."""
    if assessment.confidence_sequence is not None:
        return (
            "whatever the labels, the moment of looking and the items that stay without an answer, "
            "a wrong claim is ever published with a probability of at most "
            f"{miss_text(assessment.rule)}; this rests on the random order of the items in each "
            "cell, and on no prior or model"
        )
    if assessment.rule.confidence is None:
        return (
            "what the posterior expects under the plan's prior and model, on average over truths "
            "like those; it is no bound on the error of a single assessment"
        )
    return (
        "the posterior probability, under the plan's prior and model, that the finding holds; "
        "claims like it are right that often on average over truths, not on each hard one: it is "
        "no bound on the error of a single assessment"
    )


def _sure(assessment: Assessment, verdict: Verdict) -> str:
    n_claims = len(verdict.pairs)
    if assessment.several is not None:
        n_claims = max(n_claims, len(assessment.several.models.names))
    return how_sure(verdict, assessment.rule, assessment.confidence_sequence is not None, n_claims)
