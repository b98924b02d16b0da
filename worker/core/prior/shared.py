"""What is uncertain for all groups together, and how their cells and components move with it.

Hyperparameters are common to all groups: if the curve of accuracy over score lies lower than
thought, every group is worse than thought. The posterior of each group holds that uncertainty, but
sums, ranks and differences of groups also depend on how the groups move together: by how much, say
the slopes of their means (`worker.core.posterior.slopes`), and a copula joins them
(`worker.core.prior.copula`).
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.prior.copula import LEAST_OWN, points
from worker.core.prior.hyperparameters import rate_of

Floats = NDArray[np.float64]

N_POINTS = 32  # of what is shared, that beliefs are averaged over
_LEAST = 1e-100  # of a density
_DEGREES = 4.0  # of freedom, of the groups' effects


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The prior of C cells at `Fit.at_mean_tau`, and how it moves with the hyperparameters.

    centre: (C,) logits of the curve. effect: (C or 1, U) logits that the components add. lapse:
    (C, 1). s: strengths, (C, 1) if the same at all components, else (C, U); 0 where nothing moves.
    along, of_s: (C, R) how far centre and log s move with each of R independent standard normals.
    of_tau, of_lapse: (R,) how far the logs of these do. fixed: (C, U) each, alpha and
    beta of the Betas where they are not s mu and s (1 - mu) alone, as something of them moves with
    no hyperparameter.
    """

    centre: Floats
    effect: Floats
    lapse: Floats
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
        return curve, rate_of(curve, self.lapse[cells])

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
    second: where a group has two effects, each of cells of its own, what is common to the second
        ones; the components are then all pairs, and `load`, `own` and `axis` those of the first.
    """

    load: Floats
    own: Floats
    wider: Floats
    axis: Floats
    slopes: Slopes
    second: "Shared | None" = None


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
        alpha, beta: (C, U) of the Betas at `Fit.at_mean_tau`. U may be larger than
            before: a component that stands apart is the last one, and all may be repeated.
    """
    of = shared.slopes
    width = shared.axis.size if shared.second is None else shared.axis.size**2
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
    at = points(shared.load.shape[1], N_POINTS)
    density, on = _densities(shared, at), np.isfinite(shared.axis)
    if shared.second is not None:
        other = _densities(shared.second, at)
        density = (density[..., :, None] * other[..., None, :]).reshape(*density.shape[:2], -1)
        on = np.ones(density.shape[2], dtype=bool)
    blocks, along = mixture.reshape(len(mixture), 1, -1, on.size), on.astype(np.float64)
    given = blocks * density[:, :, None]
    kept = (blocks @ along) / (given @ along)
    given *= kept[..., None] if on.all() else np.where(on, kept[..., None], 1.0)
    chances: Floats = given.reshape(len(density), N_POINTS, -1)
    return chances


def _densities(shared: Shared, at: Floats) -> Floats:
    """(G, K, axis) how much likelier each effect is given a point `at` (K, R) of what is shared."""
    on = np.isfinite(shared.axis)
    axis = np.where(on, shared.axis, 0.0)
    centre, times = shared.load @ at.T, np.exp(at @ shared.wider)  # (G, K), (K,)
    away = axis - centre[:, :, None]
    away *= away
    density, one = np.full(away.shape, _LEAST), np.empty(away.shape)
    for own in shared.own.T:
        sd = np.maximum(own[:, None] * times, LEAST_OWN)[:, :, None]
        np.multiply(away, -1 / (2 * sd**2), out=one)
        np.exp(one, out=one)
        one /= sd
        density += one
    density /= effect_density(axis)
    density[..., ~on] = 1.0
    return density
