"""Reads what else is known of the items than the classifier's own score: the pool's opinions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import special

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.opinions_part import OpinionPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.class_names import class_names
from worker.pool.faults import Faults
from worker.pool.means import logits
from worker.pool.opinions_classes import of_class, of_probabilities
from worker.pool.opinions_columns import Columns, is_numeric, matched
from worker.pool.predictions import Predictions

MOST_CATEGORIES = 8  # the most frequent ones; the others are taken together
OTHER = "other"
YES, NO = ("yes", "true", "right", "1"), ("no", "false", "wrong", "0")


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """What one opinion says of n items, in the pool's order.

    value: (n,) float32: the logit of the probability that our prediction is right, or a number; of
        a category 0. NaN where it says nothing.
    agrees: (n,) whether it gives our class, or more than an even chance that we are right; False
        where it says nothing. None if it is a number or a category, or a chance that follows the
        score alone.
    code: (n,) of `categories`, -1 where it says nothing; None if it is no category.
    said: (n,) the class that it gives, below 0 where it gives none of ours; None if it is no
        classifier.
    """

    plan: OpinionPlan
    value: NDArray[np.float32]
    agrees: NDArray[np.bool_] | None = None
    code: NDArray[np.int32] | None = None
    categories: tuple[str, ...] = ()
    said: NDArray[np.integer] | None = None

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """(n,) where it says nothing."""
        return np.isnan(self.value) if self.code is None else self.code < 0


def read_opinions(pool: PoolPlan, predictions: Predictions) -> tuple[Opinion, ...]:
    """Read the opinions that a plan names, in the order of the pool's items.

    Args:
        predictions: the pool's, as they were read.

    Raises:
        PredictionsError: a file cannot be read, has none of the pool's items, or values that are no
            classes, probabilities or numbers.
    """
    found = tuple(read_opinion(pool, plan, predictions) for plan in pool.opinions or ())
    for one in found:
        if one.is_missing.all():
            raise PredictionsError(
                f"{one.plan.predictions or pool.predictions}: the opinion {one.plan.name} (column "
                f"{listed(one.plan.columns, 3)}) says nothing of any item; name another column, or "
                "leave it out"
            )
    if np.isnan(predictions.score[0]):
        return found
    by_score = np.argsort(predictions.score, kind="stable")
    return tuple(_less_the_score(one, by_score) for one in found)


def _less_the_score(opinion: Opinion, by_score: NDArray[np.int64]) -> Opinion:
    """The opinion, with one value for all items if it only rises or falls with the score.

    Then it tells no more than the score, whose strata and weight would be split between both.
    """
    if opinion.code is not None or opinion.is_missing.any():
        return opinion
    if opinion.said is not None and opinion.agrees is not None and not opinion.agrees.all():
        return opinion
    steps = np.diff(opinion.value[by_score])
    if (steps < 0).any() and (steps > 0).any():
        return opinion
    agrees = None if opinion.said is None else opinion.agrees
    return replace(opinion, value=np.zeros_like(opinion.value), agrees=agrees)


def read_opinion(pool: PoolPlan, plan: OpinionPlan, predictions: Predictions) -> Opinion:
    """Read one of them; it may say nothing of all items."""
    path = plan.predictions or pool.predictions
    faults = Faults(path)
    order, n_rows = None, predictions.n_items
    if plan.predictions is not None:
        order, n_rows = matched(path, plan, pool, predictions)
    table = Columns(path, plan, order, n_rows, faults)
    if plan.kind in ("predicted", "probabilities"):
        if plan.kind == "predicted":
            is_full = class_names(pool) is not None
            value, said = of_class(table, plan, predictions, is_full=is_full)
        else:
            value, said = of_probabilities(table, plan, predictions)
        agrees = np.equal(said, predictions.predicted) & ~np.isnan(value)
        opinion = Opinion(plan, value, agrees, said=said)
    else:
        opinion = _OF_KIND[plan.kind](table, plan)
    faults.refuse()
    return opinion


def _of_right(table: Columns, plan: OpinionPlan) -> Opinion:
    assert plan.right is not None, "asked of opinions of that kind"
    if is_numeric(table.path, plan.right):
        value = np.asarray(table.moved(logits(table.shares(plan.right)), np.nan))
        return Opinion(plan, value, value > 0)
    encoded = table.texts(plan.right)
    words = [str(value).strip().lower() for value in encoded.dictionary.to_pylist()]
    is_other = np.array([word not in (*YES, *NO) for word in words] + [False])
    at = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False)
    if is_other.any():
        first = f" (first: {words[int(at[is_other[at]][0])]!r})"
        text = f"the opinion {plan.name} (column {plan.right}) is no probability, yes or no"
        table.faults.add(is_other[at], text, first)
    of_word = np.array([*(1.0 if word in YES else -1.0 for word in words), np.nan])
    value = np.asarray(table.moved(of_word[at].astype(np.float32), np.nan))
    return Opinion(plan, value, value > 0)


def _of_number(table: Columns, plan: OpinionPlan) -> Opinion:
    """Normal scores of the ranks: one that is enormous is the largest, and no more than that."""
    assert plan.number is not None, "asked of opinions of that kind"
    values = np.asarray(table.moved(table.numbers(plan.number), np.nan), dtype=np.float64)
    there = ~np.isnan(values)
    _, which, count = np.unique(values[there], return_inverse=True, return_counts=True)
    place = (np.cumsum(count) - count / 2)[which] / max(which.size, 1)
    scores = np.full(values.size, np.nan, dtype=np.float32)
    scores[there] = special.ndtri(place)
    return Opinion(plan, scores)


def _of_category(table: Columns, plan: OpinionPlan) -> Opinion:
    assert plan.category is not None, "asked of opinions of that kind"
    encoded = table.texts(plan.category)
    names = encoded.dictionary.to_pylist()
    at = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    count = np.bincount(at[at >= 0], minlength=len(names))
    kept = np.argsort(-count, kind="stable")
    if kept.size > MOST_CATEGORIES:
        kept = kept[: MOST_CATEGORIES - 1]
    code_of = np.full(len(names) + 1, kept.size, dtype=np.int32)
    code_of[kept] = np.arange(kept.size)
    code_of[-1] = -1
    code = np.asarray(table.moved(code_of[at], -1), dtype=np.int32)
    categories = [names[k] for k in kept] + ([OTHER] if kept.size < len(names) else [])
    return Opinion(plan, np.zeros(code.size, dtype=np.float32), None, code, tuple(categories))


_OF_KIND = {
    "right": _of_right,
    "number": _of_number,
    "category": _of_category,
}
