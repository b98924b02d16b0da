"""How sure the finding roughly is, at a tenth of the cost; said while nothing is decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, by_group, group_size, unlabelled
from worker.core.posterior.counts import beta_binomials, law_of_masses
from worker.core.posterior.joint import given_shared
from worker.core.posterior.marginals import FiniteMarginal, first_from
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import mean, variance
from worker.core.prior.shared import Given
from worker.core.questions.question import Which
from worker.core.questions.ranking import NEGLIGIBLE, at_least, enough_below, grid_of_last

Floats = NDArray[np.float64]

_MOST_STEPS = 400  # of the values that a group's accuracy may take
_N_EDGES = 201
_NARROWEST = 1e-9
_N_POINTS = 8  # of what groups share
_BLOCK = 1 << 20  # numbers held at once


def rough_set_confidence(
    b: Belief,
    chosen: Sequence[int],
    which: Which = "lowest",
    tolerance: float = 0.0,
    top: int | None = None,
) -> float:
    """`ranking.set_confidence`, of simpler laws with every group's exact mean and variance.

    An accuracy is that of a beta-binomial number of right items, as many values as the group has
    unlabelled ones, so that ties count as they do; more than 400 values are made 400, without
    ties. Every other metric is normal.
    """
    filled = np.flatnonzero(group_size(b))
    is_chosen, top = np.isin(filled, chosen), len(chosen) if top is None else top
    if is_chosen.all():
        return 1.0
    if b.metric.kind != "accuracy":
        return _of_normals(b, filled, is_chosen, top, which, tolerance)
    counts = _counts(b, filled)
    if which == "highest":
        counts = _mirrored(counts)
    given = given_shared(b, which == "highest", _N_POINTS).of(filled)
    members = _laws(_some(counts, is_chosen))
    x, edges = grid_of_last(members, top)
    mass = np.diff(enough_below(members, top, edges, given.of(np.flatnonzero(is_chosen))))
    rivals = given.of(np.flatnonzero(~is_chosen))
    reach = _all_reach(_some(counts, ~is_chosen), x - tolerance, rivals)
    return min(1.0, float((mass * reach).sum(axis=1).mean()))


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Groups whose value is offset + (right + X) / size, X beta-binomial; (g,) each.

    In units of one step: `right` and `size` need not be whole.
    """

    n: NDArray[np.int64]  # X is one of 0..n
    a: Floats
    b: Floats
    right: Floats
    size: Floats
    offset: Floats


def _counts(b: Belief, filled: NDArray[np.intp]) -> _Counts:
    size = group_size(b)[filled].astype(float)
    right: Floats = np.zeros(filled.size)
    left: Floats = size
    if b.population == "finite" and not b.variants:
        right = by_group(b, b.right)[filled].astype(float)
        left = by_group(b, unlabelled(b))[filled].astype(float)
    is_coarse = (left > _MOST_STEPS) | (b.population == "infinite")
    steps = np.where(is_coarse, _MOST_STEPS, left).astype(np.int64)
    known = moments(b)
    # In units of one step; the value is (right + count) * unit / size.
    unit = np.where(steps > 0, left / np.maximum(steps, 1), 1.0)
    mean = known.mean[filled] * size / unit - right / unit
    variance = known.variance[filled] * (size / unit) ** 2
    # Values that are steps only by our doing must not meet.
    apart = np.where(is_coarse, (np.arange(filled.size) + 0.5) / filled.size - 0.5, 0.0)
    return _Counts(
        steps, *_matched(mean, variance, np.maximum(steps, 1)),
        right / unit, size / unit, apart * unit / size,
    )  # fmt: skip


def _mirrored(c: _Counts) -> _Counts:
    """The groups' values with the sign turned."""
    return _Counts(c.n, c.b, c.a, c.size - c.right - c.n, c.size, -c.offset - 1.0)


def _some(c: _Counts, at: NDArray[np.bool_] | NDArray[np.intp]) -> _Counts:
    return _Counts(c.n[at], c.a[at], c.b[at], c.right[at], c.size[at], c.offset[at])


