"""How different sites are: what their accuracies say of the spread, and of a site not seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Numbers = tuple[float, float, float]  # posterior mean and 95% interval

_SCALE = 1.0  # of the prior of tau, in logits; at half of it a new site was missed too often
_TAU = np.concatenate([[0.0], np.geomspace(0.01, 4.0, 120)])
_DRAWS = 4000
_LEAST = 1e-8  # of a variance, in squared logits
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


@dataclass(frozen=True, slots=True)
class Between:
    """sd: the standard deviation of accuracy between sites, with the narrowest 95% interval, as an
    equal-tailed one of what is >= 0 never holds 0. new: the accuracy at a further site."""

    sd: Numbers
    new: Numbers


def between(mean: Floats, variance: Floats) -> Between:
    """What P >= 2 sites, each known more or less well, say of all sites like them.

    With few sites most of the answer is the prior: of two alike, a new one may still be another.

    Args:
        mean, variance: (P,) posterior of each site's accuracy, worked out from its own labels.

    Raises:
        ValueError: fewer than two sites, or arrays of different lengths.

    Source:
        Random-effects meta-analysis, logit theta_p ~ N(mu, tau^2), with the predictive interval of
        Higgins, Thompson & Spiegelhalter, "A re-evaluation of random-effects meta-analysis" (2009);
        mu flat, tau half-Cauchy of scale 1 (Gelman 2006), integrated over a grid.
    """
    if mean.size < 2 or mean.shape != variance.shape:
        raise ValueError(
            f"came {mean.size} means and {variance.size} variances; pass one of each for every "
            "site, of at least two."
        )
    inside = np.clip(mean, 1e-4, 1 - 1e-4)
    y = special.logit(inside)
    v = np.maximum(variance / (inside * (1 - inside)) ** 2, _LEAST)
    total = v + _TAU[:, None] ** 2
    precision = (1 / total).sum(axis=1)
    centre = (y / total).sum(axis=1) / precision
    logs = -(np.log(total) + (y - centre[:, None]) ** 2 / total).sum(axis=1) / 2
    logs += -np.log(precision) / 2 - np.log1p((_TAU / _SCALE) ** 2)
    weight = np.exp(logs - logs.max()) * np.gradient(_TAU)
    rng = np.random.default_rng(_DRAWS)
    at = rng.choice(_TAU.size, _DRAWS, p=weight / weight.sum())
    mu = centre[at] + rng.standard_normal(_DRAWS) * precision[at] ** -0.5
    sites = special.expit(mu[:, None] + _TAU[at, None] * _NODES)
    share = _WEIGHTS / _WEIGHTS.sum()
    sd = np.sqrt(np.maximum(sites**2 @ share - (sites @ share) ** 2, 0.0))
    new = special.expit(mu + _TAU[at] * rng.standard_normal(_DRAWS))
    low, high = np.quantile(new, [0.025, 0.975]).tolist()
    return Between(_narrowest(sd), (float(new.mean()), low, high))


def _narrowest(draws: Floats) -> Numbers:
    ordered = np.sort(draws)
    n = int(np.ceil(0.95 * draws.size))
    first = int((ordered[n - 1 :] - ordered[: draws.size - n + 1]).argmin())
    return float(draws.mean()), float(ordered[first]), float(ordered[first + n - 1])
