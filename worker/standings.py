"""Where each group stands among all, and what all come to together, from posterior draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from worker.core.belief import Belief, group_size
from worker.core.posterior import draws, whole

Floats = NDArray[np.float64]

_DECIMALS = 12  # k1 / N1 and k2 / N2 may be the same number, and differ by rounding


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """Probabilities from 2,000 draws (standard error at most 0.011); nan for groups without items.

    p_lowest, p_highest: (G,) that no group's value is lower, or higher; tied groups all count.
    rank, rank_low, rank_high: (G,) median and 95% interval of the rank; 1 is the lowest value.
    overall: mean and 95% interval of the groups' mean weighted by their shares of the pool.
    """

    p_lowest: Floats
    p_highest: Floats
    rank: Floats
    rank_low: Floats
    rank_high: Floats
    overall: tuple[float, float, float]


def standings(belief: Belief) -> Standings:
    """Compare the groups' values in posterior draws, always the same ones for the same tally."""
    filled = np.flatnonzero(group_size(belief))
    exact = draws(belief)[:, filled].round(_DECIMALS)
    ranks = stats.rankdata(exact, method="min", axis=1)
    low, middle, high = np.quantile(ranks, [0.025, 0.5, 0.975], axis=0, method="inverted_cdf")

    def of_all(numbers: Floats) -> Floats:
        spread = np.full(belief.n_groups, np.nan)
        spread[filled] = numbers
        return spread

    return Standings(
        p_lowest=of_all((exact == exact.min(axis=1, keepdims=True)).mean(axis=0)),
        p_highest=of_all((exact == exact.max(axis=1, keepdims=True)).mean(axis=0)),
        rank=of_all(middle),
        rank_low=of_all(low),
        rank_high=of_all(high),
        overall=whole(belief),
    )
