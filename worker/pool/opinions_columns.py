"""The columns of an opinion's file, put in the order of the pool's items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.opinions_part import OpinionPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import check_ids, id_hashes
from worker.pool.faults import Faults
from worker.pool.predictions import Predictions
from worker.pool.tables import Wanted, first_rows, pieces

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of one opinion, put in the order of the pool's items.

    order: as of `matched`; None where the file is the pool's. n_rows: of the file.
    """

    path: Path
    plan: OpinionPlan
    order: NDArray[np.int64] | None
    n_rows: int
    faults: Faults

    def moved(self, values: NDArray[T], missing: float) -> NDArray[T]:
        """(n,) values of the file's rows at the pool's items; `missing` where it has no row."""
        if self.order is None:
            return values
        found = values[self.order]
        found[self.order < 0] = missing
        return found

    def numbers(self, column: str) -> NDArray[np.floating]:
        """(rows,) of a column; NaN where there is none. Infinite ones are faults."""
        values = self._floats(column)
        text = f"the opinion {self.plan.name} (column {column}) is infinite"
        cure = " (write a number, or leave it empty where there is none)"
        self.faults.add(np.isinf(values), text, cure)
        return values

    def shares(self, column: str) -> NDArray[np.floating]:
        """As `numbers`; outside [0, 1] they are faults."""
        values = self._floats(column)
        is_outside = (values < 0) | (values > 1)
        if is_outside.any():
            first = f" (first: {float(values[is_outside][0]):.6g}; 87% is 0.87)"
            text = f"the opinion {self.plan.name} (column {column}) is not within 0 and 1"
            self.faults.add(is_outside, text, first)
        return values

    def _floats(self, column: str) -> NDArray[np.floating]:
        found = [
            piece.column(column).to_numpy(zero_copy_only=False)
            for piece in pieces(self.path, Wanted(numbers=(column,)))
        ]
        values: NDArray[np.floating] = np.concatenate(found)
        return values

    def texts(self, column: str) -> pa.DictionaryArray:
        """(rows,) of a column; null where there is none."""
        found = [piece.column(column) for piece in pieces(self.path, Wanted((column,)))]
        column_of_texts = pa.chunked_array(found).combine_chunks()
        blank = pc.equal(pc.utf8_trim_whitespace(column_of_texts), "")
        filled = pc.if_else(pc.fill_null(blank, True), None, column_of_texts)
        return filled.dictionary_encode()


def is_numeric(path: Path, column: str) -> bool:
    """Whether a column's first rows are numbers."""
    rows = first_rows(path, 100)
    kind = rows.schema.field(column).type if column in rows.schema.names else pa.string()
    return bool(
        pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    )


def numbers_of(path: Path, opinions: Sequence[OpinionPlan]) -> tuple[str, ...]:
    """The columns of opinions in a file that are read as numbers, but for lists of them."""
    found: list[str] = []
    for one in opinions:
        found += [name for name in (one.score, one.number) if name is not None]
        found += one.probabilities if isinstance(one.probabilities, tuple) else ()
        found += (one.right,) if one.right is not None and is_numeric(path, one.right) else ()
    return tuple(found)


def matched(
    path: Path, plan: OpinionPlan, pool: PoolPlan, predictions: Predictions
) -> tuple[NDArray[np.int64], int]:
    """Return the row of the opinion's file that has each of the pool's items, (n,), -1 where none
    has; and how many rows there are.

    Compared are 64-bit hashes: with ten million ids in either file one item gets another's row with
    a probability below 1e-5.

    Raises:
        PredictionsError: an id is missing or there twice, or none is one of the pool's.
    """
    column = plan.id or pool.id
    theirs = pa.concat_arrays(
        [piece.column(column).cast(pa.large_string()) for piece in pieces(path, Wanted((column,)))]
    )
    faults = Faults(path)
    check_ids(faults, column, lambda: [theirs], len(theirs))
    faults.refuse()
    hashes = id_hashes(theirs)
    by_hash = np.argsort(hashes)
    hashes = hashes[by_hash]
    found = []
    for ids in predictions.texts.ids():
        ours = id_hashes(ids)
        at = np.minimum(np.searchsorted(hashes, ours), hashes.size - 1)
        found.append(np.where(hashes[at] == ours, by_hash[at], -1))
    order = np.concatenate(found)
    if (order < 0).all():
        first = next(iter(predictions.texts.ids())).slice(0, 3)
        raise PredictionsError(
            f"{path}: the opinion {plan.name} has none of the pool's items: its ids (column "
            f"{column}) are {listed(theirs.slice(0, 3).to_pylist())}, those of the pool (column "
            f"{pool.id}) {listed(first.to_pylist())}; write them alike, or name the "
            "right column under `id`"
        )
    return order, len(theirs)
