"""What another classifier says of the items: its classes, or all its probabilities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.opinions_part import OpinionPlan
from worker.pool.checks import check_probabilities
from worker.pool.class_names import without_shared_prefix
from worker.pool.faults import rows_told
from worker.pool.means import logits
from worker.pool.opinions_columns import Columns
from worker.pool.predictions import Predictions
from worker.pool.tables import Wanted, pieces

Said = tuple[NDArray[np.float32], NDArray[np.integer]]

UNKNOWN, NOTHING = -1, -2  # a class that is none of ours; no class at all


def of_class(table: Columns, plan: OpinionPlan, predictions: Predictions, *, is_full: bool) -> Said:
    """Read classes, with scores if there are some.

    Args:
        is_full: whether the pool's classes are all that there are.

    Returns:
        (n,) the logit of the probability that our prediction is right (without scores 1 where it
        gives our class, else -1), NaN where it says nothing; and (n,) the class that it gives, or
        UNKNOWN or NOTHING.

    Raises:
        PredictionsError: classes that are not the pool's.
    """
    assert plan.predicted is not None, "asked of opinions with a class"
    encoded = table.texts(plan.predicted)
    place = {name: code for code, name in enumerate(predictions.classes)}
    values = encoded.dictionary.to_pylist()
    code_of = np.array([*(place.get(value, UNKNOWN) for value in values), NOTHING])
    code_of = code_of.astype(np.min_scalar_type(-max(len(place), 2)))
    at = pc.fill_null(encoded.indices, len(values)).to_numpy(zero_copy_only=False)
    unknown = [value for value in values if value not in place]
    _check_classes(table, plan, predictions.classes, unknown, code_of[at], is_full=is_full)
    said = table.moved(code_of[at], NOTHING)
    agrees = np.equal(said, predictions.predicted)
    if plan.score is None:
        value = np.where(agrees, np.float32(1), np.float32(-1))
    else:
        n_others = max(len(predictions.classes) - 1, 1)
        own = table.moved(table.shares(plan.score), np.nan)
        value = logits(np.where(agrees, own, (1 - own) / n_others))
    value[said == NOTHING] = np.nan
    return value, said


def _check_classes(
    table: Columns,
    plan: OpinionPlan,
    classes: tuple[str, ...],
    unknown: list[str],
    codes: NDArray[np.integer],
    *,
    is_full: bool,
) -> None:
    """Refuse classes that are not the pool's, where these are known in full or few are common."""
    n_known, n_unknown = int((codes >= 0).sum()), int((codes == UNKNOWN).sum())
    if not unknown or (not is_full and n_unknown < n_known):
        return  # a class that the assessed model never says is another one than it says
    rows = rows_told(np.flatnonzero(codes == UNKNOWN) + 1)
    raise PredictionsError(
        f"{table.path}: the opinion {plan.name} (column {plan.predicted}) holds "
        f"{listed(unknown, 5)}, not among the classes {listed(classes)}, in {rows}; "
        "write them alike, or list all classes under `pool.classes`"
    )


def of_probabilities(table: Columns, plan: OpinionPlan, predictions: Predictions) -> Said:
    """Read probabilities of all classes; returns and raises as `of_class`."""
    columns, n_classes = plan.probabilities, len(predictions.classes)
    assert columns is not None, "asked of opinions with probabilities"
    given = len(columns) if isinstance(columns, tuple) else n_classes
    if given != n_classes:
        raise PredictionsError(
            f"{table.path}: the opinion {plan.name} has {given} columns of probabilities, expected "
            f"one for each of the {n_classes} classes ({listed(predictions.classes)}), in that "
            "order"
        )
    if isinstance(columns, tuple):
        _check_order(table, plan, columns, predictions.classes)
    own = _predicted_at(table, predictions)
    share = np.full(own.size, np.nan, dtype=np.float32)
    most = np.full(own.size, NOTHING, dtype=np.min_scalar_type(-max(n_classes, 2)))
    n_before = 0
    for rows in _rows(table, columns, predictions.classes, plan):
        here = slice(n_before, n_before + len(rows))
        n_before += len(rows)
        is_there = ~np.isnan(rows).any(axis=1)
        # rows without any are not left out, so that the others keep their numbers
        known = np.where(is_there[:, None], rows, 1 / n_classes)
        check_probabilities(table.faults, known, here.start + 1, f" of the opinion {plan.name}")
        share[here] = np.where(is_there, rows[np.arange(len(rows)), own[here]], np.nan)
        most[here] = np.where(is_there, np.nan_to_num(rows).argmax(axis=1), NOTHING)
    return logits(table.moved(share, np.nan)), table.moved(most, NOTHING)


def _check_order(
    table: Columns, plan: OpinionPlan, columns: tuple[str, ...], classes: tuple[str, ...]
) -> None:
    """Refuse columns that are called after the pool's classes, in another order."""
    named = without_shared_prefix(columns)
    if named != classes and set(named) == set(classes):
        right = [columns[named.index(name)] for name in classes]
        raise PredictionsError(
            f"{table.path}: the opinion {plan.name} has the columns {listed(columns)}, but the "
            f"classes are {listed(classes)}, in that order; write [{', '.join(right)}]"
        )


def _predicted_at(table: Columns, predictions: Predictions) -> NDArray[np.int32]:
    """(rows,) the class that the assessed model predicts for the item of each row of the file."""
    if table.order is None:
        return predictions.predicted
    there = table.order >= 0
    own = np.zeros(table.n_rows, dtype=np.int32)
    own[table.order[there]] = predictions.predicted[there]
    return own


def _rows(
    table: Columns, columns: str | tuple[str, ...], classes: tuple[str, ...], plan: OpinionPlan
) -> Iterator[NDArray[np.floating]]:
    """The probabilities, (some, K), piece by piece; NaN where there are none."""
    n_classes = len(classes)
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
                f"each of the classes ({listed(classes)}), in that order"
            )
        rows = np.full((piece.num_rows, n_classes), np.nan)
        rows[lists.is_valid().to_numpy(zero_copy_only=False)] = (
            lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, n_classes)
        )
        yield rows
