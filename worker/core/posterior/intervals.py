"""Credible intervals of the groups' values, and of their weighted sum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, by_group, group_share, group_size
from worker.core.posterior.calibration import not_calibrated
from worker.core.posterior.drawing import calibration_errors
from worker.core.posterior.marginals import Marginal, SampledMarginal
from worker.core.posterior.misfit import misfit_variance
from worker.core.posterior.summary import draws, marginals, mean

Floats = NDArray[np.float64]


def interval(b: Belief, level: float = 0.95) -> Floats:
    """(G, 2) credible interval of each group's value; nan for empty groups.

    Equal-tailed; of an ECE that and the narrowest one (HPDI) together: it cannot be negative, an
    equal-tailed interval never reaches down to where it is most likely, and the narrowest one
    leaves all that is improbable on the other side. Nor would one of accuracy (or bias, or of the
    accuracy behind a confusion matrix) reach 1: so it does where no error was seen, and 0 where
    nothing else was; that of a cost reaches that of no error, that of an ECE either. Holds at least
    `level`: more, where the possible values are few.

    Raises:
        ValueError: `level` is not inside (0, 1).

    Source:
        The ends as Brown, Cai & DasGupta, "Interval estimation for a binomial proportion" (2001),
        section 3.1.2, have them.
    """
    tails = _tails(level)
    bounds = np.full((b.n_groups, 2), np.nan)
    for g, distribution in enumerate(marginals(b)):
        if distribution is not None:
            is_sum = b.metric.kind == "ece"
            bounds[g] = _either(distribution, level) if is_sum else distribution.quantiles(tails)
    return _held(bounds, held_ends(b))


def held_ends(b: Belief) -> Floats:
    """(G, 2) each group's value if all answers were right, and if none was; nan where a label so
    far speaks against it, or that is unknown. Intervals reach these."""
    right, wrong = (np.bincount(b.group, of, b.n_groups) for of in (b.right, b.wrong))
    return _unless(_ends(b), right, wrong)


def equal_tailed(drawn: Floats, level: float = 0.95) -> Floats:
    """(G, 2) interval of each column of draws (n, G), as of a sampled group."""
    tails = _tails(level)
    return np.stack([SampledMarginal(one).quantiles(tails) for one in np.sort(drawn, axis=0).T])


def _ends(b: Belief) -> Floats:
    """(G, 2) each group's value if all answers were right, and if none was; nan if unknown."""
    if b.metric.kind == "ece":
        return calibration_errors(b, np.stack([b.size, np.zeros_like(b.size)])).T
    if b.metric.kind == "bias":
        score = by_group(b, b.size * b.metric.score) / np.maximum(group_size(b), 1)
        return np.column_stack([score - 1.0, score])
    if b.metric.kind == "cost":
        least = by_group(b, b.size * b.metric.values[:, 0]) / np.maximum(group_size(b), 1)
        return np.column_stack([least, np.full(b.n_groups, np.nan)])
    is_share = b.metric.kind in ("accuracy", "confusion")
    return np.tile([1.0, 0.0] if is_share else [np.nan, np.nan], (b.n_groups, 1))


def _unless(ends: Floats, right: Any, wrong: Any) -> Floats:
    """(G, 2) those ends against which no label so far speaks; of a group without any, the first."""
    return np.where(np.stack([wrong == 0, (right == 0) & (wrong > 0)], axis=1), ends, np.nan)


def _held(bounds: Floats, held: Floats) -> Floats:
    """(G, 2) bounds that reach the ends (G, 2) that are held."""
    both = np.concatenate([bounds, held], axis=1)
    reached = np.column_stack([np.fmin.reduce(both, axis=1), np.fmax.reduce(both, axis=1)])
    return np.where(np.isnan(bounds), np.nan, reached)


def whole(b: Belief, level: float | None = None) -> tuple[float, float, float]:
    """Mean and interval of the sum of the groups' values, weighted by their shares.

    What is asked if the metric is pooled: the ECE of a pool whose groups are its bins, or the mean
    measure. Of a pool's ECE the first number is the median, which errs least on average: where the
    classifier is calibrated with some probability, and else off by far, the mean is neither.

    The interval is that of 2,000 draws, always the same ones for the same tally: as of `interval`,
    or of a measure the narrowest (HPDI). Of a pool's ECE it holds that of a classifier that is not
    calibrated, too: how probable a calibrated one is beforehand nobody knows, and by the posterior
    alone an ECE of .04 after few labels passes for that of one.

    Args:
        level: None for the metric's own.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    filled = np.flatnonzero(group_size(b))
    share = group_share(b)[filled]
    level = b.metric.level if level is None else level
    summed = SampledMarginal(draws_of_whole(b))
    if b.metric.kind == "measure":
        low, high = narrowest(summed, _checked(level))
    else:
        is_ece, ends = b.metric.kind == "ece", share @ _ends(b)[filled]
        bounds = _either(summed, level) if is_ece else summed.quantiles(_tails(level))
        if is_ece and b.metric.pooled:
            off = SampledMarginal(np.sort(draws(not_calibrated(b))[:, filled] @ share))
            low, high = _either(off, level)
            bounds = min(bounds[0], low), max(bounds[1], high)
        right, wrong = (np.array([of.sum()]) for of in (b.right, b.wrong))
        low, high = _held(np.array([bounds]), _unless(ends[None], right, wrong))[0].tolist()
    if b.metric.kind == "ece" and b.metric.pooled:
        return float(summed.quantiles(np.array([0.5]))[0]), low, high
    return float(mean(b)[filled] @ share), low, high


def draws_of_whole(b: Belief) -> Floats:
    """(2,000,) ascending draws of the sum of the groups' values, weighted by their shares.

    Spread by as much more as the curve may miss (`posterior.misfit`), between the sums if all
    answers were right, and if none was.
    """
    filled = np.flatnonzero(group_size(b))
    share = group_share(b)[filled]
    drawn = np.sort(draws(b)[:, filled] @ share)
    missed, spread = misfit_variance(b), drawn.var()
    if not missed or not spread:
        return drawn
    middle, ends = drawn.mean(), share @ _ends(b)[filled]
    wider: Floats = middle + np.sqrt(1 + missed / spread) * (drawn - middle)
    return np.clip(wider, ends.min(), ends.max())


def _either(distribution: Marginal, level: float) -> tuple[float, float]:
    """What the narrowest interval or the equal-tailed one holds."""
    low, high = narrowest(distribution, level)
    first, last = distribution.quantiles(_tails(level)).tolist()
    return min(low, first), max(high, last)


def narrowest(distribution: Marginal, level: float) -> tuple[float, float]:
    """The narrowest interval (HPDI) that holds `level`."""
    x, mass = distribution.atoms()
    upto = np.concatenate([[0.0], np.cumsum(mass)])
    # for every first value the last one needed: the first where the mass suffices
    last = np.searchsorted(upto, upto[:-1] + level - 1e-12) - 1
    fits = last < x.size
    first = np.flatnonzero(fits)
    width = x[last[fits]] - x[first]
    at = int(width.argmin())
    return float(x[first[at]]), float(x[last[fits][at]])


def _tails(level: float) -> Floats:
    tail = (1 - _checked(level)) / 2
    return np.array([tail, 1 - tail])


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability inside (0, 1), such as 0.95.")
    return level
