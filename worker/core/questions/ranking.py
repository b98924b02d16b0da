"""Which groups are the most extreme, and how sure that is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, by_group, group_size, unlabelled
from worker.core.posterior.joint import given_shared
from worker.core.posterior.marginals import SLACK, BetaMarginal, Marginal
from worker.core.posterior.summary import draws, marginal, marginals, mean
from worker.core.prior.copula import Given
from worker.core.questions.question import Which

Floats = NDArray[np.float64]

LONG = 32  # groups: nobody asks for so many as an answer, but they may be who it is among
_MOST_VALUES = 1024
_NEGLIGIBLE = 1e-14


def ranking(b: Belief, which: Which = "lowest") -> NDArray[np.intp]:
    """The groups with items, the most extreme posterior mean first; equal means by their index."""
    means = mean(b) if which == "lowest" else -mean(b)
    order = np.argsort(means, kind="stable")
    return order[group_size(b)[order] > 0]


def set_confidence(
    b: Belief,
    chosen: Sequence[int],
    which: Which = "lowest",
    tolerance: float = 0.0,
    rivals: Sequence[int] | None = None,
    top: int | None = None,
) -> float:
    """P(`top` of the chosen groups are no better than any other by more than `tolerance` | labels).

    So it is the probability that the `top` lowest groups are among `chosen` (the highest, with
    everything turned round); a tied set is right. One sum over the possible accuracies x of the
    best of those `top`, weighted by P(all others reach x - tolerance): where groups are
    independent, exact within 1e-12 for the finite population, within about 1e-5 for the infinite
    one. Given what groups share they are independent: then it is the mean over its points
    (`worker.core.posterior.joint.given_shared`). Of more than 32 chosen groups a lower bound, from
    some 1,000 of the values x. Of models' accuracies, and of all classes' recalls or F1, it is a
    share of 2,000 draws.

    Args:
        chosen: distinct groups with items.
        tolerance: >= 0, accuracy.
        rivals: groups that are not chosen; None for all others with items. With some of them it is
            an upper bound of the confidence, without the distributions of the others.
        top: 1 <= top <= number of the chosen groups; None: all of them.

    Returns:
        In [0, 1]; 1 if there is no rival.

    Raises:
        ValueError: nothing is chosen, or a chosen group is unknown or has no items.
    """
    filled = np.flatnonzero(group_size(b))
    if not len(chosen) or not np.isin(chosen, filled).all() or len({*chosen}) < len(chosen):
        raise ValueError(
            f"the chosen groups {tuple(int(g) for g in chosen)} must be distinct groups with items "
            f"among 0 to {b.n_groups - 1}; choose from `ranking`."
        )
    top = len(chosen) if top is None else top
    if b.accuracies is not None:
        return _confidence_by_draws(draws(b), chosen, top, which, tolerance)
    if b.metric.classes == "each":  # an error of one class is a miss of another
        others = filled[~np.isin(filled, chosen)] if rivals is None else rivals
        values = draws(b)[:, [*chosen, *others]]
        return _confidence_by_draws(values, range(len(chosen)), top, which, tolerance)
    if rivals is not None:
        among = np.asarray(rivals, dtype=np.intp)
        return _confidence_among(b, chosen, top, among, which, tolerance)
    key = tuple(chosen), top, which, tolerance
    kept = b._memo.get("set_confidence")
    if kept is None or kept[0] != key:  # an idle turn asks again
        others = filled[~np.isin(filled, chosen)]
        kept = key, _confidence_among(b, chosen, top, others, which, tolerance)
        b._memo["set_confidence"] = kept
    return float(kept[1])


def _confidence_by_draws(
    drawn: Floats, chosen: Sequence[int], top: int, which: Which, tolerance: float
) -> float:
    """The share of joint draws (n, G) in which the set is right."""
    values = drawn if which == "lowest" else -drawn
    others = np.setdiff1d(np.arange(values.shape[1]), chosen)
    if not others.size:
        return 1.0
    last = np.partition(values[:, list(chosen)], top - 1, axis=1)[:, top - 1]
    return float((last <= values[:, others].min(axis=1) + tolerance + SLACK).mean())


def _confidence_among(
    b: Belief,
    chosen: Sequence[int],
    top: int,
    rivals: NDArray[np.intp],
    which: Which,
    tolerance: float,
) -> float:
    if not rivals.size:
        return 1.0
    members = _signed([marginal(b, g) for g in chosen], which)
    x, edges = _grid_of_last(members, top)
    # who cannot come below the last x need not be asked
    rivals = rivals[_least(b, which)[rivals] < x[-1] - tolerance]
    if 2 * rivals.size > b.n_groups:  # nearly all: the distributions are kept for the next belief
        distributions = marginals(b)
        known = [d for d in map(distributions.__getitem__, rivals.tolist()) if d is not None]
    else:
        known = [marginal(b, g) for g in rivals.tolist()]
    given = given_shared(b, which == "highest")
    mass = np.diff(_enough_below(members, top, edges, given.of(chosen)))
    n_likely = 1 + int(np.flatnonzero(mass.any(axis=0)).max())
    reach = _all_reach(_signed(known, which), x[:n_likely] - tolerance, given.of(rivals))
    return min(1.0, float((mass[:, :n_likely] * reach).sum(axis=1).mean()))


def _signed(distributions: Sequence[Marginal], which: Which) -> Sequence[Marginal]:
    """The distributions of values that the lower ones are chosen of."""
    return distributions if which == "lowest" else [d.mirrored() for d in distributions]


def _least(b: Belief, which: Which) -> Floats:
    """(G,) what no group's value (with the sign turned, if the highest are asked) is below."""
    if b.metric.kind != "accuracy" or b.population != "finite" or b.variants:
        return np.full(b.n_groups, -np.inf)
    done = b.right if which == "lowest" else -(b.right + unlabelled(b))
    least: Floats = by_group(b, done) / np.maximum(group_size(b), 1)
    return least


