"""How likely labels are under the empirical prior's hyperparameters, with slopes and curvatures.

In closed form: so a fit takes a few of Newton's steps, and has its covariance with the last one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.hyperparameters import (
    LEAST_RATE,
    Scores,
    closeness,
    curve_places,
    moves,
    rate_of,
)
from worker.core.prior.rising import Rising, log_rising, rising
from worker.core.prior.shared import effect_density

Floats = NDArray[np.float64]

# The components of the group effect, in its standard deviations: 15, .5 apart in the middle.
GRID: Floats = 1.84 * np.sinh(np.linspace(-1.9, 1.9, 15, dtype=np.float64))
MIXTURE: Floats = effect_density(GRID) * np.gradient(GRID)
MIXTURE /= MIXTURE.sum()
_LOG_MIXTURE = np.log(MIXTURE)

_OTHERS = slice(3, 6)  # places of log s, log tau and log lapse among the hyperparameters


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The labelled cells: their counts (c,), their covariates (3 + K, c), and their groups.

    weak: (6 + K, 2), heavy: (6 + K,) as of `Scores`.
    """

    right: Rising
    wrong: Rising
    both: Rising
    x: Floats
    weak: Floats
    heavy: NDArray[np.bool_]
    begin: NDArray[np.intp]  # where each group with labels begins
    of: NDArray[np.intp]  # (c,) which of these groups
    lapse: Floats | float = 1.0  # (c, 1) how many times the lapse
    times: Floats | float = 1.0  # (g,) how often each of these groups counts, (g,) or all alike


