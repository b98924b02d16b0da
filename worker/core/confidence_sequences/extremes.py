"""The smallest number of right answers that the claimed items of a group do not rule out.

The negative log-likelihood of candidate truths R is a sum over cells of convex functions of R_c, so
the smallest total within a budget is found with one price a group: every cell takes the R_c that
minimises price * R_c - log P_c(R_c), a quadratic equation, and the price is sought at which the
budget is spent. By duality every price gives a valid bound on the total; the right one is exact.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_WIDEST = 12.0  # logarithm of the first prices, in nats an item
_MOST_STEPS = 60  # some ten are taken
_ROUNDING = 1e-7  # of an item; below it a total is taken for whole


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What was seen of c cells in g groups, taken at the worst for the right answers.

    of: (c,) group of each cell, ascending, none left out. size, right, wrong, unknown: (c,); the
    unknown items count among the wrong ones too. tangent: (c,) how far log_q rises, at least, with
    each unknown item that is right after all. log_q: (g,) log of the forecast's probability.
    """

    of: Indices
    size: Floats
    right: Floats
    wrong: Floats
    unknown: Floats
    tangent: Floats
    log_q: Floats


def evidence(
    of: Indices, counts: tuple[Floats, ...], guesses: tuple[Floats, ...], log_weight: Floats
) -> Evidence:
    """Weigh what was seen by the forecast.

    log Q is convex in how many of the unknown items are right. So its tangent where none of them
    is, the usual worst case, lies below it everywhere, and is a sum over cells.

    Args:
        counts: size, right, wrong, unknown, (c,) each.
        guesses: the forecast's alpha, beta and log B of them, (c, H) each.
    """
    size, right, wrong, unknown = counts
    wrong = wrong + unknown
    alpha, beta, log_norm = guesses
    a, b = alpha + right[:, None], beta + wrong[:, None]
    # in half the time of betaln
    seen = special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b) - log_norm
    logs = log_weight + np.add.reduceat(seen, _begin(of), axis=0)
    most = logs.max(axis=1, keepdims=True)
    mass = np.exp(logs - most)
    total = mass.sum(axis=1, keepdims=True)
    tangent = np.zeros(of.size)
    at = np.flatnonzero(unknown)
    if at.size:
        odds = special.psi(alpha[at] + right[at, None]) - special.psi(beta[at] + wrong[at, None])
        tangent[at] = ((mass / total)[of[at]] * odds).sum(axis=1)
    log_q = (most + np.log(total))[:, 0]
    return Evidence(of, size, right, wrong, unknown, tangent, log_q)


def least(e: Evidence, cells: Indices, of: Indices, weight: Floats, budget: Floats) -> Floats:
    """The smallest sum of weight_c R_c over every set of cells, with log Q - log P <= its budget.

    Args:
        cells: (k,) indices into the evidence; a cell may be in several sets.
        of: (k,) the set of each, ascending, none left out. weight: (k,) > 0.
        budget: (s,) log(1/miss) less the log_q of the groups in the set.

    Returns:
        (s,), never too large; too small by less than the largest weight where nothing is unknown.
    """
    return _search(_asked(e, cells, of, weight), budget, is_whole=False)[0]


