"""The prior of a pool's ECE: its classifier is calibrated, or off by a curve that all bins share.

Or calibrated but for one bin: without that, where only one is off, all others are believed to be.

An ECE is a sum over bins, whose error lies in what they have in common, and it cannot be negative.
A prior that gives numbers near 0 no weight finds every calibrated classifier wanting; one that
gives them too much overlooks small faults. Here "calibrated" is one point of the prior, and how far
a classifier is from it has several scales, from a hardly visible to an enormous one.

The components (`Belief.mixture`, shared by the whole pool) are curves. Until labels are there they
are laid out as the prior has them; later where the labels of an early stage put them, weighted by
importance so that prior and posterior stay the same. So some hundred and fifty do what a fixed grid
over the same four coefficients could not with ten thousand.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.calibration import SURE
from worker.core.prior.copula import points
from worker.core.prior.hyperparameters import closeness, rate_of

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# How far classifiers are from calibrated. At 1 one is as far off as many published ones: its scores
# are shifted by .7 in logits, its logits should be stretched by .3, and so on (`_SPREAD`).
_SCALES = np.array([0.2, 0.65, 2.0])
_CHANCE = np.array([0.085, 0.21, 0.255])  # of each scale
_ALONE = 0.1  # of one bin alone
_CALIBRATED = 1 - _ALONE - _CHANCE.sum()
# Standard deviations at scale 1, of: the shift, in logits; the temperature, as a share of the
# logits; the curvature, in logits at one standard deviation from the middle; the logit of the lapse
# (the share of items that are wrong however sure the classifier is).
_SPREAD = np.array([0.7, 0.3, 0.4, 1.5])
_LAPSE = 1e-3  # of a calibrated classifier: scores are taken for no surer than this

# How close strata lie to the curve: at scale k a stratum at accuracy 1/2 is Beta(s/2, s/2),
# s = _CLOSENESS / (k c)^2, with c from `_ROUGHNESS`. e^4 as in `worker.core.prior.empirical`.
_CLOSENESS = np.exp(4.0)
_ROUGHNESS = np.array([0.3, 1.0])
_CLOSENESS_ALONE = 10.0  # s of the strata of a bin that is off alone: at accuracy .9 by some .09

_POINTS = points(_SPREAD.size, 24)
_LEAST_WEIGHT = 1e-250  # so that no component is ruled out for ever by underflow
# Of the search: steps at most, and in logits the longest and one that ends it.
_MOST_STEPS, _LONGEST, _SHORTEST = 50, 2.0, 0.01
_WIDER = 1.2  # than the likelihood's normal: labels will move on before the components do


@dataclass(frozen=True, slots=True, eq=False)
class _Curves:
    """What the coefficients of M kinds of curves (scale, closeness) do in C strata.

    logit: (C,) of the mean score. basis: (3, C) of shift, temperature and curvature. unit: (M, 4)
    standard deviations of the coefficients. s: (M,) strength of a Beta at accuracy 1/2.
    """

    logit: Floats
    basis: Floats
    unit: Floats
    s: Floats

    def parts(self, z: Floats) -> tuple[Floats, Floats]:
        """Curve (M, u, C) and lapse (M, u, 1) of coefficients (M, u, 4) in standard deviations."""
        x = z * self.unit[:, None]
        lapse = special.expit(special.logit(_LAPSE) + x[..., 3:])
        return special.expit(self.logit + x[..., :3] @ self.basis), lapse

    def rate(self, z: Floats) -> Floats:
        """(M, u, C) expected accuracies."""
        curve, lapse = self.parts(z)
        return rate_of(curve, lapse)


def shared_prior(
    score: Floats, size: Counts, group: Counts, *labels: Counts
) -> tuple[Floats, Floats, Floats]:
    """alpha (C, U), beta (C, U) and mixture (U,) of rates that share a curve over the whole pool.

    The last component is the calibrated classifier; before it come those of which one bin is off,
    whose strata are Beta(s p_c, s (1 - p_c)). The others are, for each scale and roughness,
    theta_c ~ Beta(s_c mu_c, s_c (1 - mu_c)), s_c = s (4 mu_c (1 - mu_c))^-1/2, where mu_c =
    (1 - lapse) expit(shift + (1 + temperature) logit p_c + curvature (x_c^2 - 1) / 2), p_c is the
    stratum's mean score, x_c its standardised logit, and the coefficients are normal around 0.

    Args:
        score: (C,) mean scores of the strata, in [0, 1]. size: (C,) items. group: (C,) their bins.
        labels: (C, 2) each, right and wrong: each lays out as many components, where it is likely.
            They say how finely the prior is told where it matters; what prior it is they do not
            change.

    Source:
        Importance sampling from the Laplace approximation of each scale's posterior, at points of
        a Kronecker sequence (quasi-likelihood of the beta-binomial, Fisher scoring). A mixture of
        scales in place of one spread: Polson & Scott, "Shrink globally, act locally" (2010).
    """
    score = np.clip(score, _LAPSE, 1 - _LAPSE)
    curves = _curves(score, size)
    mu, logs = [], []
    for told in labels or (np.zeros((score.size, 2), dtype=np.int64),):
        z, root = _placed(curves, told[:, 0], told.sum(axis=1))
        components = z[:, None] + np.einsum("mij,uj->mui", root, _POINTS)
        weight = ((_POINTS**2).sum(axis=1) - (components**2).sum(axis=2)) / 2
        weight += np.log(np.einsum("mii->mi", root)).sum(axis=1)[:, None]
        mu.append(curves.rate(components).reshape(-1, score.size))
        logs.append(weight.ravel())
    each = _ROUGHNESS.size * len(_POINTS)
    chance = np.tile(np.repeat(_CHANCE / each, each), len(logs)) / len(logs)
    is_off = np.unique(group) == group[:, None]
    rate = np.concatenate([*mu, np.tile(score, (is_off.shape[1] + 1, 1))]).T
    s = np.full(rate.shape, SURE)
    s[:, : chance.size] = np.tile(curves.s.repeat(len(_POINTS)), len(mu))
    s[:, : chance.size] *= closeness(rate[:, : chance.size])
    s[:, chance.size : -1][is_off] = _CLOSENESS_ALONE
    log_mixture = np.concatenate([
        np.concatenate(logs) + np.log(chance),
        np.full(is_off.shape[1], np.log(_ALONE / is_off.shape[1])),
        [np.log(_CALIBRATED)],
    ])  # fmt: skip
    mixture = np.maximum(np.exp(log_mixture - log_mixture.max()), _LEAST_WEIGHT)
    return s * rate, s * (1 - rate), mixture / mixture.sum()


def with_calibrated(
    alpha: Floats, beta: Floats, mixture: Floats, score: Floats
) -> tuple[Floats, Floats, Floats]:
    """The prior (C, U), (C, U), (U,) of groups, each of which may be calibrated: a component more.

    Args:
        score: (C,) mean scores of the strata, in [0, 1].
    """
    sure = SURE * np.clip(score, _LAPSE, 1 - _LAPSE)[:, None]
    return (
        np.concatenate([alpha, sure], axis=1),
        np.concatenate([beta, SURE - sure], axis=1),
        np.append((1 - _CALIBRATED) * mixture, _CALIBRATED),
    )


def _curves(score: Floats, size: Counts) -> _Curves:
    logit = special.logit(score)
    middle = np.average(logit, weights=size)
    spread = np.sqrt(np.average((logit - middle) ** 2, weights=size))
    x = (logit - middle) / max(spread, 1e-9)
    scale, rough = (a.ravel() for a in np.meshgrid(_SCALES, _ROUGHNESS, indexing="ij"))
    return _Curves(
        logit=logit,
        basis=np.stack([np.ones_like(x), logit, (x**2 - 1) / 2]),
        unit=scale[:, None] * _SPREAD,
        s=_CLOSENESS / (scale * rough) ** 2,
    )


def _placed(curves: _Curves, right: Counts, n: Counts) -> tuple[Floats, Floats]:
    """(M, 4) likeliest coefficients and (M, 4, 4) the root of their covariance, widened."""
    strength = curves.s[:, None] * closeness(special.expit(curves.logit))
    over = 1 + np.maximum(n - 1, 0) / (strength + 1)  # variance beyond the binomial
    z = np.zeros_like(curves.unit)
    part: Floats = np.ones(len(z))  # of a step that is taken
    precision = np.tile(np.eye(z.shape[1]), (len(z), 1, 1))

    def value(z: Floats) -> Floats:
        """(M,) log posterior densities, but for a constant."""
        mu = curves.rate(z[:, None])[:, 0]
        told = (right * np.log(mu) + (n - right) * np.log1p(-mu)) / over
        found: Floats = told.sum(axis=1) - (z**2).sum(axis=1) / 2
        return found

    now = value(z)
    for _ in range(_MOST_STEPS if n.any() else 0):
        curve, lapse = (of[:, 0] for of in curves.parts(z[:, None]))
        mu = curves.rate(z[:, None])[:, 0]
        with_logit = (1 - lapse) * curve * (1 - curve)
        slopes = [with_logit[:, None] * curves.basis, (-lapse * (1 - lapse) * curve)[:, None]]
        slope = np.concatenate(slopes, axis=1) * curves.unit[:, :, None]
        told = 1 / (mu * (1 - mu) * over)
        precision = np.eye(z.shape[1]) + np.einsum("mic,mc,mjc->mij", slope, n * told, slope)
        gradient = np.einsum("mic,mc->mi", slope, (right - n * mu) * told) - z
        step = np.linalg.solve(precision, gradient[:, :, None])[:, :, 0]
        x = step * curves.unit
        length = np.abs(x[:, :3] @ curves.basis).max(axis=1) + np.abs(x[:, 3])
        part = np.minimum(part, _LONGEST / np.maximum(length, 1e-9))
        then = value(z + part[:, None] * step)
        # a step that leads down is tried again, and not as far
        is_taken = then >= now
        z, now = z + (is_taken * part)[:, None] * step, np.where(is_taken, then, now)
        part = np.where(is_taken, 1.0, part / 4)
        if length.max() < _SHORTEST:
            break
    return z, _WIDER * np.linalg.cholesky(np.linalg.inv(precision))
