"""How different sites are: what their labels say of the spread, and of a site not seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.marginals import narrowest

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float]  # posterior mean and 95% interval

_SCALE = 1.0  # of the prior of tau, in logits; at half of it a new site was missed too often
_TAU = np.concatenate([[0.0], np.geomspace(0.05, 4.0, 40)])
_LOGIT = np.arange(-8.0, 8.01, 0.05)  # of a site's accuracy, and of mu
_DRAWS = 4000
_MOST_LABELS = 1000.0  # that a site counts for: a peak must not fall between the points
_LEAST = 1e-12
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


@dataclass(frozen=True, slots=True, eq=False)
class Heterogeneity:
    """sd: the standard deviation of accuracy between sites, with the narrowest 95% interval, as an
    equal-tailed one of what is >= 0 never holds 0. new: the accuracy at a further site."""

    sd: Numbers
    new: Numbers


def labels_worth(after: Floats, before: Floats) -> tuple[Floats, Floats]:
    """(P,), (P,) right and wrong labels that would have told as much of P accuracies.

    Args:
        after, before: (P, 2) mean and variance of each, with its labels and without them; both are
            taken for Betas.
    """
    told = _beta(after) - _beta(before)
    right, wrong = np.maximum(told, 0.0).T
    return right, wrong


def _beta(known: Floats) -> Floats:
    """(P, 2) parameters of Betas by their means and variances."""
    mean = np.clip(known[:, 0], 1e-4, 1 - 1e-4)
    most = mean * (1 - mean)
    n = most / np.maximum(known[:, 1], most / (1 + 10 * _MOST_LABELS)) - 1
    return np.stack([n * mean, n * (1 - mean)], axis=1)


def heterogeneity(right: Floats, wrong: Floats) -> Heterogeneity:
    """What P >= 2 sites, each known more or less well, say of all sites like them.

    With few sites most of the answer is the prior: of two alike, a new one may still be another.
    What one site tells of another may not be in their numbers: it would be counted twice, and
    sites would look more alike than their labels say.

    Args:
        right, wrong: (P,) labels of each site, or what is worth as much; >= 0, not whole.

    Raises:
        ValueError: fewer than two sites, or arrays of different lengths.

    Source:
        Random-effects meta-analysis, logit theta_p ~ N(mu, tau^2), with the predictive interval of
        Higgins, Thompson & Spiegelhalter, "A re-evaluation of random-effects meta-analysis" (2009);
        expit(mu) uniform, tau half-Cauchy of scale 1 (Gelman 2006); all integrated over grids, the
        likelihoods binomial: while labels are few they are far from normal.
    """
    if right.size < 2 or right.shape != wrong.shape:
        raise ValueError(
            f"came {right.size} and {wrong.size} numbers of right and wrong labels; pass one of "
            "each for every site, of at least two."
        )
    held = np.minimum(1.0, _MOST_LABELS / np.maximum(right + wrong, _LEAST))
    logs = (held * right)[:, None] * special.log_expit(_LOGIT)
    logs += (held * wrong)[:, None] * special.log_expit(-_LOGIT)
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))  # (P, T)
    away = (_LOGIT - _LOGIT[:, None]) ** 2
    table = np.empty((_TAU.size, _LOGIT.size))
    for tau, row in zip(_TAU, table, strict=True):
        kernel = np.exp(-away / (2 * tau**2)) if tau else np.eye(_LOGIT.size)
        kernel /= kernel.sum(axis=1, keepdims=True)
        row[:] = np.log(chance @ kernel.T + _LEAST).sum(axis=0)
    table += special.log_expit(_LOGIT) + special.log_expit(-_LOGIT)
    table -= np.log1p((_TAU / _SCALE) ** 2)[:, None]
    weight = np.exp(table - table.max()) * np.gradient(_TAU)[:, None]
    rng = np.random.default_rng(_DRAWS)
    at = rng.choice(weight.size, _DRAWS, p=(weight / weight.sum()).ravel())
    tau, mu = _TAU[at // _LOGIT.size], _LOGIT[at % _LOGIT.size]
    sites = special.expit(mu[:, None] + tau[:, None] * _NODES)
    share = _WEIGHTS / _WEIGHTS.sum()
    sd = np.sqrt(np.maximum(sites**2 @ share - (sites @ share) ** 2, 0.0))
    new = special.expit(mu + tau * rng.standard_normal(_DRAWS))
    low, high = np.quantile(new, [0.025, 0.975]).tolist()
    return Heterogeneity(narrowest(sd), (float(new.mean()), low, high))
