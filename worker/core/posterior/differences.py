"""What is believed of differences: how often one model alone is right, and how often another.

Of an item on which two models disagree the first is right, the second, or neither. The shares of
the three are p in a stratum, m in its group: given m and a closeness s,

    p ~ Dirichlet(s m),  m ~ Dirichlet(A q),  s one of the belief's components.

So a rate that all strata of a group have in common is learnt from all of them together, and how far
they stray from it. What is known of m is taken for a Dirichlet, too: of every stratum's labels so
many count for m as were not to be expected from the others of that stratum ("tables"), s m (psi(s m
+ n) - psi(s m)) of n; then everything is in closed form, whatever the number of strata. With one
stratum that is exact; with several it is within .03 of a probability (tests/core).

Source:
    The Chinese restaurant franchise of Teh, Jordan, Beal & Blei, "Hierarchical Dirichlet processes"
    (2006), with the expected number of tables, as Teh, Kurihara & Welling, "Collapsed variational
    inference for HDP" (2008).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, Cells, Ints, group_size, starts
from worker.core.posterior.counts import CountDistribution, distribution_of_masses

Floats = NDArray[np.float64]

CLOSENESS = np.array([2.0, 8.0, 32.0])  # of a small stratum; equally likely at first
_SURE = 1e6  # closeness of a stratum that is the whole group
_ROUNDS = 4  # tables and m follow from each other
_LARGEST_EXACT = 40  # items; the table of a distribution grows with their square


@dataclass(slots=True, eq=False)
class Differences:
    """What is expected of the differences of g groups (c cells), given each component.

    weight: (g, U) of the components. mean, variance: (g, U) of the groups' values. rate: (c,) how
    likely the next label in each cell says that the first is right. drop: (c,) expected drop of the
    variance of its group's value by that label. first, second: (g, U) shares of these outcomes
    among the items to come; spread: (g, U) variance of the one's number less the other's. tables:
    (g, 3) labels that count for what the cells of a group have in common.
    """

    weight: Floats
    mean: Floats
    variance: Floats
    rate: Floats
    drop: Floats
    first: Floats
    second: Floats
    spread: Floats
    tables: Floats


def differences(b: Belief, groups: NDArray[np.intp], cells: Cells) -> Differences:
    """Work out what is known of some groups, all with items; the cells are theirs."""
    assert b.errors is not None, "checked when the belief was made"
    n_cells = starts(b)[groups + 1] - starts(b)[groups]
    begin = np.cumsum(n_cells) - n_cells
    of = np.repeat(np.arange(groups.size), n_cells)

    def sums(rows: Floats) -> Floats:
        total: Floats = np.add.reduceat(rows, begin, axis=0)
        return total

    tells = b.metric.unit[cells] == 0
    size = np.where(tells, b.size[cells], 0).astype(np.float64)
    counts = np.stack([b.right[cells], *b.errors.counts[cells].T]) * tells  # (3, c)
    done = counts.sum(axis=0)
    left = np.maximum(size - done, 0.0)[:, None]
    share = size / np.maximum(sums(size), 1.0)[of]
    strength = b.alpha[cells] + b.beta[cells]  # (c, U)
    strength = np.minimum(strength / np.maximum(1 - share, 1e-9)[:, None], _SURE)
    prior = b.metric.common[groups]
    common = strength_of_common(prior, sums(share[:, None] ** 2 / (strength + 1)))

    seen = np.flatnonzero(done)
    tables, m, told = learnt(counts[:, seen], strength[seen], of[seen], prior, common)
    weight = b.mixture * np.exp(told - told.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)

    total = strength + done[:, None]
    near = strength / total  # how far a cell follows m
    first, second = (near * m[k][of] + counts[k][:, None] / total for k in (0, 1))
    either, d = first + second, first - second
    d_m, behind = m[0] - m[1], common + tables.sum(axis=0) + 1
    of_m = (m[0] + m[1] - d_m**2) / behind  # variance of the difference of m
    gain = (total + left) / (total + 1)
    of_item = either - d**2 - near**2 * of_m[of]
    reach = sums(left * near)
    spread = reach**2 * of_m + sums(left * gain * of_item)
    to_come = [sums(left * one) for one in (first, second)]
    n_all = group_size(b)[groups].astype(np.float64)[:, None]
    mean = (sums(counts[0] - counts[1])[:, None] + to_come[0] - to_come[1]) / n_all
    n_left = np.maximum(sums(left), 1.0)

    # How the value moves with each outcome of a label: covariances with its indicator. Those with
    # the third are what is left.
    apart = (mean - (weight * mean).sum(axis=1, keepdims=True))[of]
    through = (reach[of] - gain * near) * near / n_all[of]
    gain, weight_of = gain / n_all[of], weight[of]
    chances, moves = [], []
    for k, (sign, rate) in enumerate(((1, first), (-1, second))):
        with_m = m[k] * (sign - d_m) / behind
        moved = through * with_m[of] + rate * (gain * (sign - d) + apart)
        chances.append(np.einsum("cu,cu->c", weight_of, rate))
        moves.append(np.einsum("cu,cu->c", weight_of, moved))
    chances.append(np.maximum(1 - chances[0] - chances[1], 0.0))
    moves.append(-moves[0] - moves[1])
    drop = sum(move**2 / np.maximum(p, 1e-300) for move, p in zip(moves, chances, strict=True))
    return Differences(
        weight, mean, spread / n_all**2, chances[0], np.where(left[:, 0] > 0, drop, 0.0),
        to_come[0] / n_left, to_come[1] / n_left, spread, (weight * tables).sum(axis=2).T,
    )  # fmt: skip


def strength_of_common(prior: Floats, of_strata: Floats) -> Floats:
    """(g, U) A: so that the group's value has the variance of the prior, however it is cut."""
    whole = 1 / (prior.sum(axis=1, keepdims=True) + 1)
    rest = np.maximum((whole - of_strata) / (1 - of_strata), 1e-6)
    strength: Floats = 1 / rest - 1
    return strength


