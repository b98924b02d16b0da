"""Fits the empirical prior to labels: the likeliest hyperparameters, and how uncertain they are."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.core.prior.copula import points
from worker.core.prior.hyperparameters import Fit, Hyperparameters, Scores, unfitted
from worker.core.prior.likelihood import Evidence, evidence, log_likelihood

Floats = NDArray[np.float64]

# Standard deviations: no fit ends there, but a step of the search may. Of a Cauchy prior, scales:
# where a covariate tells right from wrong in all cells, its weight is some 20 of them.
_FAR, _FAR_HEAVY = 8.0, 60.0
_MOST_STEPS = 100
_LONGEST = 1.0  # of these steps, in standard deviations of the weak priors
_LEAST_CURVATURE = 0.1
_WIDER = 2.0  # of a fit's covariance: what is sampled reaches further than what it is weighed for
_SETTLED = 1e-4  # twice what the last step gains: a hundredth of a standard deviation, squared


def loss(z: Floats, seen: Evidence) -> tuple[float, Floats, Floats]:
    """Minus the log of the hyperparameters' marginal posterior density, with slope and curvature.

    Args:
        z: (6 + K,) the hyperparameters, in their order, in standard deviations of their weak prior
            from its mean: so all of them are of one size, which the fit needs.

    Returns:
        The value, (6 + K,) and (6 + K, 6 + K).
    """
    mean, scale = seen.weak.T
    value, slope, bent = log_likelihood(mean + scale * z, seen)
    least, up, curved = _prior(z, seen.heavy)
    return least - value, up - slope * scale, np.diag(curved) - scale[:, None] * bent * scale


def _prior(z: Floats, heavy: NDArray[np.bool_]) -> tuple[float, Floats, Floats]:
    """Minus the log of the weak priors' density, up to a constant; its slopes and curvatures.

    Of a Cauchy density the curvature is that of the normal one which it is at that place, if it is
    taken for a mixture of normal ones: it is positive far out, too.
    """
    if not heavy.any():
        return 0.5 * float(z @ z), z, np.ones(z.size)
    curved = np.where(heavy, 2 / (1 + z**2), 1.0)
    value = np.where(heavy, np.log1p(z**2), z**2 / 2).sum()
    return float(value), curved * z, curved


def fit(
    right: NDArray[np.int64],
    wrong: NDArray[np.int64],
    group: NDArray[np.int64],
    scores: Scores,
    times: float = 1.0,
) -> Fit:
    """The hyperparameters of largest marginal posterior density, given the labels of all groups.

    Args:
        right, wrong: (C,) labelled items. group: (C,) ascending.
        times: how often each label counts.

    Source:
        Empirical Bayes by the beta-binomial marginal likelihood; the group effect is integrated
        over its components.
    """
    return fit_to(replace(evidence(right, wrong, group, scores), times=times))[0]


def plausible(found: Fit, n: int) -> list[Hyperparameters]:
    """Hyperparameters spread as their posterior is (Laplace's approximation), by `copula.points`.

    Args:
        n: how many; even, at least twice as many as there are numbers in each.
    """
    values, axes = np.linalg.eigh(found.covariance)
    away = points(values.size, n) @ (axes * np.sqrt(np.maximum(values, 0.0))).T
    return [Hyperparameters.of(h) for h in found.mode.numbers + away]


def sampled(found: Fit, scores: Scores, n: int) -> tuple[Floats, Floats]:
    """Hyperparameters (n, 6 + K) that lie where a fit is, and the logs of their weights (n,).

    Weighed they are spread as their weak priors are. So labels may weigh them once more, also those
    that were fitted to: all of them count once, and nothing rests on Laplace's approximation.

    Args:
        n: how many; even, at least twice as many as there are numbers in each.

    Source:
        Importance sampling: Kloek & van Dijk, "Bayesian estimates of equation system parameters: an
        application of integration by Monte Carlo" (1978).
    """
    values, axes = np.linalg.eigh(_WIDER * found.covariance)
    at = points(values.size, n)
    h: Floats = found.mode.numbers + at @ (axes * np.sqrt(np.maximum(values, 0.0))).T
    mean, scale = scores.weak.T
    squared = ((h - mean) / scale) ** 2
    prior = -np.where(scores.heavy, np.log1p(squared), squared / 2).sum(axis=1)
    log_weight: Floats = prior + (at**2).sum(axis=1) / 2
    return h, log_weight


def fit_to(seen: Evidence) -> tuple[Fit, float]:
    """`fit`, and the logarithm of the labels' marginal likelihood (Laplace)."""
    if not seen.begin.size:
        return unfitted(seen.weak), 0.0
    z, least, curvature = _least(seen)
    values, axes = np.linalg.eigh(curvature)
    # The weak priors alone curve it by 1 in every direction, heavy ones far out by less; where the
    # likelihood curves the other way, as it may far from its own peak, they are what is left.
    least_curved = min(1.0, _prior(z, seen.heavy)[2].min())
    covariance = (axes / np.maximum(values, least_curved)) @ axes.T
    told = float(np.linalg.slogdet(covariance)[1]) / 2 - least
    mean, scale = seen.weak.T
    mode = Hyperparameters.of(mean + scale * z)
    return Fit(mode, scale[:, None] * covariance * scale), told


def _least(seen: Evidence) -> tuple[Floats, float, Floats]:
    """The minimum of `loss` that lies downhill of the weak priors' means, its value and curvature.

    The likelihood may have several peaks: to which of them it goes is decided here. By Newton's
    steps, downhill also where the loss curves the other way, shortened until it is lower there. The
    last is of a hundredth of a standard deviation at most, and leaves about its square.
    """
    z = np.zeros(len(seen.weak))
    far = np.where(seen.heavy, _FAR_HEAVY, _FAR)
    value, slope, curvature = loss(z, seen)
    for _ in range(_MOST_STEPS):
        values, axes = np.linalg.eigh(curvature)
        step = -axes @ ((axes.T @ slope) / np.maximum(np.abs(values), _LEAST_CURVATURE))
        if (gain := -slope @ step) < _SETTLED:
            return np.clip(z + step, -far, far), value - gain / 2, curvature
        step *= min(1.0, _LONGEST / np.abs(step).max())
        found = loss(there := np.clip(z + step, -far, far), seen)
        while found[0] > value and np.abs(step).max() > _SETTLED:
            step *= _lowest_between(value, slope @ step, found[0], found[1] @ step)
            found = loss(there := np.clip(z + step, -far, far), seen)
        z, (value, slope, curvature) = there, found
    return z, value, curvature


def _lowest_between(value: float, slope: float, there: float, slope_there: float) -> float:
    """Where a cubic is lowest that has these values and slopes at 0 and 1; in [.1, .5].

    Source:
        Nocedal & Wright, "Numerical Optimization" (2006), equation 3.59, and its bounds.

    >>> round(_lowest_between(0.09, -0.6, 0.49, 1.4), 6)  # of (t - 0.3)^2
    0.3
    """
    bent = slope + slope_there + 3 * (value - there)
    root = np.sqrt(max(bent**2 - slope * slope_there, 0.0))
    lowest = 1 - (slope_there + root - bent) / (slope_there - slope + 2 * root)
    return float(np.clip(lowest, 0.1, 0.5))
