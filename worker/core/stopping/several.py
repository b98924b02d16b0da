"""Whether enough is known of each of several models."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.pairs import NO_PAIRS
from worker.core.stopping.rule import decide
from worker.core.stopping.verdict import Reason, Verdict


def decide_each(
    parts: Sequence[Belief],
    question: Question,
    rule: StopRule,
    spent: int,
    left: int,
    seed: Sequence[int],
    bound_suffices: bool = False,
) -> Verdict:
    """Stop when the rule holds for every model; the groups of the models are numbered in a row.

    Each claim has the rule's confidence; that all are right together is less sure.

    Args:
        parts: the belief about each model's own groups.
        spent, left, bound_suffices: as of `worker.core.stopping.rule.decide`.
        seed: of the one inexact rule's draws.
    """
    alone = replace(rule, budget=None)
    found = [
        decide(
            part, question, alone, spent, max(left, 1), np.random.default_rng([*seed, at]),
            bound_suffices=bound_suffices,
        )
        for at, part in enumerate(parts)
    ]  # fmt: skip
    certain = all(verdict.certain for verdict in found)
    reason: Reason = "open"
    if certain and left == 0:
        reason = "exhausted"
    elif all(verdict.reason == "answered" or verdict.certain for verdict in found):
        reason = "answered"
    elif left == 0:
        reason = "exhausted"
    elif rule.budget is not None and spent >= rule.budget:
        reason = "budget"
    if bound_suffices and reason != "open":
        return decide_each(parts, question, rule, spent, left, seed)
    begin = np.cumsum([0, *(part.n_groups for part in parts)]).tolist()

    def in_a_row(name: str) -> tuple[int, ...]:
        return tuple(
            at + g
            for at, verdict in zip(begin, found, strict=False)
            for g in getattr(verdict, name)
        )

    sure = [verdict.confidence for verdict in found if verdict.confidence is not None]
    is_known = len(sure) == len(found)
    return Verdict(
        stop=reason != "open",
        reason=reason,
        certain=certain,
        confidence=min(sure) if is_known else None,
        value=None,
        ranking=in_a_row("ranking"),
        chosen=in_a_row("chosen"),
        pairs=NO_PAIRS,
        labels=spent,
        least=int(np.argmin(sure)) if is_known else 0,
    )
