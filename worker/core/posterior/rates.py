"""Draws from the posterior of every cell's rate of right answers."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, filled_groups
from worker.core.posterior.joint import joint_loadings, moments_of_value
from worker.core.posterior.moments import moments
from worker.core.posterior.parts import part_of
from worker.core.prior.copula import held_inside, own_part

Floats = NDArray[np.float64]


def draw_cells(b: Belief, rng: np.random.Generator) -> Floats:
    """(C,) one posterior draw of each cell's rate of right answers, in [0, 1]."""
    rates: Floats = draw_rates(b, rng, 1)[0]
    return rates


def draw_rates(
    b: Belief, rng: np.random.Generator, n: int, cells: NDArray[np.intp] | None = None
) -> Floats:
    """(n, C) draws of the rates of all cells, or of some; a group's share its drawn component."""
    if b.mixture.size == 1:
        a, c = b.alpha[:, 0] + b.right, b.beta[:, 0] + b.wrong
        if cells is not None:
            a, c = a[cells], c[cells]
        return rng.beta(a, c, size=(n, a.size))
    weight = moments(b).weight
    if b.metric.pooled:  # one component for all groups
        below = np.cumsum(weight[b.group[0]])
        component = np.searchsorted(below[:-1], rng.random(n))[:, None].repeat(b.n_groups, axis=1)
    else:
        component = _components_of_groups(b, rng, n, weight)
    cell = np.arange(b.group.size) if cells is None else cells
    of = component[:, b.group[cell]]
    rates: Floats = rng.beta(b.alpha[cell, of] + b.right[cell], b.beta[cell, of] + b.wrong[cell])
    return rates


def _components_of_groups(
    b: Belief, rng: np.random.Generator, n: int, weight: Floats
) -> NDArray[np.intp]:
    """(n, G) a component of every group: what groups share moves them up or down together."""
    if b.metric.kind == "ece" and b.shared is not None:
        return _components_given_points(b, rng, n)
    load = joint_loadings(b)
    if not load.any() or b.mixture.ndim > 1:
        at = rng.random((n, b.n_groups))
    else:
        at = _joint_uniforms(b, rng, n, load)
    components: NDArray[np.intp] = (at[:, :, None] > np.cumsum(weight, axis=1)[:, :-1]).sum(axis=2)
    return components


def _components_given_points(b: Belief, rng: np.random.Generator, n: int) -> NDArray[np.intp]:
    """(n, G) a component of every group, drawn given one point of what is shared for each draw.

    Calibration errors are folded: all groups may be off together to either side, which loadings
    do not tell. Whether a component is taken that stands apart, a calibrated one, is drawn for all
    groups by one number, as a classifier that is calibrated is so in all of them.
    """
    assert b.shared is not None, "asked of groups that share something"
    filled = filled_groups(b)
    given = part_of(b, filled, slice(0, b.group.size)).given
    is_apart = np.isnan(np.resize(b.shared.axis, given.shape[2]))
    ordered = np.argsort(is_apart, kind="stable")
    upto = np.cumsum(given[:, :, ordered], axis=2)
    upto[:, :, -1] = np.inf
    rest = given[:, :, ~is_apart].sum(axis=2)
    components = np.zeros((n, b.n_groups), dtype=np.intp)
    at, together = rng.permutation(n) % given.shape[1], rng.random(n)
    own = rng.random((n, filled.size))
    for k in range(given.shape[1]):
        some = np.flatnonzero(at == k)
        is_so = together[some, None] < 1 - rest[:, k]
        where = np.where(is_so, rest[:, k] + own[some] * (1 - rest[:, k]), own[some] * rest[:, k])
        components[np.ix_(some, filled)] = ordered[(where[:, :, None] > upto[:, k]).sum(axis=2)]
    return components


def _joint_uniforms(b: Belief, rng: np.random.Generator, n: int, load: Floats) -> Floats:
    """(n, G) uniform numbers, correlated as the components of the groups are."""
    # what is shared lies between the components, and so is more of that than of the whole
    known = moments_of_value(b)
    between = known.variance / np.maximum(known.between, 1e-18)
    load = held_inside(load * np.sqrt(np.nan_to_num(between))[:, None])
    z = rng.standard_normal((n, b.n_groups)) * own_part(load)
    z += rng.standard_normal((n, load.shape[1])) @ load.T
    at: Floats = special.ndtr(z)
    return at
