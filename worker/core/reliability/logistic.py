"""A penalised Bayesian logistic regression on the score, with a level of its own for each group.

    logit P(right | score, group) = a + b x + sigma f(place) + d x_g + tau u_g

x is the logit of the score, f a cubic B-spline whose second differences are penalised, and
u_g ~ N(0, 1). How rough the curve is (sigma) and how far groups differ (tau) are not fixed at their
best values: the posterior is mixed over a grid, each point weighed by its marginal likelihood. So
is how far the classifier may be from calibrated (b = 1, all else 0): not at all, a little, or as
far as any; without the first its calibration error would never be near 0.

There is no lapse, as `prior.empirical` has one: the spline bends as far as labels say, and a
prior of a lapse promised errors among the surest items that some classifiers do not make.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_N_SPLINES = 14
# How far the curve may be from that of a calibrated classifier: the share of the weak priors'
# spreads; sigma; and the chance. Sigmas are even in logs; smaller ones, for a classifier that may
# be as far off as any, drew bands that were too narrow.
CURVES = (
    (0.01, 0.01, 0.15), (0.1, 0.1, 0.15),
    (1.0, 0.5, 0.175), (1.0, 1.0, 0.175), (1.0, 2.0, 0.175), (1.0, 4.0, 0.175),
)  # fmt: skip
TAU = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
# Weak normal priors (mean, standard deviation) of a, b, d and log tau: wider than those of
# `prior.empirical`, because here a band is asked for that holds for odd classifiers too.
WEAK = np.array([[0.0, 1.5], [1.0, 1.0], [0.2, 0.5], [-1.2, 1.0]])
_STEPS, _CLOSE = 30, 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What the regression sees of the pool: T places, G groups.

    basis: (T, K) columns 1, x, and the spline's, which all have the same prior variance sigma^2.
    group_logit: (G,) x_g. mean, sd: (K + 1,) normal priors of the coefficients, that of x_g last;
    those of the spline's are in units of sigma.
    """

    basis: Floats
    group_logit: Floats
    mean: Floats
    sd: Floats


class Labels(NamedTuple):
    """Labelled items by place and group, (L,) each: how many are right, of how many."""

    place: Ints
    group: Ints
    right: Floats
    items: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Some draws: coefficients (n, K + 1) and levels of groups (n, G)."""

    coefficients: Floats
    levels: Floats

    def chances(self, about: Design, place: Ints, group: Ints) -> Floats:
        """(n, P) chance of a right answer at places (P,) in groups (P,)."""
        of_place = self.coefficients[:, :-1] @ about.basis.T
        of_group = self.levels + self.coefficients[:, -1:] * about.group_logit
        chance: Floats = special.expit(of_place[:, place] + of_group[:, group])
        return chance


def design(at: Floats, logit: Floats, items: Ints, group_logit: Floats) -> Design:
    """Say what the regression sees.

    Args:
        at: (T,) in [0, 1], ascending: where the places lie. logit: (T,) of their scores.
        items: (T,) of the pool. group_logit: (G,) less that of the pool.

    Source:
        Eilers & Marx, "Flexible smoothing with B-splines and penalties" (1996), as a mixed model:
        the penalty's null space (a line) is left to 1 and x.
    """
    splines = _cubic_splines(np.clip(at, 0, 1))
    bends = np.diff(np.eye(_N_SPLINES), n=2, axis=0)
    values, vectors = np.linalg.eigh(bends.T @ bends)
    wiggles = splines @ (vectors[:, 2:] / np.sqrt(values[2:]))
    wiggles /= np.sqrt(np.average((wiggles**2).sum(axis=1), weights=items))
    n = wiggles.shape[1]
    basis = np.column_stack([np.ones(at.size), logit, wiggles])
    mean = np.concatenate([WEAK[:2, 0], np.zeros(n), WEAK[2:3, 0]])
    sd = np.concatenate([WEAK[:2, 1], np.ones(n), WEAK[2:3, 1]])
    return Design(basis, group_logit, mean, sd)


def _cubic_splines(at: Floats) -> Floats:
    """(T, K) values of the cubic B-splines on even knots, of which four are not 0 at a place."""
    n_between = _N_SPLINES - 3
    first = np.minimum((at * n_between).astype(np.int64), n_between - 1)
    t = at * n_between - first
    four = ((1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, 1 + 3 * t + 3 * t**2 - 3 * t**3, t**3)
    found = np.zeros((at.size, _N_SPLINES))
    for k, value in enumerate(four):
        found[np.arange(at.size), first + k] = value / 6
    return found


class _Peak(NamedTuple):
    """The posterior's peak and curvature for one sigma and tau (Laplace)."""

    log_evidence: float
    centre: Floats  # (K + 1,)
    level: Floats  # (g,) of the groups with labels
    root: Floats  # (K + 1, K + 1) Cholesky factor of the coefficients' precision
    across: Floats  # (g, K + 1) curvature between levels and coefficients, over that of levels
    level_sd: Floats  # (g,) of a level given the coefficients


