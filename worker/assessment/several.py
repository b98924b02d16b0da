"""Several models at work on one pool: their views of the tally, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Counts, Outcomes, count
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.hypothetical import with_counts, with_prior
from worker.core.posterior.pooling import pooled
from worker.core.posterior.views import (
    Layout,
    View,
    apart_from,
    believed_difference,
    fused_logit,
    joined,
    of_difference,
    of_model,
)
from worker.core.prior import empirical
from worker.core.prior.hyperparameters import Covariate, Fit, Scores, unfitted
from worker.core.prior.shared import Shared
from worker.core.questions.question import Question
from worker.core.strategies import STRATEGIES, Choice, NothingLeft, Strategy
from worker.core.strategies.models import for_each
from worker.core.strategies.ours import assay
from worker.core.strategies.picking import any_item
from worker.plan import Plan
from worker.pool import Pool
from worker.pool.models import ALL_ITEMS, Models

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NO_DIFFERENCE = "no difference"

# What it says of a model's accuracy that all others disagree with it, beside what all their scores
# say together: weak normal prior (mean, standard deviation), in logits. In fits to all labels of
# six pairs and two triples of published models it was -1.6 to 1.4; where scores do not tell who is
# right, it may be three times as much (`make calibration`, ten points in a hundred).
_APART = (0.0, 3.0)

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
        return count(tally, self.meaning, self.models.layout.size.size, before)

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
        helpful = self.helpful(left)
        if not helpful.any():
            raise NothingLeft("every item that could help is labelled, queued or withheld.")
        if strategy is STRATEGIES["random"]:
            cell, numbers = any_item(helpful, rng), {}
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


def several(plan: Plan, pool: Pool, meaning: Outcomes) -> Several:
    """What a plan with several models makes of its pool."""
    assert pool.models is not None, "a pool of several models has them"
    make = _compared if plan.question.task == "compare" else _identified
    return make(plan, pool, meaning, pool.models)


def _compared(plan: Plan, pool: Pool, meaning: Outcomes, models: Models) -> Several:
    question, layout = plan.question, models.layout
    number = {name: m for m, name in enumerate(models.names)}
    among = [number[name] for name in question.models or models.names]
    views, asked = [], []
    for first, second in combinations(among, 2):
        places: list[tuple[Ints, tuple[str, ...]]] = []
        if question.where in ("overall", "both"):
            places.append((np.zeros(layout.size.size, np.int64), (ALL_ITEMS,)))
        if question.where in ("groups", "both"):
            places.append((models.own[:, 0], models.own_names[0]))
        for group, names in places:
            view = of_difference(layout, first, second, group, len(names))
            views.append(view)
            asked += [Asked(first, second, name) for name in names]
    view = joined(views)
    common = np.full((view.n_groups, 3), plan.prior.strength / 3)
    filled = np.flatnonzero(np.bincount(view.group, view.size, view.n_groups)[:-1])
    pairs = tuple((int(g), len(asked)) for g in filled)
    return Several(
        models, pool, meaning, Question("compare", pairs=pairs, epsilon=plan.stop.target), (view,),
        (*(_named(models, one) for one in asked), NO_DIFFERENCE), tuple(asked),
        replaced(believed_difference(view, common), n_labels=0), (),
    )  # fmt: skip


def _named(models: Models, asked: Asked) -> str:
    both = f"{models.names[asked.first]} − {models.names[asked.second]}"
    return both if asked.group == ALL_ITEMS else f"{both} · {asked.group}"


def _identified(plan: Plan, pool: Pool, meaning: Outcomes, models: Models) -> Several:
    layout, parts, views, scores = models.layout, [], [], []
    for m in range(len(models.names)):
        view = of_model(layout, m, models.own[:, m], len(models.own_names[m]))
        own = _scores(layout, m, view)
        none = np.zeros(view.group.size, dtype=np.int64)
        before = unfitted(own.weak)
        alpha, beta, mixture = empirical.prior_of(before.mode, own, before.covariance)
        part = Belief(
            view.group, view.size, none, none, alpha, beta, view.n_groups, "finite", mixture
        )
        parts.append(replaced(part, shared=_shared(part, before, own), _memo={}))
        views.append(view)
        scores.append(own)
    asked = plan.question
    names = tuple(
        f"{name}: {group}"
        for name, groups in zip(models.names, models.own_names, strict=True)
        for group in groups
    )
    question = Question(
        "identify", asked.which, asked.top, tolerance=asked.tolerance, shortlist=asked.shortlist
    )
    return Several(
        models, pool, meaning, question, tuple(views), names, (), side_by_side(tuple(parts), 0),
        tuple(scores),
    )  # fmt: skip


def _scores(layout: Layout, model: int, view: View) -> Scores:
    logit = view.of_cells(fused_logit(layout, model))
    sizes = np.bincount(view.group, view.size, view.n_groups)
    of_group = np.bincount(view.group, view.size * logit, view.n_groups) / np.maximum(sizes, 1)
    centre = float(of_group @ sizes / sizes.sum())
    apart = Covariate(view.of_cells(apart_from(layout, model)), *_APART)
    return Scores(logit, (of_group - centre)[view.group], (apart,))


def _fitted(part: Belief, early: Ints, scores: Scores) -> Belief:
    rates = empirical.fit(early[:, 0], early[:, 1], part.group, scores)
    prior = empirical.prior_of(rates.mode, scores, rates.covariance)
    return with_prior(part, *prior, shared=_shared(part, rates, scores))


def _shared(part: Belief, fit: Fit, scores: Scores) -> Shared:
    return empirical.shared_of(fit, scores, part.size, part.group, part.n_groups)
