"""How likely labels are under the empirical prior's hyperparameters, with slopes and curvatures.

In closed form: a fit ends in a few Newton steps, and has its covariance with the last one. By
differences of gradients these took half of its time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.hyperparameters import closeness, curve_places, moves, rate_of
from worker.core.prior.rising import Rising, bend_of_rising, log_rising
from worker.core.prior.shared import effect_density

Floats = NDArray[np.float64]

# The components of the group effect, in its standard deviations: 15, .5 apart in the middle.
GRID: Floats = 1.84 * np.sinh(np.linspace(-1.9, 1.9, 15, dtype=np.float64))
MIXTURE: Floats = effect_density(GRID) * np.gradient(GRID)
MIXTURE /= MIXTURE.sum()
_LOG_MIXTURE = np.log(MIXTURE)

# Which of four moves with each of the first six hyperparameters: the curve's centre (with three, by
# what scores say of the cell; with all that follow, too), log s, the group's effect, log lapse.
_MOVED = (0, 0, 0, 1, 2, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The labelled cells: their counts (c,), their covariates (3 + K, c), and their groups.

    weak: (6 + K, 2) as of `Scores`.
    """

    each: Rising  # (2 c,) right answers of all cells, then wrong ones
    both: Rising
    x: Floats
    weak: Floats
    begin: NDArray[np.intp]  # where each group with labels begins
    of: NDArray[np.intp]  # (c,) which of these groups
    times: Floats | float = 1.0  # (g,) how often each of these groups counts, (g,) or all alike


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """What the likelihood, its gradient and its Hessian are made of; (c, U), or (c, 1) given u = 0.

    curve, mu: (c, U), and middle, m: (c, 1), curve and rate, at every component and at u = 0.
    by_centre, by_lapse: how mu and m move with the centre of the curve, and with the log lapse.
    s: (c, 1) strengths; per_m: how their logs move with m. with_mu, with_s: how a cell's log
    likelihood moves with mu, and with log s. effect: (U,) tau u. weight: (c, U) of the components
    given the labels of the cell's group, times how often it counts; shares: (g, U) the same without
    that, of the groups. times: (g, 1).
    """

    value: float
    curve: Floats
    middle: Floats
    mu: Floats
    m: Floats
    by_centre: tuple[Floats, Floats]
    by_lapse: tuple[Floats, Floats]
    s: Floats
    per_m: Floats
    effect: Floats
    with_mu: Floats
    with_s: Floats
    weight: Floats
    shares: Floats
    times: Floats


def terms(p: Floats, seen: Evidence) -> Terms:
    """Work out the log of the labels' marginal likelihood under the hyperparameters p (6 + K,)."""
    effect, lapse = np.exp(p[4]) * GRID, float(np.exp(p[5]))
    centre, n = (p[curve_places(len(seen.x))] @ seen.x)[:, None], len(seen.of)
    curve, middle = special.expit(centre + effect), special.expit(centre)
    mu, m = rate_of(curve, lapse), rate_of(middle, lapse)
    mu_moves, m_moves = moves(mu), moves(m)
    s = np.exp(p[3]) * closeness(m)
    right = s * mu
    of_each, slopes = log_rising(np.concatenate([right, s - right]), seen.each)
    of_both, less = log_rising(s, seen.both)
    by_component = np.add.reduceat(of_each[:n] + of_each[n:] - of_both, seen.begin, axis=0)
    by_component += _LOG_MIXTURE
    top = by_component.max(axis=1, keepdims=True)
    shares = np.exp(by_component - top)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    times = np.broadcast_to(seen.times, len(total))[:, None]
    up, down = slopes[:n], slopes[n:]
    apart = up - down
    return Terms(
        value=float((times * (top + np.log(total))).sum()),
        curve=curve,
        middle=middle,
        mu=mu,
        m=m,
        by_centre=(mu_moves * mu * (1 - curve), m_moves * m * (1 - middle)),
        by_lapse=(mu_moves * (-lapse * curve), m_moves * (-lapse * middle)),
        s=s,
        per_m=(m - 0.5) / (m * (1 - m)),
        effect=effect,
        with_mu=s * apart,
        with_s=s * (mu * apart + down - less),
        weight=(times * shares)[seen.of],
        shares=shares,
        times=times,
    )


def gradient(t: Terms, seen: Evidence) -> tuple[float, Floats]:
    """The log likelihood, and how it moves with each hyperparameter (6 + K,)."""
    with_mu, with_s = t.weight * t.with_mu, np.vecdot(t.weight, t.with_s)
    with_m = with_s * t.per_m[:, 0]
    (mu, m), (mu_lapse, m_lapse) = t.by_centre, t.by_lapse
    slope = with_mu * mu
    with_centre = slope.sum(axis=1) + with_m * m[:, 0]
    with_lapse = np.vdot(with_mu, mu_lapse) + with_m @ m_lapse[:, 0]
    effect = slope.sum(axis=0) @ t.effect
    with_curve = seen.x @ with_centre
    others = with_s.sum(), effect, with_lapse
    return t.value, np.array([*with_curve[:3], *others, *with_curve[3:]])


