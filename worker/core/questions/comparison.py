"""Whether one group is practically less, equally or more accurate than another."""

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, group_size, unlabelled
from worker.core.posterior.counts import BoundedCache
from worker.core.posterior.distributions import distributions_after
from worker.core.posterior.marginals import Marginal
from worker.core.posterior.mixing import mixed
from worker.core.posterior.moments import moments
from worker.core.posterior.pairwise import Region, regions_of
from worker.core.posterior.summary import correlations, marginal, marginals
from worker.core.questions.question import Question

Floats = NDArray[np.float64]
Pairs = tuple[tuple[int, int], ...]

# The distributions by which pairs were compared last, and what came of it: a label changes one
# group's distribution.
_last = BoundedCache(1 << 22)


def region(b: Belief, g1: int, g2: int, epsilon: float) -> Region:
    """P(Delta < -epsilon), P(|Delta| <= epsilon), P(Delta > epsilon), Delta = theta_g1 - theta_g2.

    Where groups are independent, exact for the finite population and within 1e-8 for the infinite
    one; what groups share correlates them (`regions_of`). A difference counts as inside
    up to epsilon + 1e-12, because the rounding of k1/N1 - k2/N2 must not decide.

    Raises:
        ValueError: a group is unknown or has no items.
    """

    def plain(of: Belief) -> Floats:
        distributions = [marginal(of, g1), marginal(of, g2)]
        rho = correlations(of, ((g1, g2),))
        found: Floats = regions_of(distributions, [(0, 1)], epsilon, rho)[0]
        return found

    below, within, above = mixed(b, plain).tolist()
    return below, within, above


def regions(b: Belief, pairs: Pairs, epsilon: float) -> Floats:
    """(P, 3) `region` of every pair; the pairs must be valid (`pairs_asked`).

    Only pairs with a distribution that changed since they were last compared are worked out.
    """
    if b.variants:
        shares: Floats = mixed(b, lambda of: regions(of, pairs, epsilon))
        return shares
    distributions, of = marginals(b), _indices(pairs)
    rho = correlations(b, of)
    known: tuple[list[Marginal | None], Any, Floats] | None = _last.get((pairs, epsilon))
    moved: bool | NDArray[np.bool_] = False
    if known is None or len(known[0]) != len(distributions) or (rho is None) != (known[1] is None):
        is_new = [True] * len(distributions)
        found: Floats = np.zeros((len(of), 3))
    else:
        is_new = [d != old for d, old in zip(distributions, known[0], strict=True)]
        if rho is not None:
            moved = rho != known[1]
        found = known[2].copy()
    at = np.flatnonzero(np.array(is_new)[of].any(axis=1) | moved)
    if at.size:
        some = None if rho is None else rho[at]
        found[at] = regions_of(distributions, of[at], epsilon, some)
        n_floats = 20 * len(pairs) + sum(d.n_floats for d in distributions if d is not None)
        _last.put((pairs, epsilon), (distributions, rho, found.copy()), n_floats)
    return found


@lru_cache(maxsize=1)  # of a thousand groups they are half a million
def _indices(pairs: Pairs) -> NDArray[np.intp]:
    return np.array(pairs, dtype=np.intp)


@lru_cache(maxsize=1)
def _all_pairs(filled: tuple[int, ...]) -> Pairs:
    return tuple(combinations(filled, 2))


def pairs_asked(b: Belief, question: Question) -> Pairs:
    """The pairs that the question lists, or all pairs of groups with items.

    Raises:
        ValueError: a listed group is unknown or has no items, or there is no pair at all.
    """
    sizes = group_size(b).tolist()
    if not question.pairs:
        pairs = _all_pairs(tuple(g for g, size in enumerate(sizes) if size))
        if not pairs:
            raise ValueError(
                "there are no two groups with items to compare; group the pool otherwise."
            )
        return pairs
    for pair in question.pairs:
        for g in pair:
            if not (0 <= g < b.n_groups and sizes[g]):
                raise ValueError(
                    f"the pair {pair} names group {g}, which is unknown or has no items; "
                    f"compare groups with items among 0 to {b.n_groups - 1}."
                )
    return question.pairs


def lookahead(
    b: Belief,
    g1: int,
    g2: int,
    epsilon: float,
    theta: Floats,
    cells: tuple[int | None, int | None] | None = None,
) -> tuple[float, float]:
    """E[lambda after one more label] in `g1` and in `g2`; lambda is the largest of `region`.

    The label is right with the drawn rate of its cell; no Monte Carlo.

    Args:
        theta: (C,) drawn rates of right answers (`draw_cells`), in [0, 1].
        cells: the cell of each group that the label would come from; None: no label, so today's
            lambda. Left out: the one with the largest expected drop of variance.

    Source:
        The comparison reward of Ji, Logan, Smyth & Steyvers (AAAI 2021), who estimate lambda from
        10,000 draws.
    """
    if cells is None:
        cells = (_best_cell(b, g1), _best_cell(b, g2))
    # the distributions of today, and those after each label and outcome, with their pairs
    distributions: list[Marginal | None] = [marginal(b, g1), marginal(b, g2)]
    pairs = [(0, 1)]
    for side, cell in enumerate(cells):
        if cell is not None:
            at = len(distributions)
            distributions += distributions_after(b, cell)
            pairs += [(at, 1), (at + 1, 1)] if side == 0 else [(0, at), (0, at + 1)]
    # a label moves what is known of a group, hardly how it is joined to the other one
    joined = correlations(b, ((g1, g2),))
    rho = None if joined is None else np.repeat(joined, len(pairs))
    now, *rest = regions_of(distributions, pairs, epsilon, rho).max(axis=1).tolist()
    outcomes, expected = iter(rest), [now, now]
    for side, cell in enumerate(cells):
        if cell is not None:
            right, wrong = next(outcomes), next(outcomes)
            expected[side] = float(theta[cell] * right + (1 - theta[cell]) * wrong)
    return expected[0], expected[1]


def _best_cell(b: Belief, g: int) -> int | None:
    open_cells = np.flatnonzero((b.group == g) & (unlabelled(b) > 0))
    if not open_cells.size:
        return None
    return int(open_cells[moments(b).drop[open_cells].argmax()])
