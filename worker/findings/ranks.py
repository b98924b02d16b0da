"""Where each group stands among all, from posterior draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, group_size
from worker.core.posterior.summary import draws

Floats = NDArray[np.float64]

_BLOCK = 250
_DECIMALS = 12  # k1 / N1 and k2 / N2 may be the same number, and differ by rounding


@dataclass(frozen=True, slots=True, eq=False)
class GroupRanks:
    """Probabilities from 2,000 draws (standard error at most 0.011); nan for groups without items.

    p_lowest, p_highest: (G,) that no group's value is lower, or higher; tied groups all count.
    rank, rank_low, rank_high: (G,) median and 95% interval of the rank; 1 is the lowest value.
    """

    p_lowest: Floats
    p_highest: Floats
    rank: Floats
    rank_low: Floats
    rank_high: Floats


def group_ranks(belief: Belief) -> GroupRanks:
    """Compare the groups' values in posterior draws, always the same ones for the same tally."""
    filled = np.flatnonzero(group_size(belief))
    drawn = draws(belief)
    ranks = np.empty((filled.size, len(drawn)), dtype=np.int32)
    lowest, highest = np.zeros(filled.size), np.zeros(filled.size)
    for some in _blocks(len(drawn)):
        exact = drawn[some][:, filled].round(_DECIMALS)
        ranks[:, some] = _ranks(exact).T
        lowest += (exact == exact.min(axis=1, keepdims=True)).sum(axis=0)
        highest += (exact == exact.max(axis=1, keepdims=True)).sum(axis=0)
    tails = [0.025, 0.5, 0.975]
    places = np.concatenate(
        [
            np.quantile(ranks[some], tails, axis=1, method="inverted_cdf")
            for some in _blocks(filled.size)
        ],
        axis=1,
    )

    def of_all(numbers: Floats) -> Floats:
        spread = np.full(belief.n_groups, np.nan)
        spread[filled] = numbers
        return spread

    return GroupRanks(
        p_lowest=of_all(lowest / len(drawn)),
        p_highest=of_all(highest / len(drawn)),
        rank=of_all(places[1]),
        rank_low=of_all(places[0]),
        rank_high=of_all(places[2]),
    )


def _ranks(values: Floats) -> NDArray[np.intp]:
    """(n, G) the rank of every value in its row; the least has 1, equal ones share it."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    begins = np.diff(ordered, axis=1, prepend=-np.inf) > 0  # where each different value begins
    first = np.maximum.accumulate(np.where(begins, np.arange(values.shape[1]), 0), axis=1)
    ranks = np.empty_like(first)
    np.put_along_axis(ranks, order, first + 1, axis=1)
    return ranks


def _blocks(n: int) -> Iterator[slice]:
    """Some rows at a time: the draws of ten thousand groups are 160 MB, and would be copied."""
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))