def evidence(
    right: NDArray[np.int64], wrong: NDArray[np.int64], group: NDArray[np.int64], scores: Scores
) -> Evidence:
    """What the labels tell: cells without labels say nothing, and are left out."""
    at = np.flatnonzero(right + wrong)
    of = group[at]
    return Evidence(
        right=rising(right[at]),
        wrong=rising(wrong[at]),
        both=rising(right[at] + wrong[at]),
        x=scores.x.take(at, axis=1),
        weak=scores.weak,
        heavy=scores.heavy,
        begin=np.flatnonzero(np.diff(of, prepend=-1)),
        of=np.cumsum(np.diff(of, prepend=of[:1]) > 0),
        lapse=scores.lapses(0.0).take(at, axis=0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Labels:
    """The log probability of a cell's labels (c, U), and how it moves: once, and twice.

    With log mu (0 where mu is held at its bounds), and with log s.
    """

    log: Floats
    mu: Floats
    s: Floats
    mu_mu: Floats
    mu_s: Floats
    s_s: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Strength:
    """How log s_c (c,) moves: once, and twice. It does by m, where the group has no effect."""

    centre: Floats
    lapse: Floats
    centre_centre: Floats
    centre_lapse: Floats
    lapse_lapse: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihoods:
    """Of the cells (c) and groups (g) under some hyperparameters, by component.

    down: (c, 1) how log m moves with log lapse. shares: (g, U) of the components, given the labels
    of a group. times: (g, 1) how often it counts.
    """

    labels: "_Labels"
    by_s: "_Strength"
    curve: Floats
    effect: Floats
    down: Floats
    shares: Floats
    times: Floats


def _likelihoods(p: Floats, seen: Evidence) -> tuple[float, _Likelihoods]:
    """The log of the labels' marginal likelihood, and what it is made of."""
    effect, lapse = np.exp(p[4]) * GRID, np.exp(p[5]) * seen.lapse
    centre = (p[curve_places(len(seen.x))] @ seen.x)[:, None]
    curve, middle = special.expit(centre + effect), special.expit(centre)
    m = rate_of(middle, lapse)
    s = np.exp(p[3]) * closeness(m)
    labels = _labels(s, rate_of(curve, lapse), seen)
    by_component = _of_groups(labels.log, seen) + _LOG_MIXTURE
    top = by_component.max(axis=1, keepdims=True)
    shares = np.exp(by_component - top)
    total = shares.sum(axis=1, keepdims=True)
    times = np.broadcast_to(seen.times, len(total))[:, None]
    down = np.broadcast_to(-lapse / np.maximum(1 - lapse, LEAST_RATE), centre.shape)
    by_s = _moves_of_s(m[:, 0], middle[:, 0], down[:, 0])
    value = float((times * (top + np.log(total))).sum())
    return value, _Likelihoods(labels, by_s, curve, effect, down, shares / total, times)


def moves_of_cells(p: Floats, seen: Evidence) -> Floats:
    """(2, c) slope and curvature of each cell's log likelihood in the centre of its curve."""
    slopes, of_centre, _ = _of_cells(_likelihoods(p, seen)[1], seen)
    return np.stack([slopes[0], of_centre[0]])


def log_likelihood(p: Floats, seen: Evidence) -> tuple[float, Floats, Floats]:
    """The log of the labels' marginal likelihood, its gradient and its Hessian.

    Args:
        p: (6 + K,) hyperparameters, in the order of `Hyperparameters.numbers`.

    Returns:
        The value, (6 + K,) and (6 + K, 6 + K).

    Source:
        Louis, "Finding the observed information matrix when using the EM algorithm" (1982): of a
        mixture over components the mean of the second derivatives, and the covariance of the first.
    """
    at = curve_places(len(seen.x))
    value, of = _likelihoods(p, seen)
    slopes, of_centre, of_others = _of_cells(of, seen)
    slope, bent = np.empty(p.size), np.empty((p.size, p.size))
    slope[at], slope[_OTHERS] = seen.x @ slopes[0], slopes[1:].sum(axis=1)
    bent[np.ix_(at, at)] = (seen.x * of_centre[0]) @ seen.x.T
    bent[at, _OTHERS] = seen.x @ of_centre[1:].T
    bent[_OTHERS, at] = bent[at, _OTHERS].T
    bent[_OTHERS, _OTHERS] = of_others.sum(axis=2)

    labels, shares = of.labels, of.shares
    moved = np.empty((p.size, *shares.shape))  # first derivatives of each group, by component
    with_centre = labels.mu * (1 - of.curve) + labels.s * of.by_s.centre[:, None]
    with_tau = labels.mu * (1 - of.curve) * of.effect
    with_lapse = of.down * labels.mu + labels.s * of.by_s.lapse[:, None]
    moved[at] = [_of_groups(x[:, None] * with_centre, seen) for x in seen.x]
    moved[_OTHERS] = [_of_groups(each, seen) for each in (labels.s, with_tau, with_lapse)]
    mean = np.vecdot(moved, shares)  # (6 + K, g)
    spread = (moved * np.sqrt(of.times * shares)).reshape(p.size, -1)
    bent += spread @ spread.T - (mean * of.times[:, 0]) @ mean.T
    return value, slope, bent


def _of_cells(of: _Likelihoods, seen: Evidence) -> tuple[Floats, Floats, Floats]:
    """Derivatives of each cell's log likelihood, their means over the components.

    In the centre of the curve (c), log s, log tau (t) and log lapse (l). log mu moves with the
    centre by 1 - curve, with log tau by that times the effect, and with log lapse by `down`; log s
    moves with the centre and log lapse, by `by_s`.

    Returns:
        (4, c) the first; (4, c) the second in the centre and each; (3, 3, c) in the other three.
    """
    labels, by_s, curve, down = of.labels, of.by_s, of.curve, of.down[:, 0]
    along = np.stack([np.ones_like(of.effect), of.effect, of.effect**2], axis=1)
    weight = (of.times * of.shares)[seen.of]

    def means(each: Floats) -> Floats:
        """(3, c) of (c, U): the mean over the components, times 1, the effect, and its square."""
        found: Floats = ((weight * each) @ along).T
        return found

    up, centre, lapse = 1 - curve, by_s.centre, by_s.lapse
    by_c, mu_c = labels.mu * up, labels.mu_mu * up
    mu, mu_mu, mu_s = (means(each)[0] for each in (labels.mu, labels.mu_mu, labels.mu_s))
    s, s_s = means(labels.s)[0], means(labels.s_s)[0]
    c, c_mu, c_s = means(by_c), means(mu_c), means(labels.mu_s * up)
    c_c = means(mu_c * up - by_c * curve)
    slopes = np.stack([c[0] + s * centre, s, c[1], down * mu + s * lapse])
    of_centre = np.stack([
        c_c[0] + (2 * c_s[0] + s_s * centre) * centre + s * by_s.centre_centre,
        c_s[0] + s_s * centre,
        c_c[1] + c_s[1] * centre,
        down * (c_mu[0] + mu_s * centre) + (c_s[0] + s_s * centre) * lapse + s * by_s.centre_lapse,
    ])  # fmt: skip
    s_l, t_l = down * mu_s + s_s * lapse, down * c_mu[1] + c_s[1] * lapse
    l_l = down**2 * mu_mu + down * (1 - down) * mu
    l_l += (2 * down * mu_s + s_s * lapse) * lapse + s * by_s.lapse_lapse
    return (
        slopes,
        of_centre,
        np.array([[s_s, c_s[1], s_l], [c_s[1], c_c[2] + c[1], t_l], [s_l, t_l, l_l]]),
    )


def _of_groups(cells: Floats, seen: Evidence) -> Floats:
    """(g, U) sums of (c, U) over the cells of each group."""
    sums: Floats = np.add.reduceat(cells, seen.begin, axis=0)
    return sums


def _moves_of_s(m: Floats, middle: Floats, down: Floats) -> _Strength:
    """Of rates m and curves (c,) given u = 0; down: (c,) how log m moves with log lapse."""
    steep = (m - 0.5) / (m * (1 - m))
    bent = 2 * steep**2 + 1 / (m * (1 - m))
    moved = moves(m) * m
    centre, lapse = moved * (1 - middle), moved * down
    return _Strength(
        centre=steep * centre,
        lapse=steep * lapse,
        centre_centre=bent * centre**2 + steep * centre * (1 - 2 * middle),
        centre_lapse=bent * centre * lapse + steep * lapse * (1 - middle),
        lapse_lapse=bent * lapse**2 + steep * lapse,
    )


def _labels(s: Floats, mu: Floats, seen: Evidence) -> _Labels:
    """Of strengths s (c, 1) and rates mu (c, U)."""
    right = s * mu
    wrong = s - right
    log_right, slope_right, bend_right = log_rising(right, seen.right, 2)
    log_wrong, slope_wrong, bend_wrong = log_rising(wrong, seen.wrong, 2)
    log_both, slope_both, bend_both = log_rising(s, seen.both, 2)
    moving = moves(mu)
    by_right, by_wrong = right * slope_right, wrong * slope_wrong
    twice_right, crossed = right**2 * bend_right, right * bend_wrong
    by_mu = moving * (by_right - right * slope_wrong)
    by_s = by_right + by_wrong - s * slope_both
    return _Labels(
        log=log_right + log_wrong - log_both,
        mu=by_mu,
        s=by_s,
        mu_mu=by_mu + moving * (twice_right + right * crossed),
        mu_s=by_mu + moving * (twice_right - wrong * crossed),
        s_s=by_s + twice_right + wrong**2 * bend_wrong - s**2 * bend_both,
    )
