"""What is uncertain for all groups together, and how it joins their values.

Hyperparameters are common to all groups: if the curve of accuracy over score lies lower than
thought, every group is worse than thought. The posterior of each group holds that uncertainty, but
sums, ranks and differences of groups also depend on how the groups move together: by how much, say
the slopes of their means (`worker.core.posterior.slopes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.hyperparameters import rate_of

Floats = NDArray[np.float64]

N_POINTS = 32  # of what is shared, that beliefs are averaged over
_LEAST = 1e-100  # of a density
# On the axis, whose components are 0.5 apart: narrower, a group would jump between them.
_LEAST_OWN = 0.3
# Of a group's variance no more than this share is common: by so much its labels weigh its own part,
# and were less of it said to be its own, one label would tell it apart.
_MOST = 1 - _LEAST_OWN**2
_DEGREES = 4.0  # of freedom, of the groups' effects
_INSIDE = 1e-12  # probabilities are kept off 0 and 1, where a normal score is infinite


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The prior of C cells under the likeliest hyperparameters, and how it moves with them.

    centre: (C,) logits of the curve. effect: (C or 1, U) logits that the components add. s:
    strengths, (C, 1) if the same at all components, else (C, U); 0 where nothing moves. along,
    of_s: (C, R) how far centre and log s move with each of R independent standard normals. of_tau,
    of_lapse: (R,) how far the logs of these do. fixed: (C, U) each, alpha and beta of the Betas
    where they are not s mu and s (1 - mu) alone, as something of them moves with no hyperparameter.
    """

    centre: Floats
    effect: Floats
    lapse: float
    s: Floats
    along: Floats
    of_s: Floats
    of_tau: Floats
    of_lapse: Floats
    fixed: tuple[Floats, Floats] | None = None
    # Derived once, on demand (`posterior.slopes`), of so few cells that it is no matter.
    _memo: dict[str, Any] = field(init=False, default_factory=dict, repr=False)

    def rates(self, cells: slice | NDArray[np.intp]) -> tuple[Floats, Floats]:
        """(c, U) each: the curve, and mu, of some cells."""
        effect = self.effect if len(self.effect) == 1 else self.effect[cells]
        curve: Floats = special.expit(self.centre[cells, None] + effect)
        return curve, rate_of(curve, self.lapse)

    def betas(self, cells: slice | NDArray[np.intp], mu: Floats) -> tuple[Floats, Floats]:
        """(c, U) each: alpha and beta of some cells, whose `rates` are mu."""
        if self.fixed is not None:
            return self.fixed[0][cells], self.fixed[1][cells]
        return self.s[cells] * mu, self.s[cells] * (1 - mu)


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What of the components' prior is common to all groups.

    A group's effect, on the axis of its components, is load . x plus its own: x are R independent
    standard normals that all groups share, and its own part is normal with one of the standard
    deviations `own` exp(wider . x), each equally likely.

    load: (G, R). own: (G, S), > 0. wider: (R,). axis: (U,) where the components are, the same for
    all groups; nan for one that stands apart: what is shared says nothing of it.
    slopes: how the cells move with what is shared, whose strata move apart.
    """

    load: Floats
    own: Floats
    wider: Floats
    axis: Floats
    slopes: Slopes


def effect_density(axis: Floats) -> Floats:
    """(U,) density, up to a factor, of the effects that make groups differ, of variance 1.

    Student's t of 4 degrees of freedom: most groups are alike, and a few may be far from all
    others. Under a normal such a group moves what is believed of all.
    """
    density: Floats = (1 + axis**2 / (_DEGREES - 2)) ** (-(_DEGREES + 1) / 2)
    return density


def with_component_apart(shared: Shared) -> Shared:
    """With a last component that stands apart from the others."""
    return replace(shared, axis=np.append(shared.axis, np.nan))


def with_fixed(shared: Shared, alpha: Floats, beta: Floats) -> Shared:
    """With parts of the cells' Betas that move with no hyperparameter.

    Args:
        alpha, beta: (C, U) of the Betas under the likeliest hyperparameters. U may be larger than
            before: a component that stands apart is the last one, and all may be repeated.
    """
    of, width = shared.slopes, shared.axis.size
    n = of.effect.shape[1]
    times = alpha.shape[1] // width

    def laid_out(numbers: Floats) -> Floats:
        return np.tile(np.pad(numbers, ((0, 0), (0, width - n))), times)

    s = laid_out(np.repeat(of.s, n // of.s.shape[1], axis=1))
    slopes = replace(of, effect=laid_out(of.effect), s=s, fixed=(alpha, beta))
    return replace(shared, slopes=slopes)


def given_points(shared: Shared, mixture: Floats) -> Floats:
    """(G, K, U) probabilities of the components given each of K points of what is shared.

    Args:
        mixture: (G or 1, U) the components' prior for all that is not known of what is shared; a
            whole multiple of the axis' length, which is repeated.
    """
    on = np.isfinite(shared.axis)
    axis, along = np.where(on, shared.axis, 0.0), on.astype(np.float64)
    at = points(shared.load.shape[1], N_POINTS)
    centre, times = shared.load @ at.T, np.exp(at @ shared.wider)  # (G, K), (K,)
    away = axis - centre[:, :, None]
    away *= away
    density, one = np.full(away.shape, _LEAST), np.empty(away.shape)
    for own in shared.own.T:
        sd = np.maximum(own[:, None] * times, _LEAST_OWN)[:, :, None]
        np.multiply(away, -1 / (2 * sd**2), out=one)
        np.exp(one, out=one)
        one /= sd
        density += one
    density /= effect_density(axis)
    density[..., ~on] = 1.0
    blocks = mixture.reshape(len(mixture), 1, -1, axis.size)
    given = blocks * density[:, :, None]
    kept = (blocks @ along) / (given @ along)
    given *= kept[..., None] if on.all() else np.where(on, kept[..., None], 1.0)
    chances: Floats = given.reshape(len(away), N_POINTS, -1)
    return chances


def held_inside(rows: Floats, most: Floats | float = _MOST) -> Floats:
    """(G, R) loadings, those too long shortened: something of every group is its own.

    Args:
        most: (G,) or for all groups, the largest share of the variance that may be common.
    """
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    longest = np.sqrt(np.minimum(most, _MOST)).reshape(-1, 1)
    held: Floats = rows * np.minimum(1.0, longest / np.maximum(length, 1e-12))
    return held


def own_part(load: Floats) -> Floats:
    """(G,) the standard deviation of what is a group's own in its normal score."""
    own: Floats = np.sqrt(1 - (load**2).sum(axis=1))
    return own


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The normal scores of g groups, given each of K equally likely points of what they share.

    shift: (g, K) expected score. own: (g,) standard deviation of the rest, in (0, 1].
    """

    shift: Floats
    own: Floats

    @classmethod
    def nothing(cls, n_groups: int) -> "Given":
        """Nothing is shared: one point that says nothing."""
        return cls(np.zeros((n_groups, 1)), np.ones(n_groups))

    @classmethod
    def at(cls, load: Floats, n_points: int) -> "Given":
        """The loadings at some points of what is shared.

        Along the principal axes of the loadings; those on which no group moves by a hundredth are
        left out, and the least ones beyond half as many as points, which span no more: a group's
        part along them is taken to be its own.
        """
        axes = np.linalg.svd(load, full_matrices=False)[2]
        along = load @ axes.T
        along = along[:, np.abs(along).max(axis=0) > 0.01][:, : n_points // 2]
        if not along.shape[1]:
            return cls.nothing(len(load))
        return cls(along @ points(along.shape[1], n_points).T, own_part(along))

    @property
    def n_points(self) -> int:
        """How many points of what is shared are averaged over."""
        return self.shift.shape[1]

    def of(self, groups: Sequence[int] | NDArray[np.intp]) -> "Given":
        """Some of the groups."""
        at = np.asarray(groups, dtype=np.intp)
        return Given(self.shift[at], self.own[at])

    def tail(self, at: int, probability: Floats) -> Floats:
        """(K, J) what probabilities (J,) that a value is above something are, given each point."""
        if self.n_points == 1:
            alone: Floats = probability[None]
            return alone
        z = scores(probability)
        given: Floats = special.ndtr((z + self.shift[at][:, None]) / self.own[at])
        return given


@cache
def points(n_directions: int, n: int) -> Floats:
    """(n, R) points of a standard normal, of mean 0 and covariance 1, the same ones every time.

    Every point has its mirror image among them; n is even, and at least 2 R.

    Source: the Kronecker sequence of the powers of 1 / phi_R, phi_R^(R + 1) = phi_R + 1 (Roberts
    2018), through the normal quantiles.
    """
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (n_directions + 1))
    steps = root ** -np.arange(1.0, n_directions + 1)
    half = special.ndtri((0.5 + np.arange(1, n // 2 + 1)[:, None] * steps) % 1)
    even = np.concatenate([half, -half])
    left = np.linalg.cholesky(even.T @ even / n)
    normal: Floats = np.linalg.solve(left, even.T).T
    return normal


def scores(probability: Floats) -> Floats:
    """Normal scores of probabilities, finite."""
    z: Floats = special.ndtri(np.clip(probability, _INSIDE, 1 - _INSIDE))
    return z


def spread_evenly(parts: Floats, n: int, rng: np.random.Generator) -> Floats:
    """(n, D) independent rows of the same D normal scores, each in a random order."""
    rows: Floats = rng.permuted(np.tile(special.ndtri(parts), (n, 1)), axis=1)
    return rows


def joined(parts: Floats, load: Floats, common: Floats, rng: np.random.Generator) -> Floats:
    """(G, D) uniform numbers whose rows are correlated as the groups are.

    Every row holds the same D equally spaced numbers, in another order: a distribution is drawn
    from in as many equal parts as there are draws, each hit once.

    Args:
        parts: (D,) ascending, inside (0, 1). load: (G, R). common: (R, D), of `spread_evenly`.

    Source:
        Iman & Conover, "A distribution-free approach to inducing rank correlation among input
        variables" (1982), with normal scores: a Gaussian copula.
    """
    own = own_part(load)[:, None] * spread_evenly(parts, len(load), rng)
    drawn: Floats = np.empty_like(own)
    np.put_along_axis(drawn, (load @ common + own).argsort(axis=1), parts[None], axis=1)
    return drawn
