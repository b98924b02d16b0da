"""Whether enough is known of each of several models."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import Reason, Verdict, decide


def decide_each(
    parts: Sequence[Belief],
    question: Question,
    rule: StopRule,
    spent: int,
    left: int,
    seed: Sequence[int],
    may_be_rough: bool = False,
) -> Verdict:
    """Stop when the rule holds for every model; the groups of the models are numbered in a row.

    Each claim has the rule's confidence; that all are right together is less sure.

    Args:
        parts: the belief about each model's own groups.
        spent, left, may_be_rough: as of `worker.core.stopping.rule.decide`.
        seed: of the one inexact rule's draws.
    """
    alone = replace(rule, budget=None)
    found = [
        decide(
            part, question, alone, spent, max(left, 1), np.random.default_rng([*seed, at]),
            may_be_rough=may_be_rough,
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
    if may_be_rough and reason != "open":
        return decide_each(parts, question, rule, spent, left, seed)
    begin = np.cumsum([0, *(part.n_groups for part in parts)]).tolist()

    def in_a_row(name: str) -> tuple[int, ...]:
        return tuple(
            at + g
            for at, verdict in zip(begin, found, strict=False)
            for g in getattr(verdict, name)
        )

    sure = [verdict.confidence or 0.0 for verdict in found]
    return Verdict(
        stop=reason != "open",
        reason=reason,
        certain=certain,
        confidence=min(sure),
        value=None,
        ranking=in_a_row("ranking"),
        chosen=in_a_row("chosen"),
        pairs=(),
        labels=spent,
        least=int(np.argmin(sure)),
    )
