"""The strata of a pool with second opinions: where these agree, and what they would be without."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worker.pool import Pool
from worker.pool.opinions import SAYS_NOTHING, Told

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOST_BINS = 6  # of the score alone, in each group
MOST_TIMES = 1000.0  # strata that are all pure need no label at all


class Sides(NamedTuple):
    """(C,) in which strata an opinion agrees on at least half of the items, and the others on which
    it says something."""

    agrees: Bools
    otherwise: Bools


def labels_ratio(pool: Pool, right: NDArray[np.number[Any]], labelled: Ints) -> Floats:
    """(n,) how many times as many labels the same standard error would take without opinions.

    V_own / V_both, where V = sum over strata of n_g / N_g N S^2, S^2 = N / (N - 1) p (1 - p): the
    variance of the mean of all groups, each counted by its n_g labels, if these lie within it as
    its N_g items do. V_both is over the strata of the pool; V_own over those that differ by the
    score only: the strata of each group (and unit) are joined to at most six of like scores and
    equal numbers of items; of a classifier without scores, to one. From 1, where opinions tell
    nothing, to 1,000.

    Args:
        right: (n, C) right answers among all items of the strata. labelled: (C,) labels.

    Source:
        Cochran, "Sampling Techniques" (1977), 5.3-5.6: stratified means and their variances.
    """
    size, own = pool.cell_size * can_be_chosen(pool), _own_strata(pool)
    right = right * can_be_chosen(pool)
    order = np.argsort(own, kind="stable")
    begin = np.flatnonzero(np.diff(own[order], prepend=-1))
    joined = np.add.reduceat(right[:, order], begin, axis=1)
    weight = by_labels(pool, labelled)
    alone = _variance(joined, np.add.reduceat(size[order], begin), weight[order][begin])
    both = _variance(right, size, weight)
    ratio = np.ones(len(right))
    np.divide(alone, np.maximum(both, alone / MOST_TIMES), out=ratio, where=alone > 0)
    return np.maximum(ratio, 1.0)


def can_be_chosen(pool: Pool) -> Bools:
    """(C,) the strata whose items were not known beforehand in a way that tells of no others."""
    if pool.known is None or pool.known.use != "known":
        return np.ones(pool.n_cells, dtype=np.bool_)
    return np.asarray(pool.known.n_items == 0)


def by_labels(pool: Pool, labelled: Ints) -> Floats:
    """(C,) how much an item counts, if its group counts by its labels: n_g / N_g."""
    n = np.bincount(pool.cell_group, weights=labelled, minlength=pool.group_size.size)
    share: Floats = n / np.maximum(pool.group_size, 1)
    return share[pool.cell_group]


def _variance(right: NDArray[np.number[Any]], size: Ints, weight: Floats) -> Floats:
    spread: Floats = (right * (size - right) / np.maximum(size - 1, 1)) @ weight
    return spread


def _own_strata(pool: Pool) -> Ints:
    """(C,) which stratum each would be part of if only the score were known."""
    place = pool.cell_group * (int(pool.cell_unit.max()) + 1) + pool.cell_unit
    if not pool.has_scores:
        return place
    order = np.lexsort((pool.cell_mean_logit, place))
    size, at = pool.cell_size[order], place[order]
    begin = np.flatnonzero(np.diff(at, prepend=-1))
    counts = np.diff([*begin, at.size])
    upto = np.cumsum(size)
    middle = upto - size / 2 - np.repeat(upto[begin] - size[begin], counts)
    total = np.repeat(np.add.reduceat(size, begin), counts)
    own = np.empty_like(place)
    own[order] = at * _MOST_BINS + (_MOST_BINS * middle / total).astype(np.int64)
    return own


def sides_of(told: Told, pool: Pool) -> Sides | tuple[()]:
    """The two sides of one opinion; none if it is no classifier."""
    if told.agreed is None:
        return ()
    silent = np.full(pool.n_cells, told.n_missing / pool.n_items)
    if SAYS_NOTHING in told.terms:
        silent += told.x[told.terms.index(SAYS_NOTHING)]
    agrees = 2 * told.agreed >= pool.cell_size
    return Sides(agrees, ~agrees & (silent <= 0.5))
