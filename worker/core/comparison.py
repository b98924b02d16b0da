"""Whether one group is practically less, equally or more accurate than another."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, group_size, unlabelled
from worker.core.marginals import BetaMarginal, FiniteMarginal, Marginal
from worker.core.moments import moments
from worker.core.posterior import marginal, marginals
from worker.core.question import Question
from worker.core.supposing import labelled

Floats = NDArray[np.float64]
Region = tuple[float, float, float]

# Double-exponential quadrature over (0, 1): indifferent to the steep ends of Beta quantiles.
_T = np.linspace(-3.2, 3.2, 161)
_NODES = 0.5 * (1 + np.tanh(0.5 * np.pi * np.sinh(_T)))
_WEIGHTS = np.cosh(_T) / np.cosh(0.5 * np.pi * np.sinh(_T)) ** 2
_WEIGHTS /= _WEIGHTS.sum()


def region(b: Belief, g1: int, g2: int, epsilon: float) -> Region:
    """P(Delta < -epsilon), P(|Delta| <= epsilon), P(Delta > epsilon), Delta = theta_g1 - theta_g2.

    Exact for the finite population, within 1e-8 for the infinite one. A difference counts as inside
    up to epsilon + 1e-12, because the rounding of k1/N1 - k2/N2 must not decide.

    Raises:
        ValueError: a group is unknown or has no items.
    """
    return _region(marginal(b, g1), marginal(b, g2), epsilon)


def regions(b: Belief, pairs: tuple[tuple[int, int], ...], epsilon: float) -> list[Region]:
    """`region` of every pair; the pairs must be valid (`pairs_asked`)."""
    laws = marginals(b)
    return [_region(laws[g1], laws[g2], epsilon) for g1, g2 in pairs]


def pairs_asked(b: Belief, question: Question) -> tuple[tuple[int, int], ...]:
    """The pairs that the question lists, or all pairs of groups with items.

    Raises:
        ValueError: a listed group is unknown or has no items, or there is no pair at all.
    """
    sizes = group_size(b).tolist()
    if not question.pairs:
        pairs = tuple(combinations([g for g, size in enumerate(sizes) if size], 2))
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
    now = max(region(b, g1, g2, epsilon))

    def expected(cell: int | None) -> float:
        if cell is None:
            return now
        right, wrong = (
            max(region(labelled(b, cell, outcome), g1, g2, epsilon)) for outcome in (0, 1)
        )
        return float(theta[cell] * right + (1 - theta[cell]) * wrong)

    return expected(cells[0]), expected(cells[1])


def _best_cell(b: Belief, g: int) -> int | None:
    open_cells = np.flatnonzero((b.group == g) & (unlabelled(b) > 0))
    if not open_cells.size:
        return None
    return int(open_cells[moments(b).drop[open_cells].argmax()])


# All pairs of 250 groups; one label changes 249 of them.
@lru_cache(maxsize=1 << 15)
def _region(first: Marginal | None, second: Marginal | None, epsilon: float) -> Region:
    if first is None or second is None:
        raise ValueError("a group without items cannot be compared; leave it out.")
    if (
        isinstance(first, BetaMarginal)
        and isinstance(second, BetaMarginal)
        and first.offset == second.offset
    ):
        less, more = _less(first, second, epsilon), _less(second, first, epsilon)
        return less, max(0.0, 1 - less - more), more
    x, mass = first.atoms()
    if isinstance(first, FiniteMarginal):
        bulk = slice(first.law.low, first.law.high + 1)
        x, mass = x[bulk], mass[bulk]
    # reaches and exceeds widen the band by SLACK to both sides
    not_above = second.reaches(x - epsilon)
    below = second.exceeds(x + epsilon)
    parts = np.array([mass @ below, mass @ (not_above - below), mass @ (1 - not_above)])
    p_below, p_within, p_above = (parts / parts.sum()).tolist()
    return p_below, p_within, p_above


def _less(x: BetaMarginal, y: BetaMarginal, epsilon: float) -> float:
    """P(x < y - epsilon), integrated over the narrower law, so that the other one is smooth."""
    if x.variance < y.variance:
        x, y = BetaMarginal(y.b, y.a), BetaMarginal(x.b, x.a)  # 1 - y < 1 - x - epsilon
    start = float(special.betainc(y.a, y.b, epsilon))  # below, x would be negative
    drawn = special.betaincinv(y.a, y.b, start + (1 - start) * _NODES)
    below = special.betainc(x.a, x.b, np.clip(drawn - epsilon, 0.0, 1.0))
    return float((1 - start) * (_WEIGHTS @ below))
