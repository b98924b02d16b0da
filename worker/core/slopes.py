"""How far groups and cells move with the hyperparameters that all of them share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, replaced
from worker.core.likelihood import moves
from worker.core.parts import Part, sums
from worker.core.shared import Slopes

Floats = NDArray[np.float64]

# What depends on the pool and its tally alone.
_KEPT = "unlabelled", "group_size", "starts", "filled"


def under_likeliest(b: Belief) -> Belief:
    """The belief if the hyperparameters were known to be the likeliest ones."""
    assert b.shared is not None, "asked of groups that share something"
    at, memo = b.shared.slopes, {name: b._memo[name] for name in _KEPT if name in b._memo}
    memo["even_strength"] = at.s.shape[1] == 1
    return replaced(b, alpha=at.alpha, beta=at.beta, shared=None, variants=(), _memo=memo)


@dataclass(frozen=True, slots=True, eq=False)
class _Directions:
    """How the rates mu and the logs of the strengths s of c cells move with R directions.

    mu moves by per_centre along + per_tau of_tau + per_lapse of_lapse, log s by of_s. The first
    three are (c, U), along and of_s (c, R), of_tau and of_lapse (R,).
    """

    per_centre: Floats
    per_tau: Floats
    per_lapse: Floats
    along: Floats
    of_s: Floats
    of_tau: Floats
    of_lapse: Floats

    def at(self, some: NDArray[np.intp]) -> "_Directions":
        """Those of some of the cells."""
        return _Directions(
            self.per_centre[some], self.per_tau[some], self.per_lapse[some], self.along[some],
            self.of_s[some], self.of_tau, self.of_lapse,
        )  # fmt: skip

    def by_node(self, per_mu: Floats, per_s: Floats) -> Floats:
        """(c, U, R) how far something moves that moves so far with mu and with log s (c, U)."""
        moved: Floats = (per_mu * self.per_centre)[:, :, None] * self.along[:, None]
        moved += per_s[:, :, None] * self.of_s[:, None]
        moved += (per_mu * self.per_tau)[:, :, None] * self.of_tau
        moved += (per_mu * self.per_lapse)[:, :, None] * self.of_lapse
        return moved

    def over_nodes(self, per_mu: Floats, per_s: Floats) -> Floats:
        """(c, R) the sum over the nodes of `by_node`."""
        moved: Floats = (per_mu * self.per_centre).sum(axis=1)[:, None] * self.along
        moved += per_s.sum(axis=1)[:, None] * self.of_s
        moved += (per_mu * self.per_tau).sum(axis=1)[:, None] * self.of_tau
        moved += (per_mu * self.per_lapse).sum(axis=1)[:, None] * self.of_lapse
        return moved


def _directions(at: Slopes, cells: slice) -> _Directions:
    mu = at.rates(cells)
    curve, is_free = mu / at.share, moves(mu)
    per_centre = is_free * mu * (1 - curve)
    effect = at.effect if len(at.effect) == 1 else at.effect[cells]
    return _Directions(
        per_centre, per_centre * effect, is_free * (mu - curve), at.along[cells], at.of_s[cells],
        at.of_tau, at.of_lapse,
    )  # fmt: skip


def moved(
    b: Belief, at: Slopes, part: Part, cells: slice, mean: Floats, worth: Floats
) -> tuple[Floats, Floats]:
    """(g, R) how far the groups' means move, and (c, R) the rates, with each of what is shared.

    The labels of a group count: one that has many hardly moves, and of its strata those without
    labels move further than the others.

    Args:
        b: the belief `under_likeliest` hyperparameters. part, mean (g, U) and worth (c, 1 or U):
            its cells, the groups' values given each node, and what a right answer is worth.

    Source:
        Kass & Steffey, "Approximate Bayesian inference in conditionally independent hierarchical
        models" (1989): how the posterior mean given the hyperparameters moves with these, at their
        likeliest values.
    """
    to, mu, s = _directions(at, cells), at.rates(cells), at.s[cells]
    told = _of_labels(b, to, part, cells, mu, s)
    weight = part.weight[part.of]
    per_mu, per_s = weight * s / part.total, weight * s * (mu - part.rho) / part.total
    items = worth * part.mass / part.size[part.of, None]
    centred = part.weight * (mean - (part.weight * mean).sum(axis=1, keepdims=True))
    # no product of matrices, which rounds one row otherwise than many
    of_groups: Floats = (centred[:, :, None] * told).sum(axis=1)
    of_groups += sums(part, to.over_nodes(items * per_mu, items * per_s))
    rate = (weight * part.rho).sum(axis=1, keepdims=True)
    away, of_cells = weight * (part.rho - rate), to.over_nodes(per_mu, per_s)
    return of_groups, of_cells + (away[:, :, None] * told[part.of]).sum(axis=1)


def _of_labels(
    b: Belief, to: _Directions, part: Part, cells: slice, mu: Floats, s: Floats
) -> Floats:
    """(g, U, R) how the log likelihoods of the groups' labels move, given each node."""
    told = np.zeros((*part.weight.shape, to.of_tau.size))
    right, wrong = b.right[cells], b.wrong[cells]
    seen = np.flatnonzero(right + wrong)
    alpha, beta = b.alpha[cells][seen], b.beta[cells][seen]
    up = _raised(alpha, right[seen, None])
    down = _raised(beta, wrong[seen, None])
    both = _raised(alpha + beta, (right + wrong)[seen, None])
    mu, s = mu[seen], s[seen]
    per_s = s * (mu * (up - both) + (1 - mu) * (down - both))
    of_cells = to.at(seen).by_node(s * (up - down), per_s)
    if seen.size:
        of = part.of[seen]
        begin = np.flatnonzero(np.diff(of, prepend=-1))
        told[of[begin]] = np.add.reduceat(of_cells, begin, axis=0)
    return told


def _raised(x: Floats, n: Any) -> Floats:
    """How log Gamma(x + n) / Gamma(x) moves with x."""
    slope: Floats = special.digamma(x + n) - special.digamma(x)
    return slope