def least_totals(e: Evidence, budget: Floats) -> tuple[Floats, Floats]:
    """The smallest total of every group, (g,), whole, and the rates behind it, (c,).

    Exact where nothing is unknown, else never too large. A rate is the share of right answers among
    a cell's unclaimed items; nan where there are none.

    Args:
        budget: (g,) log(1/miss).
    """
    every = np.arange(e.of.size)
    asked = _asked(e, every, e.of, np.ones(every.size))
    total, gained = _search(asked, budget - e.log_q, is_whole=True)
    rate = np.full(every.size, np.nan)
    left = e.size - e.right - e.wrong
    np.divide(gained, left, out=rate, where=left > 1e-6)
    return np.ceil(total - _ROUNDING), np.clip(rate, 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The evidence's columns for k cells of s sets."""

    of: Indices
    begin: Indices
    weight: Floats
    size: Floats
    right: Floats
    wrong: Floats
    some: Indices  # cells with unknown items, and their numbers and tangents
    unknown: Floats
    tangent: Floats


def _asked(e: Evidence, cells: Indices, of: Indices, weight: Floats) -> _Asked:
    some = np.flatnonzero(e.unknown[cells])
    at = cells[some]
    columns = (e.size[cells], e.right[cells], e.wrong[cells])
    return _Asked(of, _begin(of), weight, *columns, some, e.unknown[at], e.tangent[at])


def _buy(a: _Asked, log_price: Floats) -> tuple[Floats, Floats, Floats]:
    """The totals (s,) at these prices, their costs (s,), and right answers to come (k,)."""
    price = np.exp(log_price)[a.of] * a.weight
    answers, cost = _cheapest(price, a.size, a.right, a.wrong)
    gained = answers - a.right
    if a.some.size:
        # Along (R + 1, j + 1), j of the unknown items right, cost is concave: none or all are.
        at, more = a.some, a.right[a.some] + a.unknown
        other, its_cost = _cheapest(price[at], a.size[at], more, a.wrong[at] - a.unknown)
        its_cost = its_cost + a.tangent * a.unknown
        better = price[at] * other + its_cost < price[at] * answers[at] + cost[at]
        answers[at] = np.where(better, other, answers[at])
        cost[at] = np.where(better, its_cost, cost[at])
        gained[at] = np.where(better, other - more, gained[at])
    totals = np.add.reduceat(a.weight * answers, a.begin)
    return totals, np.add.reduceat(cost, a.begin), gained


def _search(a: _Asked, budget: Floats, is_whole: bool) -> tuple[Floats, Floats]:
    """The smallest totals (s,), not rounded, and the right answers to come behind them (k,)."""
    ways = special.gammaln(a.size + 1) - special.gammaln(a.size - a.right - a.wrong + 1)
    budget = budget - np.add.reduceat(ways, a.begin)
    low: Floats = np.full(budget.size, -_WIDEST)
    high: Floats = np.full(budget.size, _WIDEST)
    (at_low, cost_low, gained), (at_high, cost_high, none) = _buy(a, low), _buy(a, high)
    is_free = cost_high <= budget  # even the smallest total of all is not ruled out
    best = np.where(is_free, at_high, at_low + (cost_low - budget) * np.exp(-low))
    gained = np.where(is_free[a.of], none, gained)
    done = is_free  # whoever is done stays as it is: its rates must not tell who was asked with it
    for step in range(_MOST_STEPS):
        # The bound is concave in 1 / price: it cannot exceed where its two known lines cross.
        saved, paid = at_low - at_high, cost_high - cost_low
        crosses = (saved > 0) & (paid > 0)
        slope = np.where(crosses, paid, 1.0) / np.where(crosses, saved, 1.0)
        highest = np.where(crosses, at_low + (cost_low - budget) / slope, best)
        settled = highest - best < _ROUNDING
        if is_whole:
            settled = np.ceil(highest - _ROUNDING) <= np.ceil(best - _ROUNDING)
        done = done | settled
        if done.all():
            break
        middle = np.where(crosses, np.clip(np.log(slope), low, high), (low + high) / 2)
        if step % 3 == 2:  # lest one end stays where it was
            middle = (low + high) / 2
        total, cost, now = _buy(a, middle)
        best = np.where(done, best, np.maximum(best, total + (cost - budget) * np.exp(-middle)))
        within = cost <= budget
        low, high = np.where(within, middle, low), np.where(within, high, middle)
        at_low, at_high = np.where(within, total, at_low), np.where(within, at_high, total)
        cost_low, cost_high = np.where(within, cost, cost_low), np.where(within, cost_high, cost)
        gained = np.where((within & ~done)[a.of], now, gained)
    floor = np.add.reduceat(a.weight * a.right, a.begin)
    return np.maximum(best, floor), gained


def _cheapest(price: Floats, size: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """The R in right..size-wrong that minimises price R - log P(R), and -log P(R), (k,) each.

    It is the smallest R = x - 1 with (x - right)(N + 1 - x) e^price >= x (N + 1 - wrong - x). What
    of -log P(R) depends on the number of claimed items only is left out.
    """
    discount = np.exp(-price)
    b = (size + 1 + right) - discount * (size + 1 - wrong)
    c = right * (size + 1)
    root = np.sqrt(np.maximum(b * b - 4 * (1 - discount) * c, 0.0))
    r = np.clip(np.ceil(2 * c / (b + root) - 1e-9) - 1, right, size - wrong)
    logs = special.gammaln(np.stack((r - right, r, size - r - wrong, size - r)) + 1)
    return r, logs[0] - logs[1] + logs[2] - logs[3]


def _begin(of: Indices) -> Indices:
    return np.flatnonzero(np.diff(of, prepend=-1))