def _masses(c: _Counts) -> Floats:
    """(g, max(n) + 1) probabilities of the counts, a group a row."""
    pmf = beta_binomials(np.maximum(c.n, 1), c.a, c.b)
    pmf[c.n == 0] = np.arange(pmf.shape[1]) == 0
    return pmf


def _laws(c: _Counts) -> list[FiniteMarginal]:
    columns = zip(_masses(c), c.n.tolist(), c.right, c.size, c.offset, strict=True)
    return [
        FiniteMarginal(law_of_masses(pmf[: n + 1].copy()), float(right), float(size), float(offset))
        for pmf, n, right, size, offset in columns
    ]


def _all_reach(rivals: _Counts, x: Floats, given: Given) -> Floats:
    """(K, J) P(every rival's value >= x), for ascending x, given each of K points of what is
    shared; many rivals at a time.

    One law after the other, ten thousand groups would take most of a second.
    """
    product = np.ones((given.n_points, x.size))
    n_possible = x.size  # beyond it the product is negligible, for it only falls with x
    for at in _blocks(rivals.n, x.size):
        if not n_possible:
            break
        some = _some(rivals, at)
        pmf = _masses(some)
        at_least = np.zeros((len(pmf), pmf.shape[1] + 1))
        at_least[:, :-1] = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
        columns = some.right[:, None], some.size[:, None], some.offset[:, None]
        first = np.clip(first_from(x[:n_possible], *columns), 0, pmf.shape[1])
        tails = np.take_along_axis(at_least, first, axis=1)
        product[:, :n_possible] *= given.of(at).all_tails(tails)
        most = product[:, :n_possible].max(axis=0)
        n_possible = int(np.searchsorted(-most, -NEGLIGIBLE))
    product[:, n_possible:] = 0.0
    return product


def _blocks(n: NDArray[np.int64], width: int) -> Iterator[NDArray[np.intp]]:
    """Groups of similar numbers of steps together, at most `_BLOCK` numbers a time."""
    order = np.argsort(n, kind="stable")
    while order.size:
        # the last one of a block is its widest
        upto = np.maximum(n[order] + 2, width) * np.arange(1, order.size + 1)
        n_fitting = max(1, int(np.searchsorted(upto, _BLOCK, side="right")))
        yield order[:n_fitting]
        order = order[n_fitting:]


def _matched(mean: Floats, variance: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The parameters of beta-binomial counts of n items with these means and variances."""
    share = np.clip(mean / n, 1e-6, 1 - 1e-6)
    over = np.clip(variance / (n * share * (1 - share)), 1 + 1e-6, np.maximum(n * (1 - 1e-6), 1.1))
    strength = np.maximum(n - over, 1e-6) / (over - 1)
    return share * strength, (1 - share) * strength


def _of_normals(
    b: Belief,
    filled: NDArray[np.intp],
    is_chosen: NDArray[np.bool_],
    top: int,
    which: Which,
    tolerance: float,
) -> float:
    centre = mean(b)[filled] if which == "lowest" else -mean(b)[filled]
    sd = np.sqrt(variance(b)[filled]) + _NARROWEST
    low, high = centre[is_chosen] - 6 * sd[is_chosen], centre[is_chosen] + 6 * sd[is_chosen]
    edges = np.linspace(np.sort(low)[top - 1], np.sort(high)[top - 1], _N_EDGES)[:, None]
    given = given_shared(b, which == "highest", _N_POINTS).of(filled)
    above = special.ndtr((centre[is_chosen] - edges) / sd[is_chosen])
    members = given.of(np.flatnonzero(is_chosen))
    tails = (members.tail(i, tail) for i, tail in enumerate(above.T))
    below = at_least(top, len(above.T), tails, (given.n_points, len(edges)))
    middle = (edges[1:] + edges[:-1]) / 2 - tolerance
    rivals = np.flatnonzero(~is_chosen & (centre - 6 * sd < float(edges[-1, 0])))
    reach = special.ndtr((centre[rivals] - middle) / sd[rivals]).T
    return float((np.diff(below) * given.of(rivals).all_tails(reach)).sum(axis=1).mean())