def learnt(
    counts: NDArray[Any], strength: Floats, of: NDArray[np.intp], prior: Floats, common: Floats
) -> tuple[Floats, Floats, Floats]:
    """Tables (3, g, U), the mean of m (3, g, U), and the log likelihood of the components (g, U).

    m is Dirichlet with `common` pseudo-counts in the shares of `prior`, and the tables. The
    likelihood is that of all labels, by Bayes' rule at the mean of m.

    Args:
        counts: (3, c) of the cells with labels. strength: (c, U). of: (c,) their groups, ascending.

    Source:
        Chib, "Marginal likelihood from the Gibbs output" (1995), for the identity.
    """
    base = common * (prior / prior.sum(axis=1, keepdims=True)).T[:, :, None]
    done = counts.sum(axis=0)
    # one label of a cell tells of m alone: most cells have no more, where there are many
    is_one = done <= 1
    ones = np.stack([np.bincount(of, row * is_one, len(prior)) for row in counts])[:, :, None]
    n, at, s = counts[:, ~is_one, None], of[~is_one], strength[~is_one]
    begin = np.flatnonzero(np.diff(at, prepend=-1))

    def sums(rows: Floats) -> Floats:
        total = np.zeros((*rows.shape[:-2], *common.shape))
        if begin.size:
            total[..., at[begin], :] = np.add.reduceat(rows, begin, axis=-2)
        return total

    tables = ones + sums(np.broadcast_to(n, (*n.shape[:2], common.shape[1])))
    for _ in range(_ROUNDS):
        m = base + tables
        m /= m.sum(axis=0)
        tables = ones + sums(_tables(s * m[:, at], n))
    behind = base + tables
    m = behind / behind.sum(axis=0)
    told = sums(_rising(s * m[:, at], n).sum(axis=0) - _rising(s, n.sum(axis=0)))
    told += special.gammaln(common) - special.gammaln(base).sum(axis=0)
    told += special.gammaln(behind).sum(axis=0) - special.gammaln(behind.sum(axis=0))
    return tables, m, told - ((tables - ones) * np.log(m)).sum(axis=0)


