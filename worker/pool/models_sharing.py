"""Rare products of several models' groups are drawn together, and counted apart.

Two models of a thousand classes have a million products of classes, most of them of an item or
none. A cell of each would be too many. Rare ones therefore share a cell: a claim draws any item
that is left in it, so that its labels are a uniform sample of the cell, and of the part of it in
each group of each model. They are counted by portions, so that a label says of each model what it
says of its own group. A model's view has a row for every group in a shared cell, not one for every
product; these rows are what is capped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEIGHBOURHOODS = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)


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


def only_these(product: Ints, fine: Ints, is_told: NDArray[np.bool_]) -> Drawn:
    """Products whose labels tell something in cells of their own; all others in one, never drawn.

    Args:
        product: (n,). fine: (n,) the cells that these have alone. is_told: (n,).
    """
    return _together(product, fine, np.zeros_like(product), is_told, [])


def ways_together(
    product: Ints,
    fine: Ints,
    pattern: Ints,
    own: Sequence[NDArray[np.int32]],
    logit: Floats,
    most: int,
) -> Iterator[Drawn]:
    """The largest products in cells of their own, the others with their neighbours; finest first.

    Neighbours are products of one pattern of agreement whose groups, in each model, have scores
    that are alike: so that the groups that are looked for, the worst ones, are drawn together. With
    n neighbourhoods of groups in each of two models, an item of a group is found n times as often
    as with one, and a view has n times as many rows.

    Args:
        product, pattern: (n,) of each item. fine: (n,) the cells that products have alone.
        own: of each model, (n,) the group of every item. logit: (n, M) of the scores.
        most: rows that a view may have; half of them are for cells of one product.
    """
    is_alone = _largest(product, fine, most // 2)
    for n in _NEIGHBOURHOODS:
        near = pattern
        for m, of in enumerate(own):
            near = near * n + _neighbourhood(of, logit[:, m], n)
        yield _together(product, fine, near, is_alone, own)
    n_groups = max(np.unique(of).size for of in own)
    is_alone = _largest(product, fine, min(most // 2, max(0, most - n_groups)))
    yield _together(product, fine, np.zeros_like(pattern), is_alone, own)


def _largest(product: Ints, fine: Ints, most: int) -> NDArray[np.bool_]:
    """(n,) whether an item is in one of the largest products; they have at most so many cells."""
    size = np.bincount(product)
    _, first = np.unique(fine, return_index=True)
    n_cells = np.bincount(product[first], minlength=size.size)
    largest = np.argsort(-size, kind="stable")
    is_large = np.zeros(size.size, dtype=bool)
    is_large[largest[np.cumsum(n_cells[largest]) <= most]] = True
    return is_large[product]


def _neighbourhood(group: NDArray[np.int32], logit: Floats, n: int) -> Ints:
    """(n_items,) which of n equally many groups, by their mean scores, an item's group is among."""
    present, of = np.unique(group, return_inverse=True)
    mean = np.bincount(of, weights=logit) / np.bincount(of)
    rank = np.empty(present.size, dtype=np.int64)
    rank[np.argsort(mean, kind="stable")] = np.arange(present.size)
    neighbourhood: Ints = (rank * n // present.size)[of]
    return neighbourhood


def _together(
    product: Ints,
    fine: Ints,
    rare: Ints,
    is_alone: NDArray[np.bool_],
    own: Sequence[NDArray[np.int32]],
) -> Drawn:
    """Some items in the cells `fine`, the others in the cells `rare`."""
    keys = np.where(is_alone, fine, 1 + fine.max() + rare)
    every, cell = np.unique(keys, return_inverse=True)
    cell = cell.reshape(-1)
    n_alone = int(np.searchsorted(every, fine.max(), side="right"))
    portion = np.unique(cell * (1 + product.max()) + product, return_inverse=True)[1].reshape(-1)
    rows = [np.unique(cell * (1 + int(of.max())) + of).size for of in own]
    return Drawn(cell, portion, n_alone, every.size, max(n_alone, *rows, 0))
