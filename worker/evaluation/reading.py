"""Files -> the human frequencies and the predictions of the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.frequencies import Frequencies, from_counts, from_votes, reordered
from worker.evaluator.scales import Scale
from worker.nearest import did_you_mean, listed
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import check_filled, check_probabilities, is_absent
from worker.pool.class_names import class_names, without_shared_prefix
from worker.pool.faults import Faults, refuse
from worker.pool.predictions import probability_pieces
from worker.pool.tables import Wanted, column_names, pieces

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """A predictor's answers: items: N ids in the order of the file; values: (N, R, K), R answers an
    item (folds, seeds, dropout); part: (N,) names of the parts, or None."""

    path: Path
    items: tuple[str, ...]
    values: Floats
    part: tuple[str, ...] | None


def known_classes(pool: PoolPlan) -> tuple[str, ...]:
    """The classes of a pool with the probabilities of all of them.

    Raises:
        EvaluatorError: the predictions have a score of the predicted class only.
    """
    classes = class_names(pool)
    if pool.probabilities is None or classes is None:
        raise EvaluatorError(
            "The plan names the predicted class only (`pool.predicted`). To be compared with the "
            "votes of people it needs the probabilities of all classes: give `pool.probabilities`."
        )
    return classes


def read_predicted(pool: PoolPlan, path: Path, part: str | None = None) -> Predicted:
    """Read the probabilities of all classes; an id that stands R times has R predictions.

    Args:
        pool: what the columns mean.
        path: the file of this predictor.
        part: a column that cuts the items up.

    Raises:
        PredictionsError: the file is not as the pool says, items have unequal numbers of
            predictions, or are in two parts.
        EvaluatorError: as `known_classes`.
    """
    known_classes(pool)
    texts = (pool.id,) if part is None else (pool.id, part)
    table = pa.Table.from_batches(list(pieces(path, Wanted(tuple(dict.fromkeys(texts))))))
    columns = {name: table.column(name).combine_chunks() for name in dict.fromkeys(texts)}
    ids = columns[pool.id]
    _refuse_absent(path, pool.id, table)
    faults = Faults(path)
    found, first_row = [], 1
    for rows in probability_pieces(pool.model_copy(update={"predictions": path})):
        check_probabilities(faults, rows, first_row)
        faults.refuse()
        found.append(rows.astype(np.float64))
        first_row += rows.shape[0]
    values = np.concatenate(found)
    encoded = ids.dictionary_encode()
    items = tuple(encoded.dictionary.to_pylist())
    codes = encoded.indices.to_numpy()
    times = np.bincount(codes)
    if times.min() < times.max():
        few, many = items[int(times.argmin())], items[int(times.argmax())]
        raise PredictionsError(
            f"{path}: the item {few} has {times.min()} predictions, but {many} has {times.max()}; "
            "give as many of each item (one, or as many as there are folds or seeds)"
        )
    order = np.argsort(codes, kind="stable").reshape(len(items), -1)
    values = values[order] / values[order].sum(axis=2, keepdims=True)
    return Predicted(path, items, values, _part(path, part, columns, order, items))


def _part(
    path: Path, part: str | None, columns: Mapping[str, pa.Array], order: Ints, items: Sequence[str]
) -> tuple[str, ...] | None:
    if part is None:
        return None
    check_filled(path, "the part", part, columns[part])
    named = np.array(columns[part].to_pylist(), dtype=object)[order]
    differ = np.flatnonzero((named != named[:, :1]).any(axis=1))
    if differ.size:
        raise PredictionsError(
            f"{path}: the predictions of the item {items[int(differ[0])]} are in several parts "
            f"(column {part}): {', '.join(sorted(set(named[differ[0]])))}; an item is in one part"
        )
    return tuple(named[:, 0])


def read_human(
    path: Path,
    id_column: str,
    classes: Sequence[str],
    column: str | None = None,
    scale: Scale | None = None,
) -> Frequencies:
    """Read what people said: a column of votes or frequencies for each class, or a vote a row.

    Args:
        path: a table of any known kind (CSV, TSV, JSONL, Parquet).
        id_column: of the items' ids.
        classes: K names; columns may have a common beginning before them (`n_cat`, `n_dog`).
        column: of single votes; an item then has as many rows as votes.
        scale: how ratings become classes; columns may be named as its classes.

    Raises:
        PredictionsError: the file cannot be read, or lacks a column.
        EvaluatorError: what it holds cannot be used, as `from_counts` and `from_votes` say.
    """
    present = column_names(path)
    for name in (id_column, *(() if column is None else (column,))):
        if name not in present:
            raise PredictionsError(
                f"{path}: no column {name}{did_you_mean(name, present)}; its columns are "
                f"{listed(present)}. The ids' column is `pool.id`, that of single votes "
                "`evaluate.column`"
            )
    try:
        if column is not None:
            table = pa.Table.from_batches(list(pieces(path, Wanted((id_column, column)))))
            _refuse_absent(path, id_column, table)
            ids, votes = (table.column(name).to_pylist() for name in (id_column, column))
            return from_votes(ids, votes, classes, scale)
        columns = _class_columns(path, id_column, present, classes, scale)
        table = pa.Table.from_batches(list(pieces(path, Wanted((id_column,), columns))))
        _refuse_absent(path, id_column, table)
        counts = np.column_stack([table.column(name).to_numpy() for name in columns])
        return from_counts(table.column(id_column).to_pylist(), counts, classes)
    except EvaluatorError as error:
        raise EvaluatorError(f"{path}: {error}") from None


def _refuse_absent(path: Path, column: str, table: pa.Table) -> None:
    ids = table.column(column).combine_chunks()
    refuse(path, is_absent(ids), f"the id (column {column}) is missing or empty")


def _class_columns(
    path: Path,
    id_column: str,
    present: Sequence[str],
    classes: Sequence[str],
    scale: Scale | None,
) -> tuple[str, ...]:
    """The columns of the classes, in their order."""
    by_class = {name: name for name in classes}
    if scale is not None:
        of_class = reordered(scale, classes)
        by_class |= {classes[k]: name for k, name in zip(of_class, scale.classes, strict=True)}
    others = tuple(name for name in present if name != id_column)
    bare = dict(zip(without_shared_prefix(others), others, strict=True)) if others else {}
    known = {name: name for name in others}
    for names in (classes, tuple(by_class.values())):
        for table in (known, bare):
            if all(name in table for name in names):
                return tuple(table[name] for name in names)
    missing = [name for name in classes if name not in known]
    raise PredictionsError(
        f"{path}: no column for the class{'' if len(missing) == 1 else 'es'} "
        f"{listed(missing)}{did_you_mean(missing[0], others)}; its columns are {listed(others)}. "
        "Give a column of votes for each class, or `evaluate.column` if a row is a vote"
    )
