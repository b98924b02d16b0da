"""The curve through the cells: how the mean measure goes with what the predictions promise."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from worker.core.soft_labels.design import KNOTS, Design

Floats = NDArray[np.float64]

# Standard deviations of level and slope, on the logit scale; how closely cells follow the curve:
# log strength of a Beta, mean and standard deviation.
_LEVEL, _SLOPE = 1.5, 0.5
_USUAL_LOG_STRENGTH = (3.0, 1.0)
_NEWTON, _HALVINGS = 12, 6
_ENOUGH = 1e-6
_LEAST_RATE = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A posterior of the curve's weights w: normal around `at` (q,), with precision `curvature`.

    log_weight: log of the evidence for its settings. sd: (q,) prior standard deviations of w.
    strength: (C,) of the Betas of the cells' means about the curve.
    """

    log_weight: float
    sd: Floats
    strength: Floats
    at: Floats
    curvature: Floats

    def drawn(self, rng: np.random.Generator, n: int) -> Floats:
        """(n, q) draws of w."""
        lower = np.linalg.cholesky(self.curvature)
        away = scipy.linalg.solve_triangular(lower.T, rng.standard_normal((self.at.size, n)))
        drawn: Floats = self.at + away.T
        return drawn


def rate_of(design: Design, w: Floats) -> Floats:
    """(C,) or (n, C) means of the cells on curves with weights (q,) or (n, q)."""
    return np.clip(
        special.expit(design.offset + w @ design.columns.T), _LEAST_RATE, 1 - _LEAST_RATE
    )


def curve_through(
    design: Design,
    more: Floats,
    less: Floats,
    bends: float,
    groups: float,
    log_strength: float,
    start: Floats | None = None,
) -> Curve:
    """The curve of largest posterior density, by Newton's method, with its Laplace approximation.

    Args:
        more, less: (C,) pseudo-counts for and against the measure, >= 0.
        bends, groups: prior standard deviations of the bends, and of the groups.
        log_strength: how closely cells follow the curve.
        start: (q,) where the search begins.
    """
    sd = np.full(design.columns.shape[1], groups)
    sd[: 2 + KNOTS.size] = [_LEVEL, _SLOPE, *[bends] * KNOTS.size]
    strength = np.exp(log_strength) * design.closeness
    at = np.flatnonzero(more + less)
    x, s, offset, more, less = (
        design.columns[at],
        strength[at],
        design.offset[at],
        more[at],
        less[at],
    )
    precision = np.diag(sd**-2)

    def loss(w: Floats) -> tuple[float, Floats, Floats]:
        value, first, second = _slopes(offset + x @ w, s, more, less)
        curvature = precision + (x.T * second) @ x
        return float(0.5 * w @ precision @ w - value), x.T @ first - precision @ w, curvature

    w = np.zeros(sd.size) if start is None else start
    here = loss(w)
    for _ in range(_NEWTON):
        step = scipy.linalg.solve(here[2], here[1], assume_a="pos")
        if here[1] @ step < _ENOUGH:
            break
        there = loss(w + step)
        for _ in range(_HALVINGS):
            if there[0] <= here[0]:
                break
            step = step / 2
            there = loss(w + step)
        w, here = w + step, there
    log_weight = -here[0] - 0.5 * np.linalg.slogdet(here[2])[1] - np.log(sd).sum()
    usual, apart = _USUAL_LOG_STRENGTH
    log_weight -= 0.5 * ((log_strength - usual) / apart) ** 2
    return Curve(float(log_weight), sd, strength, w, here[2])


def _slopes(eta: Floats, s: Floats, more: Floats, less: Floats) -> tuple[float, Floats, Floats]:
    """The beta-binomial log likelihood, its slope and minus its second derivative in eta (c,)."""
    mu = np.clip(special.expit(eta), _LEAST_RATE, 1 - _LEAST_RATE)
    a, b = s * mu, s * (1 - mu)
    value = float((special.betaln(a + more, b + less) - special.betaln(a, b)).sum())
    up = special.digamma(a + more) - special.digamma(a)
    down = special.digamma(b + less) - special.digamma(b)
    bend = special.zeta(2, a + more) - special.zeta(2, a)
    bend += special.zeta(2, b + less) - special.zeta(2, b)
    moves = mu * (1 - mu)
    first = s * (up - down) * moves
    second = s**2 * bend * moves**2 + first * (1 - 2 * mu)
    return value, first, np.maximum(-second, 1e-9)