def _grid_of_last(members: Sequence[Marginal], top: int) -> tuple[Floats, Floats]:
    """Values (J,) for the `top`-th least of the members, each up to one of the edges (J + 1,).

    All values that it can have; of endless groups the middles of 512 bins.
    """
    low = sorted(d.low for d in members)[top - 1]
    high = sorted(d.high for d in members)[top - 1]
    if any(isinstance(d, BetaMarginal) for d in members):
        edges = np.linspace(low, high, 513, dtype=np.float64)
        return (edges[:-1] + edges[1:]) / 2, edges
    x = np.unique(np.concatenate([d.atoms()[0] for d in members]))
    x = x[(x >= low) & (x <= high)]
    if len(members) > LONG:  # with the greatest: all that lies above another counts as lying there
        x = x[::-1][:: -(-x.size // _MOST_VALUES)][::-1]
    return x, np.concatenate([[low - 1.0], x])


def _enough_below(distributions: Sequence[Marginal], top: int, x: Floats, given: Given) -> Floats:
    """(K, J) P(at least `top` values <= x) for ascending x, given each of K points of what is
    shared.

    Source:
        One value after the other, as for the Poisson binomial distribution.
    """
    shape = given.n_points, x.size
    if top == len(distributions):
        every = np.ones(shape)
        for i, distribution in enumerate(distributions):
            every *= 1 - given.tail(i, distribution.exceeds(x))
        return every
    fewer = np.zeros((top, *shape))  # P(0, 1, ... so far)
    fewer[0] = 1.0
    n_possible = x.size  # beyond it that fewer are is negligible: it only falls with x
    for i, distribution in enumerate(distributions):
        miss, so_far = given.tail(i, distribution.exceeds(x[:n_possible])), fewer[:, :, :n_possible]
        so_far[1:] = so_far[1:] * miss + so_far[:-1] * (1 - miss)
        so_far[0] *= miss
        most = so_far.sum(axis=0).max(axis=0)
        n_possible = int(np.searchsorted(-most, -_NEGLIGIBLE))
        if not n_possible:
            break
    fewer[:, :, n_possible:] = 0.0
    enough: Floats = 1 - fewer.sum(axis=0)
    return enough


def _all_reach(distributions: Sequence[Marginal], x: Floats, given: Given) -> Floats:
    """(K, J) P(every value >= x) for ascending x, given each of K points of what is shared."""
    product = np.ones((given.n_points, x.size))
    n_possible = x.size  # beyond it the product is negligible, for it only falls with x
    lows = np.array([d.low for d in distributions])
    for i in np.argsort(lows).tolist():
        # In this order the threatening rivals come first, and cut the grid for those after them.
        if not n_possible or lows[i] >= x[n_possible - 1]:
            break
        product[:, :n_possible] *= given.tail(i, distributions[i].reaches(x[:n_possible]))
        most = product[:, :n_possible].max(axis=0)
        n_possible = int(np.searchsorted(-most, -_NEGLIGIBLE))
    product[:, n_possible:] = 0.0
    return product
