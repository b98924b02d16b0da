"""What the groups of a comparison say of each other: they share a rate, more or less closely."""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.differences import CLOSENESS, differences, learnt, strength_of_common

Floats = NDArray[np.float64]


def pooled(b: Belief, family: NDArray[np.int64]) -> Floats:
    """(G, 3) pseudo-counts of what the cells of each group have in common, by the other groups.

    As of the strata of a group (`posterior.differences`): the shares of a group are Dirichlet(t
    M), those M that all groups of a family share are Dirichlet, the closeness t is one of three. A
    group's own labels are left out. What is then known of its shares is given as one Dirichlet of
    the same mean and, of the difference, variance.

    Args:
        family: (G,) groups of one number are pooled.
    """
    found = differences(b, np.arange(b.n_groups), slice(0, b.group.size))
    common = b.metric.common.copy()
    of_groups = 1 / (np.tile(CLOSENESS, (1, 1)) + 1)
    for g in range(b.n_groups):
        others = np.flatnonzero((family == family[g]) & (np.arange(b.n_groups) != g))
        others = others[found.tables[others].sum(axis=1) > 0]
        if others.size:
            prior = b.metric.common[[g]]
            closeness = np.tile(CLOSENESS, (others.size, 1))
            at_first = strength_of_common(prior, of_groups)
            none = np.zeros(others.size, dtype=np.intp)
            tables, m, told = learnt(found.tables[others].T, closeness, none, prior, at_first)
            behind = at_first + tables.sum(axis=0)
            common[g] = _as_one(m[:, 0], behind[0], told[0])
    return common


def _as_one(m: Floats, behind: Floats, told: Floats) -> Floats:
    """(3,) pseudo-counts: the Dirichlets of (3, U) means and what is behind them, taken for one."""
    weight = np.exp(told - told.max())
    weight /= weight.sum()
    of_all = 1 / (behind + 1)
    of_group = of_all + (1 - of_all) / (CLOSENESS + 1)
    d, mean = m[0] - m[1], m @ weight
    one = (m[0] + m[1] - d**2) * of_group
    variance = weight @ (one + (d - weight @ d) ** 2)
    shares: Floats = mean * ((mean[0] + mean[1] - (mean[0] - mean[1]) ** 2) / variance - 1)
    return shares