def _tables(x: Floats, n: Floats) -> Floats:
    """x (psi(x + n) - psi(x)), within a hundredth: the sum of x / (x + i) by its middles."""
    more = np.maximum(n, 1.0)
    tables: Floats = np.minimum(n, 1.0) + x * np.log((x + more - 0.5) / (x + 0.5))
    return tables


def _rising(x: Floats, n: Floats) -> Floats:
    """log Gamma(x + n) - log Gamma(x), likewise."""
    high, low = x + np.maximum(n, 1.0) - 0.5, x + 0.5
    rest = high * np.log(high) - low * np.log(low) - (high - low)
    rising: Floats = np.minimum(n, 1.0) * np.log(x) + rest
    return rising


def distribution_of_difference(weight: Floats, to_come: Floats, left: int) -> CountDistribution:
    """The distribution of (first right - second right) + M among M = `left` items, in 0..2M.

    Given a component a Dirichlet-multinomial with the exact mean and variance; of more than 40
    items a Beta with both, in steps of an item.

    Args:
        weight: (U,). to_come: (3, U) first, second and spread of `Differences`.
    """
    if not left:
        return distribution_of_masses(np.ones(1))
    logs = (_exact if left <= _LARGEST_EXACT else _smooth)(to_come, left)
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    whole = (weight / mass.sum(axis=1)) @ mass
    if left <= _LARGEST_EXACT:
        whole = np.bincount(_triangle(left)[0], whole, 2 * left + 1)
    return distribution_of_masses(whole / whole.sum())


def _exact(to_come: Floats, left: int) -> Floats:
    """(U, K) logs of masses of all K ways to share the items; never narrower than a multinomial."""
    first, second, spread = to_come
    one = first + second - (first - second) ** 2
    times = spread / np.maximum(left * one, 1e-300)
    behind = np.clip((left - times) / np.maximum(times - 1, 1e-9), 1e-3, 1e9)
    shares = np.stack([first, second, 1 - first - second])
    a, j = np.maximum(behind * shares, 1e-9)[:, :, None], np.arange(left)
    logs = np.zeros((*shares.shape, left + 1))
    np.cumsum(np.log((a + j) / (j + 1)), axis=2, out=logs[:, :, 1:])
    _, x, y = _triangle(left)
    of_all: Floats = logs[0][:, x] + logs[1][:, y] + logs[2][:, left - x - y]
    return of_all


def _smooth(to_come: Floats, left: int) -> Floats:
    """(U, 2M + 1) logs of masses of all differences."""
    first, second, spread = to_come
    n = 2 * left + 1
    mean = (left * (1 + first - second) + 0.5) / n
    behind = np.maximum(mean * (1 - mean) * n**2 / np.maximum(spread, 1e-12) - 1, 1e-3)
    of_all: Floats = np.stack([behind * mean - 1, behind * (1 - mean) - 1], axis=1) @ _middles(left)
    return of_all


@lru_cache(maxsize=_LARGEST_EXACT)
def _triangle(left: int) -> tuple[Ints, Ints, Ints]:
    """(K,) differences + M of all ways to share M items, and the numbers of the first two kinds."""
    x, y = (axis.ravel() for axis in np.indices((left + 1, left + 1)))
    inside = x + y <= left
    return (x - y + left)[inside], x[inside], y[inside]


@lru_cache(maxsize=256)
def _middles(left: int) -> Floats:
    """(2, 2M + 1) logarithms of the middles of equal steps in (0, 1), and of the rest."""
    x = (np.arange(2 * left + 1) + 0.5) / (2 * left + 1)
    return np.log(np.stack([x, 1 - x]))
