"""The true classes of a pool whose items are all labelled already, for simulations."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.metrics import METRICS
from worker.nearest import did_you_mean, listed
from worker.plan import Plan
from worker.plan.addresses import address
from worker.pool.checks import check_filled, is_absent
from worker.pool.class_names import class_names
from worker.pool.file import Pool
from worker.pool.prepared import prepared
from worker.pool.remote import fetched, localised
from worker.pool.tables import ROW_NUMBER, Wanted, column_names, pieces


def read_truth(plan: Plan, pool: Pool, column: str) -> NDArray[np.int64]:
    """Return the true class of every item, in the order of the pool's rows.

    Where the plan does not list the classes, they are those that were ever predicted; a true class
    that never was gets a further number, which no prediction matches.

    Args:
        plan: the plan that the pool was compiled from.
        pool: n items of K classes.
        column: the column of the predictions file with the true classes; or `FILE:COLUMN`, of a
            file of any known kind whose rows are found by the plan's `pool.id`.

    Returns:
        (n,) index of a class; K and more for classes that are never predicted.

    Raises:
        PredictionsError: there is no such file or column, it lacks the id or the class of an item,
            or holds a class that is not among those of the plan.
    """
    plan = localised(plan, pool.path.parent)
    path, column = place_of(plan, pool.path.parent, column, "--truth")
    table = pa.Table.from_batches(
        list(pieces(path, Wanted(tuple(dict.fromkeys((plan.pool.id, column))))))
    )
    ids, truth = (
        table.column(name).cast(pa.large_string()).combine_chunks()
        for name in (plan.pool.id, column)
    )
    check_filled(path, "the item's id", plan.pool.id, ids)
    _check_all_known(path, column, ids, truth)
    if len(ids) > pc.count_distinct(ids).as_py():
        twice = ids.value_counts().to_pylist()
        first = next(entry["values"] for entry in twice if entry["counts"] > 1)
        raise PredictionsError(
            f"{path}: the item {first} stands there twice (column {plan.pool.id}); keep one row of "
            "each item"
        )
    codes = _codes(plan, pool, path, column, truth)
    place = pc.index_in(pool.item_ids, value_set=ids)
    if place.null_count:
        lacking = pool.item_ids.filter(place.is_null()).slice(0, 5).to_pylist()
        raise PredictionsError(
            f"{path}: {place.null_count:,} items of the pool are not in the file (first: "
            f"{', '.join(lacking)}); add their true classes, or leave them out of the predictions"
        )
    in_order: NDArray[np.int64] = codes[place.to_numpy()]
    return in_order


def place_of(plan: Plan, folder: Path, column: str, option: str) -> tuple[Path, str]:
    """The file with the true classes of items, and their column in it.

    Args:
        folder: of compiled pools.
        column: as of `read_truth`.
        option: of the command, which says where they are.

    Raises:
        PredictionsError: there is no such file or column, or it has no ids.
    """
    path = prepared(plan.pool, folder).predictions
    present = [*column_names(path), ROW_NUMBER]
    file, _, of_file = column.rpartition(":")
    if column not in present and file:
        path, column = Path(file).expanduser(), of_file
        if address(path):
            path = fetched(path, folder / "sources")
        present = column_names(path)
    for name, cure in (
        (column, f"Correct {option}"),
        (plan.pool.id, "It must hold the items' ids"),
    ):
        if name not in present:
            what = "with the true classes" if name == column else "of the plan's `pool.id`"
            if name == column and not file:
                what += f", and no file {name} here"
            own = [one for one in present if one != ROW_NUMBER]
            raise PredictionsError(
                f"{path}: no column {name} {what}{did_you_mean(name, present)}; its columns are "
                f"{listed(own, 30)}. {cure}"
            )
    return path, column


def _check_all_known(path: Path, column: str, ids: pa.Array, truth: pa.Array) -> None:
    missing = is_absent(truth)
    if missing.any():
        first = [str(ids[int(row)].as_py()) for row in np.flatnonzero(missing)[:5]]
        raise PredictionsError(
            f"{path}: the true class (column {column}) is missing for {int(missing.sum()):,} of "
            f"{len(truth):,} items (first: {', '.join(first)}); fill it in, or leave these items "
            "out of the file"
        )


def _codes(plan: Plan, pool: Pool, path: Path, column: str, truth: pa.Array) -> NDArray[np.int64]:
    encoded = truth.dictionary_encode()
    values: list[str] = encoded.dictionary.to_pylist()
    unknown = unknown_classes(plan, pool.classes, path, column, values)
    place = {name: code for code, name in enumerate((*pool.classes, *unknown))}
    place |= {name: place[first] for name, first in plan.annotation.counts_as.items()}
    code_of = np.array([place[value] for value in values], dtype=np.int64)
    codes: NDArray[np.int64] = code_of[encoded.indices.to_numpy()]
    return codes


def unknown_classes(
    plan: Plan, classes: Sequence[str], path: Path, column: str, values: Iterable[str]
) -> list[str]:
    """The true classes that are none of the pool's, which no prediction matches.

    Raises:
        PredictionsError: there may be none: the plan lists the classes, the metric asks which class
            it is, or all of them are unknown.
    """
    found = set(values) - set(plan.annotation.counts_as)
    unknown = sorted(found - set(classes))
    is_open = class_names(plan.pool) is None and not METRICS[plan.question.metric].of_true_classes
    if unknown and not (is_open and len(unknown) < len(found)):
        guess = did_you_mean(unknown[0], classes)
        raise PredictionsError(
            f"{path}: the column {column} holds {len(unknown)} classes that are "
            f"not among those of the pool: {listed([repr(name) for name in unknown], 5)}{guess} "
            f"(the classes are {listed(classes)}). Write them alike, or list all classes "
            "under `pool.classes` in the plan"
        )
    return unknown
