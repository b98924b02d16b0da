"""The empirical prior: what scores say of accuracy is learnt from the labels of all groups.

Errors sit where the score is low. How steeply accuracy rises with the score, how much groups differ
beyond it, and how far cells stray from both, is fitted to the labels; groups share strength, and an
overconfident or underconfident classifier is corrected after some tens of labels.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.copula import points
from worker.core.prior.hyperparameters import (
    LEAST_RATE,
    Fit,
    Hyperparameters,
    Scores,
    closeness,
    curve_places,
    moves,
    rate_of,
    unfitted,
)
from worker.core.prior.likelihood import GRID, MIXTURE, Evidence, evidence, log_likelihood
from worker.core.prior.shared import Shared, Slopes

Floats = NDArray[np.float64]

_POINTS = np.array([-1.2247, 0.0, 1.2247])  # of the same variance as a standard normal
_S, _TAU, _LAPSE = 3, 4, 5  # their places among the hyperparameters
_OF_SCALE = 0.16  # variance of the log of a Student's t's random scale, 4 degrees of freedom
# Standard deviations: no fit ends there, but a step of the search may. Of a Cauchy prior, scales:
# where a covariate tells right from wrong in all cells, its weight is some 20 of them.
_FAR, _FAR_HEAVY = 8.0, 60.0
_MOST_STEPS = 100
_LONGEST = 1.0  # of these steps, in standard deviations of the weak priors
_LEAST_CURVATURE = 0.1
_SETTLED = 1e-4  # twice what the last step gains: a hundredth of a standard deviation, squared


def prior_of(
    h: Hyperparameters,
    scores: Scores,
    covariance: Floats | None = None,
    level: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats, Floats]:
    """alpha (C, U), beta (C, U) and mixture (U,) of the prior that the hyperparameters describe.

    Args:
        covariance: (6 + K, 6 + K) of the hyperparameters; None if they are known.
        level: (C,) what siblings say of the group effect of each cell's group: how far it is
            shifted, in logits, and what is left of its variance (`worker.core.prior.siblings`).

    What is not known of them widens the prior of every group: the variance of a cell's curve adds
    to the group effect's, and the lapse, 1 / s and tau^2 take their means under log-normals. What
    of that is the same for all groups, says `shared_of`.
    """
    x, n = scores.x, len(scores.weak)
    covariance = np.zeros((n, n)) if covariance is None else covariance
    at = curve_places(len(x))
    of_curve = np.einsum("ic,ij,jc->c", x, covariance[np.ix_(at, at)], x)
    of_s, _, of_lapse = np.diag(covariance)[3:6]
    shift, left = (0.0, 1.0) if level is None else (level[0][:, None], level[1])
    tau = _sd_of_effect(h, covariance, np.maximum(of_curve, 0.0), left)
    lapse = np.exp(h.log_lapse + of_lapse / 2)
    centre = h.curve(x)[:, None]
    mu = rate_of(special.expit(centre + shift + tau[:, None] * GRID), lapse)
    s = np.exp(h.log_s - of_s / 2) * closeness(rate_of(special.expit(centre), lapse))
    return s * mu, s * (1 - mu), MIXTURE


def shared_of(
    fit: Fit,
    scores: Scores,
    size: NDArray[np.int64],
    group: NDArray[np.int64],
    n_groups: int,
    level: tuple[Floats, Floats] | None = None,
) -> Shared:
    """What of `prior_of` is common to all groups: the uncertainty of the curve, and of tau.

    On the axis of the components, in standard deviations of curve and group effect together. A
    group stands for its cells by the slopes of their accuracies, weighted by their items. Curve and
    tau are uncertain together: where few groups have most of the labels, these are all alike and
    far from where the others are expected, or groups differ and the others lie elsewhere.

    Args:
        size, group: (C,) items, and index of its group, ascending. level: as of `prior_of`.

    Source:
        Laplace's approximation, as Kass & Steffey, "Approximate Bayesian inference in conditionally
        independent hierarchical models" (1989), who keep the first two moments; here the components
        of every group are weighed given the curve, and averaged over it.
    """
    h, x = fit.mode, scores.x
    at = [*curve_places(len(x)), _TAU]
    spread, axes = np.linalg.eigh(fit.covariance[np.ix_(at, at)])
    root = axes * np.sqrt(np.maximum(spread, 0.0))  # (4 + K, 4 + K)
    along = root[:-1].T @ x  # (4 + K, C) logits
    left = 1.0 if level is None else level[1]
    sd = _sd_of_effect(h, fit.covariance, (along**2).sum(axis=0), left)
    middle = special.expit(h.curve(x))
    slope = size * np.maximum(middle * (1 - middle), LEAST_RATE)

    def of_groups(cells: Floats) -> Floats:
        return np.bincount(group, weights=slope * cells, minlength=n_groups).astype(np.float64)

    whole = np.maximum(of_groups(sd), 1e-300)
    load = np.stack([of_groups(cells) for cells in along], axis=1) / whole[:, None]
    tau = of_groups(np.sqrt(left) * np.ones(group.size)) / whole * np.exp(h.log_tau)
    own = tau[:, None] * np.exp(_POINTS * np.sqrt(_OF_SCALE))
    return Shared(load, own, root[-1], GRID, _slopes_of(fit, scores, level))


def _slopes_of(fit: Fit, scores: Scores, level: tuple[Floats, Floats] | None) -> Slopes:
    """How the prior of every cell moves with the hyperparameters, at the likeliest ones."""
    h, lapse = fit.mode, float(np.exp(fit.mode.log_lapse))
    centre = h.curve(scores.x)
    middle = special.expit(centre)[:, None]
    m = rate_of(middle, lapse)
    per_m = moves(m) * (m - 0.5) / (m * (1 - m))
    shift, left = (0.0, np.ones(1)) if level is None else level
    spread, axes = np.linalg.eigh(fit.covariance)
    root = axes * np.sqrt(np.maximum(spread, 0.0))
    along, of_lapse = scores.x.T @ root[curve_places(len(scores.x))], root[_LAPSE]
    return Slopes(
        centre + shift, np.sqrt(left)[:, None] * np.exp(h.log_tau) * GRID, lapse,
        np.exp(h.log_s) * closeness(m), along,
        per_m * (m * (1 - middle) * along - lapse * middle * of_lapse) + root[_S],
        root[_TAU], of_lapse,
    )  # fmt: skip


def _sd_of_effect(
    h: Hyperparameters, covariance: Floats, of_curve: Floats, left: Floats | float
) -> Floats:
    """(C,) standard deviation of curve and group effect together, in logits."""
    sd: Floats = np.sqrt(left * np.exp(2 * (h.log_tau + covariance[_TAU, _TAU])) + of_curve)
    return sd


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
    right: NDArray[np.int64], wrong: NDArray[np.int64], group: NDArray[np.int64], scores: Scores
) -> Fit:
    """The hyperparameters of largest marginal posterior density, given the labels of all groups.

    Args:
        right, wrong: (C,) labelled items. group: (C,) ascending.

    Source:
        Empirical Bayes by the beta-binomial marginal likelihood; the group effect is integrated
        over its components.
    """
    return fit_to(evidence(right, wrong, group, scores))[0]


def plausible(found: Fit, n: int) -> list[Hyperparameters]:
    """Hyperparameters spread as their posterior is (Laplace's approximation), by `copula.points`.

    Args:
        n: how many; even, at least twice as many as there are numbers in each.
    """
    values, axes = np.linalg.eigh(found.covariance)
    away = points(values.size, n) @ (axes * np.sqrt(np.maximum(values, 0.0))).T
    return [Hyperparameters.of(h) for h in found.mode.numbers + away]


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