def draw_fits(
    about: Design, labels: Labels, rng: np.random.Generator, n_draws: int, most: int
) -> Iterator[Fits]:
    """Draws from the posterior, `n_draws` in all, in pieces of at most `most`.

    Source:
        Laplace's approximation for the coefficients and levels given sigma and tau, as in Rue,
        Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models by using
        integrated nested Laplace approximations" (2009), with a coarse grid over these two.
    """
    groups, of = np.unique(labels.group, return_inverse=True)
    rows = np.column_stack([about.basis[labels.place], about.group_logit[labels.group]])
    grid = list(product(CURVES, TAU.tolist()))
    peaks: list[_Peak] = []
    start: tuple[Floats, Floats] | None = None
    for (share, sigma, _), tau in grid:
        mean, sd = about.mean.copy(), about.sd * share
        mean[-1] *= share
        sd[2:-1] = sigma
        peak = _peak(rows, of, groups.size, labels, (mean, sd), tau, start)
        start = peak.centre, peak.level
        peaks.append(peak)
    of_tau = (np.log([tau for _, tau in grid]) - WEAK[3, 0]) / WEAK[3, 1]
    logs = np.array([peak.log_evidence for peak in peaks]) - of_tau**2 / 2
    logs += np.log([chance for (_, _, chance), _ in grid])
    upto = np.cumsum(np.exp(logs - special.logsumexp(logs)))
    ends = np.floor(upto / upto[-1] * n_draws + rng.random()).astype(int)
    ends[-1] = n_draws
    n_groups = about.group_logit.size
    for peak, (_, tau), n in zip(peaks, grid, np.diff(ends, prepend=0).tolist(), strict=True):
        for at in range(0, n, most):
            some = min(most, n - at)
            away = np.linalg.solve(peak.root.T, rng.standard_normal((peak.centre.size, some))).T
            levels = tau * rng.standard_normal((some, n_groups))
            own = rng.standard_normal((some, groups.size)) * peak.level_sd
            levels[:, groups] = peak.level - away @ peak.across.T + own
            yield Fits(peak.centre + away, levels)


def _peak(
    rows: Floats,
    of: Ints,
    n_groups: int,
    labels: Labels,
    prior: tuple[Floats, Floats],
    tau: float,
    start: tuple[Floats, Floats] | None,
) -> _Peak:
    """Newton's method; the levels, each in few rows, are eliminated."""
    mean, sd = prior
    b, u = (mean.copy(), np.zeros(n_groups)) if start is None else (start[0], start[1])
    value = _log_density(rows, of, labels, prior, tau, b, u)
    for _ in range(_STEPS):
        curvature, across, own, slope_b, slope_u = _curved(rows, of, labels, prior, tau, b, u)
        over = across / own[:, None]
        left = curvature - across.T @ over
        step_b = np.linalg.solve(left, slope_b - over.T @ slope_u)
        step_u = slope_u / own - over @ step_b
        size = 1.0
        while True:
            nb, nu = b + size * step_b, u + size * step_u
            new = _log_density(rows, of, labels, prior, tau, nb, nu)
            if new >= value - 1e-9 or size < 1e-3:
                break
            size /= 2
        b, u, gained, value = nb, nu, new - value, new
        if gained < _CLOSE:
            break
    curvature, across, own, _, _ = _curved(rows, of, labels, prior, tau, b, u)
    over = across / own[:, None]
    root = np.linalg.cholesky(curvature - across.T @ over).astype(np.float64)
    # densities of the priors and the Gaussian integral; what all points share is left out
    log_evidence = value - np.log(sd).sum() - n_groups * np.log(tau)
    log_evidence -= np.log(np.diag(root)).sum() + np.log(own).sum() / 2
    return _Peak(float(log_evidence), b, u, root, over, own**-0.5)


def _log_density(
    rows: Floats, of: Ints, labels: Labels, prior: tuple[Floats, Floats], tau: float, b: Floats,
    u: Floats,
) -> float:  # fmt: skip
    logit = rows @ b + u[of]
    likelihood = labels.right @ logit - labels.items @ np.logaddexp(0, logit)
    away = (b - prior[0]) / prior[1]
    return float(likelihood - away @ away / 2 - u @ u / (2 * tau**2))


def _curved(
    rows: Floats, of: Ints, labels: Labels, prior: tuple[Floats, Floats], tau: float, b: Floats,
    u: Floats,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:  # fmt: skip
    """Precisions (K', K'), (g, K'), (g,) and gradients (K',), (g,) of the posterior."""
    chance = special.expit(rows @ b + u[of])
    weight = labels.items * chance * (1 - chance)
    slope = labels.right - labels.items * chance
    weighted, precision = rows * weight[:, None], prior[1] ** -2.0
    across = np.zeros((u.size, rows.shape[1]))
    np.add.at(across, of, weighted)
    own = np.bincount(of, weights=weight, minlength=u.size) + tau**-2.0
    slope_b = rows.T @ slope - precision * (b - prior[0])
    slope_u = np.bincount(of, weights=slope, minlength=u.size) - u / tau**2
    return rows.T @ weighted + np.diag(precision), across, own, slope_b, slope_u
