"""What every kind of assessment does: from a tally to a belief, and to the next item's cell.

One file each: `single` (a label is a class), `crowd` (a label is votes, which may contradict each
other), `soft_labels` (there is no right class) and `several` (models).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worker.assessment.resolving import Resolved
from worker.core.posterior.belief import Belief
from worker.core.posterior.mixing import likeliest
from worker.core.questions.question import Question
from worker.core.strategies import Choice, Strategy
from worker.plan import Plan
from worker.pool import Pool

Ints = NDArray[np.int64]


class Kind(Protocol):
    """The contract; a seed fixes what is drawn, so that the same tally always tells the same."""

    @property
    def question(self) -> Question:
        """What is asked."""

    @property
    def first(self) -> Belief:
        """The belief before the first label."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the belief's groups."""

    @property
    def beforehand(self) -> Ints | None:
        """Items of each of the belief's cells whose outcome was known at first; None: no item."""

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        """Tally + prior = posterior; the empirical prior is fitted to the tally's early claims."""

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        """What was believed when `stage` began: after the labels of the first claims alone."""

    def votes(self, tally: Mapping[str, int], seed: int) -> Resolved | None:
        """What the votes of a tally come to; None if nothing in it is in doubt."""

    def helpful(self, cells: Ints) -> Ints:
        """(C,) of items in the pool's cells those that can tell something of what is asked."""

    def choose(
        self,
        belief: Belief,
        question: Question,
        left: Ints,
        pending: Ints,
        rng: np.random.Generator,
        strategy: Strategy,
    ) -> Choice:
        """Choose the pool's cell of one claim; `left` and `pending` (C,) are the pool's."""


@dataclass(frozen=True, slots=True, eq=False)
class OneModel:
    """What the kinds share whose labels are all of one model."""

    plan: Plan
    pool: Pool
    question: Question
    first: Belief

    @property
    def names(self) -> tuple[str, ...]:
        return self.pool.group_names

    @property
    def beforehand(self) -> Ints | None:
        return self.pool.beforehand

    def votes(self, tally: Mapping[str, int], seed: int) -> Resolved | None:
        return None

    def helpful(self, cells: Ints) -> Ints:
        if self.question.task != "compare" or self.first.metric.classes == "each":
            return cells
        return np.where(np.isin(self.pool.cell_group, self.question.pairs), cells, 0)

    def refitted(self, belief: Belief) -> Belief:
        """The belief with its prior fitted to all of its labels, if it is one that is fitted."""
        return belief

    def choose(
        self,
        belief: Belief,
        question: Question,
        left: Ints,
        pending: Ints,
        rng: np.random.Generator,
        strategy: Strategy,
    ) -> Choice:
        return strategy(likeliest(belief), question, left, pending, rng)
