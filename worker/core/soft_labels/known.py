"""From votes to a belief: what is known of the mean measure of every group, and where to ask."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.soft_labels.cells import Found, Seen, draws, fit, worths
from worker.core.soft_labels.design import Design
from worker.core.soft_labels.opinions import Measured, measured

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ITEMS, _CELLS = 1, 2  # streams of random numbers


@dataclass(frozen=True, slots=True)
class DistanceMeasure:
    """A measure of items, and its greatest value.

    of: human frequencies (n, K) and predictions (n, 1, K) -> (n, 1) numbers in [0, highest].
    misfit: as of `opinions.measured`.
    """

    of: Callable[[Floats, Floats], Floats]
    highest: float = 1.0
    misfit: float = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class VoteCounts:
    """The votes on n items of the pool.

    counts: (n, K) whole, at least one an item. predicted: (n, K), rows sum to 1. cell: (n,).
    """

    counts: Ints
    predicted: Floats
    cell: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the votes tell of the measure.

    values: (D, G) equally likely values of the groups' means over all their items; nan where a
        group has none. n_votes: all votes. design, found: what the cells are like, to choose by.
    highest: the unit of `found`.
    """

    values: Floats
    n_votes: int
    design: Design
    found: Found
    highest: float

    def drops(self, pending: Ints | None = None) -> Floats:
        """(C,) expected drop of the variance of the mean over all items, by one more item.

        Args:
            pending: (C,) items that wait for votes; they count as if they had come back.
        """
        scale = (self.highest / self.design.size.sum()) ** 2
        more = np.zeros_like(self.design.size) if pending is None else pending
        dropped: Floats = scale * worths(self.design, self.found, more)
        return dropped


def known(
    vote_counts: VoteCounts,
    design: Design,
    group: Ints,
    n_groups: int,
    distance: DistanceMeasure,
    seed: tuple[int, ...],
) -> Known:
    """Say what the votes tell of the mean measure of every group, and of all items together.

    A function of the multiset of the counts, the cells and the seed alone, if the counts come in a
    canonical order.

    Args:
        design: the cells, with their sizes (`design_of`).
        group: (C,) each cell's group, of `n_groups`; there may be groups without cells.
        seed: of the draws; whole numbers >= 0.
    """

    items = measured_by(distance, vote_counts, seed)
    seen = summed(items, vote_counts.cell, design.size.size)
    found = fit(design, seen)
    drawn = draws(design, seen, found, _stream(seed, _CELLS))
    sizes = np.bincount(group, weights=design.size, minlength=n_groups)
    filled, first = np.unique(group, return_index=True)
    values = np.full((len(drawn), n_groups), np.nan)
    values[:, filled] = np.add.reduceat(drawn, first, axis=1) * distance.highest / sizes[filled]
    values.setflags(write=False)
    return Known(values, int(vote_counts.counts.sum()), design, found, distance.highest)


def measured_by(
    distance: DistanceMeasure, vote_counts: VoteCounts, seed: tuple[int, ...]
) -> Measured:
    """The posterior of every item's measure, as a part of the greatest possible one."""

    def of(human: Floats, predicted: Floats) -> Floats:
        return np.clip(distance.of(human, predicted) / distance.highest, 0.0, 1.0)

    rng = _stream(seed, _ITEMS)
    return measured(vote_counts.counts, vote_counts.predicted, of, rng, distance.misfit)


def summed(items: Measured, cell: Ints, n_cells: int) -> Seen:
    """Sums over the items with votes of each cell."""

    def sums(numbers: Floats) -> Floats:
        summed: Floats = np.bincount(cell, weights=numbers, minlength=n_cells).astype(np.float64)
        return summed

    return Seen(
        n=np.bincount(cell, minlength=n_cells),
        total=sums(items.mean),
        spread=sums(items.variance),
        squares=sums(items.mean**2 + items.variance),
        shifted=np.stack([sums(shifted) for shifted in items.shifted]),
        exact=items.exact,
    )


def _stream(seed: tuple[int, ...], number: int) -> np.random.Generator:
    return np.random.default_rng([*seed, number])
