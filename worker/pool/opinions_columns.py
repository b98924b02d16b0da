"""The columns of an opinion's file, put in the order of the pool's items."""

from __future__ import annotations

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
from worker.pool.checks import check_ids
from worker.pool.faults import Faults
from worker.pool.predictions import Predictions
from worker.pool.tables import Wanted, first_rows, pieces

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of one opinion, put in the order of the pool's items; order: as of `matched`."""

    path: Path
    plan: OpinionPlan
    order: NDArray[np.int64] | None
    n_items: int
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
        found = [
            piece.column(column).to_numpy(zero_copy_only=False)
            for piece in pieces(self.path, Wanted(numbers=(column,)))
        ]
        values: NDArray[np.floating] = np.concatenate(found)
        text = f"the opinion {self.plan.name} (column {column}) is infinite"
        self.faults.add(np.isinf(values), text)
        return values

    def shares(self, column: str) -> NDArray[np.floating]:
        """As `numbers`; outside [0, 1] they are faults."""
        values = self.numbers(column)
        text = f"the opinion {self.plan.name} (column {column}) is not within 0 and 1"
        self.faults.add((values < 0) | (values > 1), text)
        return values

    def texts(self, column: str) -> pa.DictionaryArray:
        """(rows,) of a column; null where there is none."""
        found = [piece.column(column) for piece in pieces(self.path, Wanted((column,)))]
        column_of_texts = pa.chunked_array(found).combine_chunks()
        blank = pc.equal(pc.utf8_trim_whitespace(column_of_texts), "")
        filled = pc.if_else(pc.fill_null(blank, True), None, column_of_texts)
        return filled.dictionary_encode()

    def is_numeric(self, column: str) -> bool:
        """Whether a column's first rows are numbers."""
        names = first_rows(self.path, 100)
        kind = names.schema.field(column).type if column in names.schema.names else pa.string()
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def matched(
    path: Path, plan: OpinionPlan, pool: PoolPlan, predictions: Predictions
) -> NDArray[np.int64]:
    """(n,) the row of the opinion's file that has each of the pool's items; -1 where none has."""
    column = plan.id or pool.id
    theirs = pa.concat_arrays(
        [piece.column(column).cast(pa.large_string()) for piece in pieces(path, Wanted((column,)))]
    )
    faults = Faults(path)
    check_ids(faults, column, lambda: [theirs], len(theirs))
    faults.refuse()
    found = [pc.index_in(ids, value_set=theirs) for ids in predictions.texts.ids()]
    order: NDArray[np.int64] = pc.fill_null(pa.concat_arrays(found), -1).to_numpy()
    order = order.astype(np.int64)
    if (order < 0).all():
        ours = next(iter(predictions.texts.ids()))
        raise PredictionsError(
            f"{path}: the opinion {plan.name} has none of the pool's items: its ids (column "
            f"{column}) are {listed(theirs.slice(0, 3).to_pylist())}, those of the pool (column "
            f"{pool.id}) {listed(ours.slice(0, 3).to_pylist())}; write them alike, or name the "
            "right column under `id`"
        )
    return order
