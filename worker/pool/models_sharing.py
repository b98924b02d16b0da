"""Rare products of several models' groups are drawn together, and counted apart.

Two models of a thousand classes have a million products of classes, most of them of an item or
none. A cell of each would be too many. Rare ones therefore share a cell: a claim draws any item
that is left in it, so that its labels are a uniform sample of the cell, and of the part of it in
each group of each model. They are counted by portions, so that a label says of each model what it
says of its own group. A model's view has a row for every group in a shared cell, not one for every
product; these rows are what is capped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """From which cell every item is drawn, and as which portion of it it is counted.

    cell: (n,) the cells of one product come first, in the order of these; `n_alone` of `n_cells`.
    portion: (n,) in 0 ... P - 1, ascending with the cells. n_rows: of the longest view.
    """

    cell: Ints
    portion: Ints
    n_alone: int
    n_cells: int
    n_rows: int


def alone(fine: Ints) -> Drawn:
    """Every cell of one product; `fine` (n,) ascends with the products."""
    cells, cell = np.unique(fine, return_inverse=True)
    cell = cell.reshape(-1)
    return Drawn(cell, cell, cells.size, cells.size, cells.size)


def together(
    product: Ints,
    fine: Ints,
    rare: Ints,
    own: Sequence[NDArray[np.int32]],
    is_told: NDArray[np.bool_],
    most: int,
) -> Drawn:
    """The largest products in cells of their own, half as many as a view may have; others share.

    Args:
        product: (n,) in 0 ... n_products - 1. fine: (n,) the cells of their own that these would
            have. rare: (n,) the cell that items of rare products share.
        own: of each grouping, (n,) the group of every item.
        is_told: (n,) whether the item's label tells anything; if not, its product is a rare one,
            and no row of a view.
    """
    cells, first = np.unique(fine, return_index=True)
    n_products = int(product.max()) + 1
    n_cells = np.bincount(product[first], minlength=n_products)
    weight = np.bincount(product, weights=is_told, minlength=n_products)
    largest = np.argsort(-weight, kind="stable")
    is_frequent = np.zeros(n_products, dtype=bool)
    is_frequent[largest[np.cumsum(n_cells[largest]) <= most // 2]] = True
    is_frequent &= weight > 0
    is_alone = is_frequent[product]
    keys = np.where(is_alone, fine, cells[-1] + 1 + rare)
    every, cell = np.unique(keys, return_inverse=True)
    cell = cell.reshape(-1)
    portion = np.unique(cell * n_products + product, return_inverse=True)[1].reshape(-1)
    rows = [np.unique(cell[is_told] * (1 + int(of.max())) + of[is_told]).size for of in own]
    n_alone = int(np.unique(fine[is_alone]).size)
    return Drawn(cell, portion, n_alone, every.size, max(every.size, *rows))
