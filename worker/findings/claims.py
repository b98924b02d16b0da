"""What is claimed, in words, and how sure that is: the one place where both are said.

How sure a claim is follows it after a comma, so that no page says one without the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.core.questions.question import Question, StopRule
from worker.core.stopping.verdict import Verdict
from worker.formats import at_most, percent
from worker.metrics import Words

_SLACK = 1e-9


def needs_the_right_set(question: Question, rule: StopRule, is_guarded: bool = False) -> bool:
    """Whether an identify rule holds only where the named groups are right, as `mrr_confidence`.

    A threshold of the mean reciprocal rank that a wrong set can reach claims less than that; bands
    that hold at any time, and a shortlist, always ask for the set.
    """
    return (
        is_guarded
        or question.shortlist is not None
        or rule.target > 1 - 1 / (2 * question.top) + _SLACK
    )


def extreme_claim(
    ranked: Sequence[str],
    noun: str,
    words: Words,
    question: Question,
    rule: StopRule,
    is_guarded: bool = False,
) -> str:
    """Say which groups are the extreme ones: the event whose probability the rule asks about.

    With a tolerance the event is that no named group is beaten by one that is not named by more
    than it (`questions.ranking.set_confidence`): of one group, that it is within the tolerance of
    the extreme one.

    Args:
        ranked: the groups' names, the most extreme first; at least `question.top`.
        noun: class, group or model.
        is_guarded: bands that hold at any time decide.
    """
    top, tolerance = question.top, question.tolerance
    is_lowest = question.which == "lowest"
    extreme = words.lowest if is_lowest else words.highest
    if not needs_the_right_set(question, rule, is_guarded):
        return _by_rank(ranked, extreme, noun, question, rule)
    chosen = ranked[: question.n_named]
    if question.shortlist is not None:
        return f"{extreme_among(chosen, noun, words, question)}{_within(question)}"
    if top == 1:
        return f"{listed(chosen)} is the {extreme.format(noun)}{_within(question)}"
    what = f"{listed(chosen)} are the {top} {extreme.format(PLURAL[noun])}"
    if not tolerance:
        return what
    beats = (words.below if is_lowest else words.above).format(
        f"no other {noun}", "any of them", tolerance
    )
    return f"{what}, or within {tolerance:g} of them: {beats}"


PLURAL = {"class": "classes", "group": "groups", "model": "models"}
_MOST_NAMED = 8


def extreme_among(
    names: Sequence[str], noun: str, words: Words, question: Question, of: int = 0
) -> str:
    """Say among which groups the extreme ones are.

    Args:
        of: how many groups there are, to be said where there are too many names; 0: say all names.
    """
    extreme = words.lowest if question.which == "lowest" else words.highest
    among = listed(names)
    if of and len(names) > _MOST_NAMED:
        among = f"{len(names):,} of the {of:,} {PLURAL[noun]}"
    if question.top == 1:
        return f"the {extreme.format(noun)} is one of {among}"
    return f"the {question.top} {extreme.format(PLURAL[noun])} are among {among}"


def _within(question: Question) -> str:
    if not question.tolerance:
        return ""
    return f", or within {question.tolerance:g} of {'it' if question.top == 1 else 'them'}"


def _by_rank(
    ranked: Sequence[str], extreme: str, noun: str, question: Question, rule: StopRule
) -> str:
    """What a threshold claims that a wrong set can reach."""
    top, tolerance = question.top, question.tolerance
    if top == 1:  # the extreme group has the rank 1 / threshold or a better one
        among = ranked[: int(1 / rule.target + _SLACK)]
        return f"one of {listed(among)} is the {extreme.format(noun)}{_within(question)}"
    text = (
        f"a ranking that begins with {listed(ranked[:top])} finds the {top} "
        f"{extreme.format(PLURAL[noun])} with a mean reciprocal rank of {rule.target:g} or more"
    )
    equal = f"; values within {tolerance:g} of each other count as equal" if tolerance else ""
    return text + equal


def within_text(question: Question) -> str:
    """What the tolerance means, as a sentence; empty if there is none."""
    if question.task != "identify" or not question.tolerance:
        return ""
    return f"Values within {question.tolerance:g} of each other count as equal."


def how_sure(verdict: Verdict, rule: StopRule, is_guarded: bool, n_claims: int = 1) -> str:
    """How sure the claim of a verdict is, beginning with a comma; empty for an estimate.

    Args:
        is_guarded: bands that hold at any time decide; the posterior is then only told beside them.
        n_claims: of how many claims this is said. The confidence is that of the least sure one:
            that all of them hold is less sure.
    """
    if verdict.certain:
        return ", for certain"
    if verdict.confidence is None:
        return ""
    if is_guarded and verdict.reason == "answered":
        return f", {wrong_at_most(rule)}"
    if is_guarded:
        return f", {sure_text(verdict.confidence)} by the posterior alone"
    return f", {'each at least ' if n_claims > 1 else ''}{sure_text(verdict.confidence)}"


def sure_text(confidence: float) -> str:
    """A probability of being right: never rounded up."""
    return f"{percent(confidence)} sure"


def wrong_at_most(rule: StopRule) -> str:
    """What a claim is worth that holds at any time."""
    return f"wrong at any time with a probability of at most {miss_text(rule)}"


def miss_text(rule: StopRule) -> str:
    """How often a claim that holds at any time may be wrong; never rounded down."""
    return at_most(1 - (rule.confidence or 0.95))


def listed(names: Sequence[str]) -> str:
    """Names in quotes, the last one after "and"."""
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
