"""Several models at work on one pool: their views of the tally, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Counts, Outcomes, begun_with, count
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_counts, with_prior
from worker.core.posterior.pooling import pooled
from worker.core.posterior.views import View
from worker.core.prior import empirical, fitting
from worker.core.prior.hyperparameters import Scores
from worker.core.questions.question import Question
from worker.core.strategies import STRATEGIES, Choice, Strategy
from worker.core.strategies.models import for_each
from worker.core.strategies.ours import assay
from worker.core.strategies.picking import any_item
from worker.pool import Pool
from worker.pool.models import ALL_ITEMS, Models

Ints = NDArray[np.int64]

_fits = BoundedCache(1 << 22)


@dataclass(frozen=True, slots=True)
class Asked:
    """One difference that is asked for: of two models (their indices), in a group or overall."""

    first: int
    second: int
    group: str  # its name; ALL_ITEMS if it is the whole pool


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """Several models, a kind (`worker.assessment.kind`).

    meaning: as of `outcomes`, by the codes of all models' classes.
    views: of the differences that are asked, one; else of each model's accuracy.
    names: of the groups of the belief: the differences and what they are held to, or each model's
        own groups. asked: the differences, in the order of their groups.
    scores: of each view of an accuracy.
    """

    models: Models
    pool: Pool
    meaning: Outcomes
    question: Question
    views: tuple[View, ...]
    names: tuple[str, ...]
    asked: tuple[Asked, ...]
    first: Belief
    scores: tuple[Scores, ...]
    # As of `single`.
    _last: dict[bytes, Belief] = field(default_factory=dict, repr=False)

    @property
    def begins(self) -> tuple[int, ...]:
        """Where the groups of each model begin among the belief's, and their end."""
        return tuple(np.cumsum([0, *(view.n_groups for view in self.views)]).tolist())

    @property
    def beforehand(self) -> Ints:
        """(C,) of the first view: there is no difference where two models agree."""
        return np.where(self.views[0].cell < 0, self.views[0].size, 0)

    def believe(self, tally: Mapping[str, int], seed: int) -> Belief:
        counts = self._counts(tally)
        early = counts.early.tobytes()
        belief = self.believe_counts(counts, self._last.get(early))
        self._last.clear()
        self._last[early] = belief
        return belief

    def believed_at(self, tally: Mapping[str, int], stage: int, seed: int) -> Belief:
        return self.believe_counts(self._counts(tally, before=stage))

    def votes(self, tally: Mapping[str, int], seed: int) -> None:
        return None

    def _counts(self, tally: Mapping[str, int], before: int | None = None) -> Counts:
        counts = count(tally, self.meaning, self.models.layout.size.size, before)
        if self.pool.known is None:
            return counts
        begun = begun_with(self.pool, self.meaning)
        return Counts(counts.all + begun.all, counts.early + begun.early, counts.stage)

    def believe_counts(self, counts: Counts, before: Belief | None = None) -> Belief:
        """The belief after a tally; from one before, what stays the same is not worked out anew."""
        n_labels = int(counts.all.sum())
        if self.asked:
            prior = before or self.pooled(counts.early)
            belief = with_counts(prior, self.views[0].counts(counts.all))
            return replaced(belief, n_labels=n_labels)
        of = before.parts if before is not None else self.fitted(counts.early)
        parts = tuple(
            with_counts(part, view.counts(counts.all))
            for part, view in zip(of, self.views, strict=True)
        )
        return side_by_side(parts, n_labels)

    def pooled(self, early: Ints) -> Belief:
        """The belief before any label, with what some labels say of each group by the others."""
        if not early.any() or all(one.group == ALL_ITEMS for one in self.asked):
            return self.first
        key = "pooled", self.pool.hash, self.first.metric.common.tobytes(), early.tobytes()
        found: Belief | None = _fits.get(key)
        if found is None:
            b = with_counts(self.first, self.views[0].counts(early))
            # the groups of a pair of models; all items are no further group
            asked = [(one.first, one.second, one.group == ALL_ITEMS) for one in self.asked]
            families = list(dict.fromkeys(asked))
            common = pooled(b, np.array([*map(families.index, asked), len(families)]))
            metric = replace(b.metric, common=common)
            found = replaced(self.first, metric=metric, _memo={})
            _fits.put(key, found, early.size + common.size + found.alpha.size)
        return found

    def fitted(self, early: Ints) -> tuple[Belief, ...]:
        """The beliefs before any label, each with its prior fitted to some labels of the pool."""
        if not early.any():
            return self.first.parts
        key = "several", self.pool.hash, early.tobytes()
        found: tuple[Belief, ...] | None = _fits.get(key)
        if found is None:
            found = tuple(
                _fitted(part, view.counts(early), own)
                for part, view, own in zip(self.first.parts, self.views, self.scores, strict=True)
            )
            _fits.put(key, found, early.size + sum(part.alpha.size for part in found))
        return found

    def helpful(self, cells: Ints) -> Ints:
        if not self.asked:
            return cells
        # What is compared shares no cell, so that each helps as a whole or not at all.
        is_helpful = np.zeros(cells.size, dtype=bool)
        is_helpful[self.views[0].cell[self.views[0].cell >= 0]] = True
        return np.where(is_helpful, cells, 0)

    def choose(
        self,
        belief: Belief,
        question: Question,
        left: Ints,
        pending: Ints,
        rng: np.random.Generator,
        strategy: Strategy,
    ) -> Choice:
        if strategy is STRATEGIES["random"]:
            cell, numbers = any_item(self.helpful(left), rng), {}
        elif self.asked:
            (view,) = self.views
            choice = assay(belief, question, view.of_cells(left), view.of_cells(pending), rng)
            cell, numbers = int(view.cell[choice.cell]), choice.numbers
        else:
            choice = for_each(belief.parts, self.views, question, left, pending, rng)
            cell, numbers = choice.cell, choice.numbers
        return Choice(cell, int(self.pool.cell_group[cell]), numbers)


def side_by_side(parts: tuple[Belief, ...], n_labels: int) -> Belief:
    """Beliefs about the accuracy of several models, one after the other."""
    upto = np.cumsum([0, *(part.n_groups for part in parts)])

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    group = np.concatenate([part.group + n for part, n in zip(parts, upto, strict=False)])
    return Belief(
        group, all_of("size"), all_of("right"), all_of("wrong"), all_of("alpha"), all_of("beta"),
        int(upto[-1]), "finite", parts[0].mixture, parts=parts, n_labels=n_labels,
    )  # fmt: skip


def _fitted(part: Belief, early: Ints, scores: Scores) -> Belief:
    rates = fitting.fit(early[:, 0], early[:, 1], part.group, scores)
    prior = empirical.prior_of(rates.mode, scores, rates.covariance)
    shared = empirical.shared_of(rates, scores, part.size, part.group, part.n_groups)
    return with_prior(part, *prior, shared=shared)
