"""Which of many models is best: every label says of each of them whether it is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.accuracies import (
    ModelCounts,
    ModelStrata,
    accuracies,
    count_labels,
)
from worker.core.posterior.belief import Belief
from worker.core.questions.question import Question
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.strategies.best_model import best_model
from worker.core.strategies.picking import any_item
from worker.plan import Plan
from worker.pool import Pool
from worker.pool.models import Models
from worker.store.tally import read_tally_key

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BestModel:
    """Many models, of which the best is asked for: a kind (`worker.assessment.kind`).

    The groups of its belief are the models; the pool's cells are the strata of the items on which
    models disagree, and a last one of those on which they do not.
    """

    models: Models
    strata: ModelStrata
    pool: Pool
    question: Question
    first: Belief

    @property
    def names(self) -> tuple[str, ...]:
        return self.models.names

    @property
    def beforehand(self) -> Ints | None:
        return None

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        return believed(self.strata, self._counted(tally))

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        early = {key: n for key, n in tally.items() if read_tally_key(key).epoch < stage}
        return believed(self.strata, self._counted(early))

    def votes(self, tally: Mapping[str, int], seed: int) -> None:
        return None

    def helpful(self, cells: Ints) -> Ints:
        return np.where(np.arange(cells.size) < self.strata.size.size, cells, 0)

    def choose(
        self,
        belief: Belief,
        question: Question,
        left: Ints,
        pending: Ints,
        rng: np.random.Generator,
        strategy: Strategy,
    ) -> Choice:
        n_strata = self.strata.size.size
        if strategy is STRATEGIES["random"]:
            return Choice(any_item(self.helpful(left), rng), 0, {})
        assert belief.accuracies is not None, "a belief about models has them"
        return best_model(belief.accuracies, question, left[:n_strata], pending[:n_strata], rng)

    def counted(self, cell: Ints, code: Ints, label: Ints, times: Ints) -> ModelCounts:
        """Count items (n,) by their cells, codes and classes; a class that is none is K."""
        assert self.models.guessed is not None, "a pool of models with strata has them"
        right = self.models.said[code] == label[:, None]
        guessed = self.models.guessed[code]
        return count_labels(cell, right, guessed, times, self.strata.size.size)

    def _counted(self, tally: Mapping[str, int]) -> ModelCounts:
        index = {name: k for k, name in enumerate(self.pool.classes)}
        numbers: list[tuple[int, int, int, int]] = []
        known = {} if self.pool.known is None else self.pool.known.tally
        for key, n in (*known.items(), *tally.items()):
            of = read_tally_key(key)
            numbers.append((of.cell, of.predicted, index.get(of.label, len(index)), n))
        numbers.sort()  # sums do not depend on the order in which the tally came
        return self.counted(*np.array(numbers, dtype=np.int64).reshape(-1, 4).T)


def best_of(plan: Plan, pool: Pool) -> BestModel:
    """What a plan that asks for the best model makes of its pool."""
    assert pool.models is not None, "a pool of several models has them"
    assert pool.models.strata is not None, "its pool has strata"
    asked, strata = plan.question, pool.models.strata
    nothing = np.zeros(0, dtype=np.int64)
    m = len(pool.models.names)
    none = count_labels(
        nothing, np.zeros((0, m), bool), np.zeros((0, m)), nothing, strata.size.size
    )
    question = Question(
        "identify", asked.which, asked.top, tolerance=asked.tolerance, shortlist=asked.shortlist
    )
    return BestModel(pool.models, strata, pool, question, believed(strata, none))


def believed(strata: ModelStrata, counts: ModelCounts) -> Belief:
    """The belief about the models' accuracies after some labels."""
    m = strata.guessed.shape[1]
    ones = np.ones(m)
    return Belief(
        np.arange(m), np.full(m, strata.n_items), counts.right, counts.n_labels - counts.right,
        ones, ones, m, n_labels=counts.n_labels, accuracies=accuracies(strata, counts),
    )  # fmt: skip
