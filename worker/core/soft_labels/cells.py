"""From the measure of the items with votes to its mean over all items, cell by cell."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from worker.core.soft_labels.curves import Curve, curve_through, rate_of
from worker.core.soft_labels.design import Design

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BENDS = (0.15, 0.5)
_GROUPS = (0.1, 0.35, 0.8)
_LOG_STRENGTHS = (1.5, 2.5, 3.5, 4.5)
_MIDDLE = (0.5, 0.35, 3.0)
# Between-item variance of a cell as a part of mean (1 - mean), and how many items what is usual,
# or found in all cells, counts for. A rare large distance is not ruled out by some small ones.
_USUAL_SPREAD, _USUAL_WORTH, _POOLED_WORTH = 0.5, 6.0, 30.0
_LEAST_SPREAD = 1e-4
N_DRAWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The measure of the items with votes, summed over each of C cells; a measure lies in [0, 1].

    n: (C,) such items. total, spread: (C,) mean and variance of the sum of their measures.
    squares: (C,) expected sum of squares. shifted: (B, C) means of the sums under other fits.
    exact: probability that the measure of every item is 0, which the others leave out.
    """

    n: Ints
    total: Floats
    spread: Floats
    squares: Floats
    shifted: Floats
    exact: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was found of the cells.

    curves: with other settings each. spread: (C,) between-item variance as a part of
    mean (1 - mean). mean: (C,) expected mean measure. n: (C,) items with votes.
    """

    curves: tuple[Curve, ...]
    spread: Floats
    mean: Floats
    n: Ints

    @property
    def likeliest(self) -> Curve:
        """The curve to choose by."""
        return max(self.curves, key=lambda curve: curve.log_weight)


def fit(design: Design, seen: Seen) -> Found:
    """Fit the curve, with every combination of settings.

    The sum of the measures of the items with votes counts as a binomial that is scaled by `spread`
    (quasi-likelihood), and every cell's mean is a Beta around the curve; so a measure is treated as
    the share of right answers is elsewhere (`prior.empirical`), with more freedom: it need
    not fall as the score rises.
    """
    spread: Floats = np.full(seen.n.size, _USUAL_SPREAD)
    mean: Floats = np.zeros(seen.n.size)
    for _ in range(2):
        middle = curve_through(design, *_scaled(seen, spread), *_MIDDLE)
        more, less = _scaled(seen, spread)
        mu = rate_of(design, middle.at)
        mean = (middle.strength * mu + more) / (middle.strength + more + less)
        spread = _spreads(seen, mean)
    more, less = _scaled(seen, spread)
    curves = tuple(
        curve_through(design, more, less, *settings, start=middle.at)
        for settings in product(_BENDS, _GROUPS, _LOG_STRENGTHS)
    )
    return Found(curves, spread, mean, seen.n)


def _scaled(seen: Seen, spread: Floats) -> tuple[Floats, Floats]:
    return seen.total / spread, (seen.n - seen.total) / spread


def _spreads(seen: Seen, mean: Floats) -> Floats:
    most = mean * (1 - mean)
    apart = np.maximum(seen.squares - 2 * mean * seen.total + seen.n * mean**2, 0.0) / most
    pooled = (_USUAL_WORTH * _USUAL_SPREAD + apart.sum()) / (_USUAL_WORTH + seen.n.sum())
    own: Floats = (_POOLED_WORTH * pooled + apart) / (_POOLED_WORTH + seen.n)
    return np.clip(own, _LEAST_SPREAD, 1.0)


def draws(
    design: Design, seen: Seen, found: Found, rng: np.random.Generator, n: int = N_DRAWS
) -> Floats:
    """(n, C) draws of the sum of the measures of all items of each cell.

    Items with votes have their own posterior; the others are completed: a curve, the cell's mean
    about it, and what so many items of such a cell then come to. Where predictions are exact, all
    of it is 0.
    """
    moved = (seen.shifted - seen.total) / np.sqrt(max(1, len(seen.shifted) - 1))
    away = rng.standard_normal((n, len(moved)))
    items = np.sqrt(seen.spread) * rng.standard_normal((n, seen.n.size))
    known = np.clip(seen.total + away @ moved + items, 0.0, seen.n)
    # what moves all items with votes moves the others as far
    ratio = np.clip(1 + away @ moved.sum(axis=1) / max(seen.total.sum(), 1e-12), 0.2, 5.0)
    logs = np.array([curve.log_weight for curve in found.curves])
    chance = np.exp(logs - logs.max())
    which = rng.choice(len(logs), size=n, p=chance / chance.sum())
    mu, strength = np.empty(known.shape), np.empty(known.shape)
    for number, curve in enumerate(found.curves):
        at = np.flatnonzero(which == number)
        mu[at] = rate_of(design, curve.drawn(rng, at.size))
        strength[at] = curve.strength
    mu = np.clip(mu * ratio[:, None], 1e-5, 1 - 1e-5)
    a = strength * mu + known / found.spread
    b = strength * (1 - mu) + (seen.n - known) / found.spread
    rate = rng.beta(a, b)
    rest = design.size - seen.n
    to_come = rest * rate
    to_come += np.sqrt(rest * found.spread * rate * (1 - rate)) * rng.standard_normal(rate.shape)
    drawn: Floats = known + np.clip(to_come, 0.0, rest)
    drawn[rng.permutation(n) < seen.exact * n] = 0.0
    return drawn


def worths(design: Design, found: Found, pending: Ints) -> Floats:
    """(C,) expected drop of the variance of the sum of all measures by one more item's votes.

    Of a normal with the same variances: the square of the covariance of the cell's next item with
    the sum, over the item's variance. It counts what a cell tells of its neighbours on the curve
    and of its group. One more item costs as many votes as the plan asks for an item; within an item
    votes are not chosen.

    Args:
        pending: (C,) items that wait for votes, as if they had come back.

    Returns:
        (C,), squared sums of measures; 0 where no item is left.
    """
    curve, n = found.likeliest, found.n + pending
    slope = rate_of(design, curve.at)
    slope = slope * (1 - slope)
    own = slope / (curve.strength + 1)  # variance of a cell's mean about the curve
    noise = found.mean * (1 - found.mean) * found.spread  # of an item about the cell's mean
    told = np.where(n > 0, 1 / (own + noise / np.maximum(n, 1)), 0.0)
    x = design.columns * slope[:, None]
    precision = np.diag(curve.sd**-2) + (x.T * told) @ x
    kept = noise / (noise + n * own)  # of what moves the curve, and of the cell's own variance
    moving = x * kept[:, None]
    rest = np.maximum(design.size - n, 0)
    shared = np.linalg.solve(precision, np.column_stack([moving.T, moving.T @ rest]))
    covariance = moving @ shared[:, -1] + own * kept * rest
    variance = np.einsum("cq,qc->c", moving, shared[:, :-1]) + own * kept + noise
    dropped: Floats = np.where(rest > 0, covariance**2 / variance, 0.0)
    return dropped