def hessian(t: Terms, seen: Evidence) -> Floats:
    """(6 + K, 6 + K) second derivatives of the log likelihood in the hyperparameters.

    Source:
        Louis, "Finding the observed information matrix when using the EM algorithm" (1982): of a
        mixture over components the mean of the second derivatives, and the covariance of the first.
    """
    design = np.concatenate([seen.x[:3], np.ones((3, len(t.s))), seen.x[3:]])
    at = [*_MOVED, *(0 for _ in seen.x[3:])]
    (mu, m), (mu_lapse, m_lapse) = t.by_centre, t.by_lapse
    slope = t.with_mu * mu
    moved = np.stack([
        slope + t.with_s * t.per_m * m, t.with_s, slope * t.effect,
        t.with_mu * mu_lapse + t.with_s * t.per_m * m_lapse,
    ])  # fmt: skip
    moved = np.add.reduceat(design[:, :, None] * moved[at], seen.begin, axis=1)  # (6 + K, g, U)
    mean = np.vecdot(moved, t.shares)
    spread = (moved * np.sqrt(t.times * t.shares)).reshape(len(at), -1)
    curved = _of_cells(t, seen)[at][:, at]
    bent: Floats = np.einsum("ic,jc,ijc->ij", design, design, curved)
    bent += spread @ spread.T - (mean * t.times[:, 0]) @ mean.T
    return bent


def _of_cells(t: Terms, seen: Evidence) -> Floats:
    """(4, 4, c) second derivatives of each cell's log likelihood, their mean over the components.

    In the centre of the curve, log s, the group's effect (tau u, by log tau) and log lapse, all of
    which move mu, log s_c or both.
    """
    right, n = t.s * t.mu, len(t.s)
    bends = bend_of_rising(np.concatenate([right, t.s - right]), seen.each)
    up, down = t.s * bends[:n], t.s * bends[n:]
    less = t.s * bend_of_rising(t.s, seen.both)
    mu_mu = t.s * (up + down)
    mu_s = t.with_mu + t.s * (t.mu * up - (1 - t.mu) * down)
    s_s = t.with_s + t.s * (t.mu**2 * up + (1 - t.mu) ** 2 * down - less)
    (mu, m), (mu_lapse, m_lapse) = t.by_centre, t.by_lapse
    along = np.stack([np.ones_like(t.effect), t.effect, t.effect**2], axis=1)

    def over(each: Floats) -> Floats:
        """(3, c) mean of (c, U) over the components, times 1, the effect, and its square."""
        means: Floats = ((t.weight * each) @ along).T
        return means

    slope = t.with_mu * mu
    centre = over(mu_mu * mu**2 + slope * (1 - 2 * t.curve))
    mixed = over(mu_mu * mu * mu_lapse + t.with_mu * mu_lapse * (1 - t.curve))
    lapse = over(mu_mu * mu_lapse**2 + t.with_mu * mu_lapse)[0]
    crossed, none = over(mu_s * mu), np.zeros(n)
    of_mu = np.array([
        [centre[0], none, centre[1], mixed[0]],
        [none, none, none, none],
        [centre[1], none, centre[2] + over(slope)[1], mixed[1]],
        [mixed[0], none, mixed[1], lapse],
    ])  # fmt: skip
    # how log s_c moves, once and twice
    s_c, s_lapse = (t.per_m * m)[:, 0], (t.per_m * m_lapse)[:, 0]
    once = np.stack([s_c, none + 1, none, s_lapse])
    m, m_lapse, middle = m[:, 0], m_lapse[:, 0], t.middle[:, 0]
    per_mm = (2 * t.per_m**2 + 1 / (t.m * (1 - t.m)))[:, 0]
    twice = np.zeros_like(of_mu)
    twice[0, 0] = per_mm * m**2 + s_c * (1 - 2 * middle)
    twice[0, 3] = twice[3, 0] = per_mm * m * m_lapse + s_lapse * (1 - middle)
    twice[3, 3] = per_mm * m_lapse**2 + s_lapse
    both = np.stack([crossed[0], none, crossed[1], over(mu_s * mu_lapse)[0]])[:, None] * once
    of_s: Floats = over(s_s)[0] * once[:, None] * once + over(t.with_s)[0] * twice
    return of_mu + both + both.swapaxes(0, 1) + of_s
