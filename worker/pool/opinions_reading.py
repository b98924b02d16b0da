"""Reads what else is known of the items than the classifier's own score: the pool's opinions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import special

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.opinions_part import OpinionPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import check_probabilities
from worker.pool.class_names import class_names
from worker.pool.faults import Faults, rows_told
from worker.pool.means import LEAST_SCORE
from worker.pool.opinions_columns import Columns, matched
from worker.pool.predictions import Predictions
from worker.pool.tables import Wanted, pieces

Floats = NDArray[np.float64]

MOST_CATEGORIES = 8  # the most frequent ones; the others are taken together
OTHER = "other"
_YES, _NO = ("yes", "true", "right", "1"), ("no", "false", "wrong", "0")


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """What one opinion says of n items, in the pool's order.

    value: (n,) float32: the logit of the probability that our prediction is right, or a number; of
        a category 0. NaN where it says nothing.
    agrees: (n,) whether it gives our class, where it gives one; None if it is no classifier.
    code: (n,) of `categories`, -1 where it says nothing; None if it is no category.
    """

    plan: OpinionPlan
    value: NDArray[np.float32]
    agrees: NDArray[np.bool_] | None = None
    code: NDArray[np.int32] | None = None
    categories: tuple[str, ...] = ()

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
    return tuple(_read(pool, plan, predictions) for plan in pool.opinions or ())


def _read(pool: PoolPlan, plan: OpinionPlan, predictions: Predictions) -> Opinion:
    path = plan.predictions or pool.predictions
    faults = Faults(path)
    order = None
    if plan.predictions is not None:
        order = matched(path, plan, pool, predictions)
    table = Columns(path, plan, order, predictions.n_items, faults)
    if plan.kind == "predicted":
        said = _of_class(table, plan, predictions, is_full=class_names(pool) is not None)
    else:
        said = _OF_KIND[plan.kind](table, plan, predictions)
    faults.refuse()
    if said.is_missing.all():
        raise PredictionsError(
            f"{path}: the opinion {plan.name} (column {listed(plan.columns, 3)}) says nothing of "
            "any item; name another column, or leave it out"
        )
    return said


def _logit(share: NDArray[np.floating]) -> NDArray[np.float32]:
    held = np.clip(share.astype(np.float64), LEAST_SCORE, 1 - LEAST_SCORE)
    return np.asarray(special.logit(held), dtype=np.float32)


def _of_class(
    table: Columns, plan: OpinionPlan, predictions: Predictions, *, is_full: bool
) -> Opinion:
    assert plan.predicted is not None, "asked of opinions with a class"
    encoded = table.texts(plan.predicted)
    place = {name: code for code, name in enumerate(predictions.classes)}
    values = encoded.dictionary.to_pylist()
    code_of = np.array([*(place.get(value, -1) for value in values), -2], dtype=np.int32)
    at = pc.fill_null(encoded.indices, len(values)).to_numpy(zero_copy_only=False)
    codes = code_of[at]
    unknown = [value for value in values if value not in place]
    _check_classes(table, plan, predictions.classes, unknown, codes, is_full=is_full)
    said = table.moved(codes, -2)
    agrees = np.equal(said, predictions.predicted)
    n_others = max(len(predictions.classes) - 1, 1)
    if plan.score is None:
        value = np.where(agrees, 1.0, -1.0)
    else:
        own = table.moved(table.shares(plan.score), np.nan)
        value = _logit(np.where(agrees, own, (1 - own) / n_others))
    value = np.where(said == -2, np.nan, value).astype(np.float32)
    return Opinion(plan, value, agrees & ~np.isnan(value))


def _check_classes(
    table: Columns,
    plan: OpinionPlan,
    classes: tuple[str, ...],
    unknown: list[str],
    codes: NDArray[np.int32],
    *,
    is_full: bool,
) -> None:
    """Refuse classes that are not the pool's, where these are known in full or few are common."""
    n_known, n_unknown = int((codes >= 0).sum()), int((codes == -1).sum())
    if not unknown or (not is_full and n_unknown < n_known):
        return  # a class that the assessed model never says is another one than it says
    rows = rows_told(np.flatnonzero(codes == -1) + 1)
    raise PredictionsError(
        f"{table.path}: the opinion {plan.name} (column {plan.predicted}) holds "
        f"{listed(unknown, 5)}, not among the classes {listed(classes)}, in {rows}; "
        "write them alike, or list all classes under `pool.classes`"
    )


