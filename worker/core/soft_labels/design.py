"""What the predictions say of the cells before the first vote."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KNOTS = np.linspace(0.0, 1.0, 7)
_REACH = 0.18  # of a bend, as a share of the pool
USUAL_SLOPE = 0.7
_MOST_GROUPS = 100  # with more of them, groups differ by their cells only
_LEAST = 1e-3
_WORK = 1 << 23  # numbers; above, the first items of each cell stand for it


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """C cells, and a curve through them: offset + design @ w is the logit of a cell's mean measure.

    columns: (C, q): level, slope over the expected measure, bends over the cell's place among all
    items, and one column a group. offset: (C,). closeness: (C,) how many times closer than others a
    cell follows the curve. size: (C,) items.
    """

    columns: Floats
    offset: Floats
    closeness: Floats
    size: Ints


def design_of(expected: Floats, group: Ints, size: Ints) -> Design:
    """Lay a curve through the cells.

    Args:
        expected: (C,) mean measure in [0, 1] if the predictions held, as of `expected_measure`.
        group: (C,) ascending. size: (C,) items, >= 1.
    """
    x = special.logit(np.clip(expected, _LEAST, 1 - _LEAST))
    order = np.argsort(x, kind="stable")
    place = np.empty(x.size)
    place[order] = (np.cumsum(size[order]) - size[order] / 2) / size.sum()
    bends = np.exp(-0.5 * ((place[:, None] - KNOTS) / _REACH) ** 2)
    columns = [np.ones((x.size, 1)), (x - np.average(x, weights=size))[:, None], bends]
    n_groups = np.unique(group).size
    if 1 < n_groups <= _MOST_GROUPS:
        columns.append(np.eye(n_groups)[np.unique(group, return_inverse=True)[1]])
    middle = special.expit(USUAL_SLOPE * x)
    closeness = (4 * middle * (1 - middle)) ** -0.5
    return Design(np.concatenate(columns, axis=1), USUAL_SLOPE * x, closeness, size)


def expected_measure(
    predicted: NDArray[np.floating],
    start: Ints,
    size: Ints,
    measure: Callable[[Floats, Floats], Floats],
) -> Floats:
    """(C,) mean measure of each cell if everybody gave one class, as likely as it is predicted.

    Far from so where people disagree; it only orders the cells.

    Args:
        predicted: (N, K) of all items, cell after cell and in random order within each.
        start, size: (C,) each cell's first row, and its items.
    """
    k = predicted.shape[1]
    most = int(np.clip(_WORK // (k * k * size.size), 1, size.max()))
    taken = np.minimum(size, most)
    rows = np.repeat(start - (np.cumsum(taken) - taken), taken) + np.arange(taken.sum())
    p = predicted[rows].astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    mean = np.zeros(rows.size)
    for j in range(k):
        everybody = np.zeros((rows.size, k))
        everybody[:, j] = 1.0
        mean += p[:, j] * measure(everybody, p[:, None, :])[:, 0]
    cell = np.repeat(np.arange(size.size), taken)
    summed: Floats = np.bincount(cell, weights=mean, minlength=size.size) / taken
    return summed
