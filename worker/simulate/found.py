"""All that is published of one state, worked out once it is asked for, and what is true."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, group_size
from worker.core.questions.question import StopRule
from worker.core.stopping.verdict import Verdict
from worker.findings.best_model import told_of_models
from worker.findings.differences import Differences, differences_of
from worker.findings.evidence import group_rows
from worker.findings.opinions import opinions_of
from worker.findings.opinions_values import Opinions
from worker.findings.ranks import GroupRanks, group_ranks
from worker.store import State

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Found:
    """All that is published of one state, and what is true.

    Args:
        truth: every group's value on the whole pool, as `worker.simulate.truths.true_values`; of
            an infinite population in all items that are like the pool's.
        left: items that can still get a label.
        verdict: what the stop rule says; None to ask it.
        right: (C,) items of each stratum whose prediction is right; None if that is not asked for.
    """

    def __init__(
        self,
        work: Assessment,
        belief: Belief,
        truth: Floats,
        left: int = 1,
        verdict: Verdict | None = None,
        right: Ints | None = None,
    ) -> None:
        self.work, self.belief, self.truth, self.left = work, belief, truth, left
        self.right = right
        if verdict is not None:
            self.verdict = verdict

    @cached_property
    def verdict(self) -> Verdict:
        """What the stop rule says, without a budget."""
        rule = self.work.rule
        unlimited = StopRule(rule.kind, rule.target, rule.confidence, None, rule.min_per_group)
        return self.work.ask(self.belief, self.left, unlimited)

    @cached_property
    def places(self) -> GroupRanks:
        """Ranks, and all groups together."""
        return group_ranks(self.belief)

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """`decision.groups`; of items that were claimed all have a label."""
        counts = self.belief.right + self.belief.wrong
        known = self.work.pool.known
        own = counts if known is None else counts - known.n_items
        taken = (
            dict(enumerate(own.astype(int).tolist()))
            if self.work.confidence_sequence is not None
            else {}
        )
        state = State("running", 0, 0, {}, taken, {}, {}, 0)
        return group_rows(self.work, self.belief, state, self.places)

    @cached_property
    def models(self) -> dict[str, Any]:
        """`decision.models`; nothing of a single model."""
        return told_of_models(self.work, self.belief, self.verdict) or {}

    @cached_property
    def differences(self) -> Differences | None:
        """`densities.differences` of a report."""
        return differences_of(self.work, self.belief, self.verdict)

    @cached_property
    def opinions(self) -> Opinions | None:
        """`decision.opinions`; None of a pool without."""
        return opinions_of(self.work, self.belief)

    @cached_property
    def values(self) -> Floats:
        """(G,) true values of the groups; of a confusion matrix its accuracy."""
        return self.truth[:, 0] if self.truth.ndim > 1 else self.truth

    @property
    def filled(self) -> NDArray[np.intp]:
        """The groups with items."""
        return np.flatnonzero(group_size(self.belief))