def _of_probabilities(table: Columns, plan: OpinionPlan, predictions: Predictions) -> Opinion:
    columns, n_classes = plan.probabilities, len(predictions.classes)
    assert columns is not None, "asked of opinions with probabilities"
    given = len(columns) if isinstance(columns, tuple) else n_classes
    if given != n_classes:
        raise PredictionsError(
            f"{table.path}: the opinion {plan.name} has {given} columns of probabilities, expected "
            f"one for each of the {n_classes} classes ({listed(predictions.classes)}), in that "
            "order"
        )
    own = _places(table, predictions)
    share, agrees, n_before = np.full(own.size, np.nan), np.zeros(own.size, dtype=bool), 0
    for rows in _rows(table, columns, n_classes, plan):
        here = slice(n_before, n_before + len(rows))
        n_before += len(rows)
        is_there = ~np.isnan(rows).any(axis=1)
        check_probabilities(table.faults, rows[is_there], here.start + 1)
        share[here] = np.where(is_there, rows[np.arange(len(rows)), own[here]], np.nan)
        agrees[here] = is_there & (np.nan_to_num(rows).argmax(axis=1) == own[here])
    value = table.moved(_logit(np.clip(share, 0, 1)), np.nan)
    return Opinion(plan, np.asarray(value), np.asarray(table.moved(agrees, missing=False)))


def _places(table: Columns, predictions: Predictions) -> NDArray[np.int32]:
    """(rows,) the class that the assessed model predicts for the item of each row of the file."""
    if table.order is None:
        return predictions.predicted
    there = table.order >= 0
    own = np.zeros(int(table.order.max()) + 1, dtype=np.int32)
    own[table.order[there]] = predictions.predicted[there]
    return own


def _rows(
    table: Columns, columns: str | tuple[str, ...], n_classes: int, plan: OpinionPlan
) -> Iterator[NDArray[np.floating]]:
    if isinstance(columns, tuple):
        for piece in pieces(table.path, Wanted(numbers=columns)):
            yield np.column_stack(
                [piece.column(name).to_numpy(zero_copy_only=False) for name in columns]
            )
        return
    for piece in pieces(table.path, Wanted(numbers_list=columns)):
        lists = piece.column(columns)
        lengths = pc.fill_null(pc.list_value_length(lists), n_classes).to_numpy()
        if (lengths != n_classes).any():
            raise PredictionsError(
                f"{table.path}: a list of the opinion {plan.name} (column {columns}) has "
                f"{int(lengths[lengths != n_classes][0])} values, expected {n_classes}, one for "
                "each class"
            )
        rows = np.full((piece.num_rows, n_classes), np.nan)
        rows[lists.is_valid().to_numpy(zero_copy_only=False)] = (
            lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, n_classes)
        )
        yield rows


def _of_right(table: Columns, plan: OpinionPlan, predictions: Predictions) -> Opinion:
    assert plan.right is not None, "asked of opinions of that kind"
    if table.is_numeric(plan.right):
        return Opinion(plan, np.asarray(table.moved(_logit(table.shares(plan.right)), np.nan)))
    encoded = table.texts(plan.right)
    words = [str(value).strip().lower() for value in encoded.dictionary.to_pylist()]
    is_other = np.array([word not in (*_YES, *_NO) for word in words] + [False])
    at = pc.fill_null(encoded.indices, len(words)).to_numpy(zero_copy_only=False)
    if is_other.any():
        first = f" (first: {words[int(is_other.argmax())]!r})"
        text = f"the opinion {plan.name} (column {plan.right}) is no probability, yes or no"
        table.faults.add(is_other[at], text, first)
    of_word = np.array([*(1.0 if word in _YES else -1.0 for word in words), np.nan])
    return Opinion(plan, np.asarray(table.moved(of_word[at].astype(np.float32), np.nan)))


def _of_number(table: Columns, plan: OpinionPlan, predictions: Predictions) -> Opinion:
    """Normal scores of the ranks: one that is enormous is the largest, and no more than that."""
    assert plan.number is not None, "asked of opinions of that kind"
    values = np.asarray(table.moved(table.numbers(plan.number), np.nan), dtype=np.float64)
    there = ~np.isnan(values)
    _, which, count = np.unique(values[there], return_inverse=True, return_counts=True)
    place = (np.cumsum(count) - count / 2)[which] / max(which.size, 1)
    scores = np.full(values.size, np.nan, dtype=np.float32)
    scores[there] = special.ndtri(place)
    return Opinion(plan, scores)


def _of_category(table: Columns, plan: OpinionPlan, predictions: Predictions) -> Opinion:
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
    "probabilities": _of_probabilities,
    "right": _of_right,
    "number": _of_number,
    "category": _of_category,
}
