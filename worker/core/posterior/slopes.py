"""How far groups and cells move with the hyperparameters that all of them share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, Cells, replaced, unlabelled
from worker.core.posterior.parts import Part, sums
from worker.core.prior.hyperparameters import moves
from worker.core.prior.shared import Slopes

Floats = NDArray[np.float64]

_KEPT = 1 << 12  # cells


def under_likeliest(b: Belief, groups: NDArray[np.intp], cells: Cells) -> Belief:
    """The belief about some groups if the hyperparameters were known to be the likeliest ones.

    Args:
        groups: ascending; its own are numbered from the first one. cells: theirs.
    """
    assert b.shared is not None, "asked of groups that share something"
    at, first, last = b.shared.slopes, int(groups[0]), int(groups[-1]) + 1
    alpha, beta = _prior(at, cells)[:2]
    numbers = b.metric.score, b.metric.unit, b.metric.values  # none, where it has no use for them
    score, unit, values = (of[cells] if of.size else of for of in numbers)
    metric = replaced(b.metric, score=score, unit=unit, values=values)
    errors = b.errors
    if errors is not None:
        errors = replaced(errors, counts=errors.counts[cells], prior=errors.prior[cells])
    return replaced(
        b, group=b.group[cells] - first, size=b.size[cells], right=b.right[cells],
        wrong=b.wrong[cells], alpha=alpha, beta=beta, n_groups=last - first,
        mixture=b.mixture if b.mixture.ndim == 1 else b.mixture[first:last], metric=metric,
        errors=errors, variants=(), shared=None,
        _memo={"unlabelled": unlabelled(b)[cells], "even_strength": at.s.shape[1] == 1},
    )  # fmt: skip


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

    def at(self, some: Cells) -> "_Directions":
        """Those of some of the cells."""
        return _Directions(
            self.per_centre[some], self.per_tau[some], self.per_lapse[some], self.along[some],
            self.of_s[some], self.of_tau, self.of_lapse,
        )  # fmt: skip

    def by_component(self, per_mu: Floats, per_s: Floats) -> Floats:
        """(c, U, R) how far something moves that moves so far with mu and with log s (c, U)."""
        moved: Floats = (per_mu * self.per_centre)[:, :, None] * self.along[:, None]
        moved += per_s[:, :, None] * self.of_s[:, None]
        moved += (per_mu * self.per_tau)[:, :, None] * self.of_tau
        moved += (per_mu * self.per_lapse)[:, :, None] * self.of_lapse
        return moved

    def over_components(self, per_mu: Floats, per_s: Floats) -> Floats:
        """(c, R) the sum over the components of `by_component`."""
        moved: Floats = (per_mu * self.per_centre).sum(axis=1)[:, None] * self.along
        moved += per_s.sum(axis=1)[:, None] * self.of_s
        moved += (per_mu * self.per_tau).sum(axis=1)[:, None] * self.of_tau
        moved += (per_mu * self.per_lapse).sum(axis=1)[:, None] * self.of_lapse
        return moved


def _prior(at: Slopes, cells: Cells) -> tuple[Floats, Floats, Floats, _Directions]:
    """(c, U) alpha, beta and the rates of some cells, and how these move.

    Of thousands of groups they take more than all else: they are worked out when they are asked
    for. Of fewer they are kept: each label asks for them.
    """
    if at.centre.size > _KEPT:
        return *at.betas(cells), *_directions(at, cells)
    if "prior" not in at._memo:
        every = slice(0, at.centre.size)
        at._memo["prior"] = *at.betas(every), *_directions(at, every)
    alpha, beta, mu, to = at._memo["prior"]
    return alpha[cells], beta[cells], mu[cells], to.at(cells)


def _directions(at: Slopes, cells: Cells) -> tuple[Floats, _Directions]:
    """(c, U) the rates of some cells, and how they move."""
    curve, mu = at.rates(cells)
    is_free = moves(mu)
    per_centre = is_free * mu * (1 - curve)
    effect = at.effect if len(at.effect) == 1 else at.effect[cells]
    return mu, _Directions(
        per_centre, per_centre * effect, is_free * (mu - curve), at.along[cells], at.of_s[cells],
        at.of_tau, at.of_lapse,
    )  # fmt: skip


def moved(
    b: Belief, at: Slopes, part: Part, cells: Cells, mean: Floats, worth: Floats
) -> tuple[Floats, Floats]:
    """(g, R) how far the groups' means move, and (c, R) the rates, with each of what is shared.

    The labels of a group count: one that has many hardly moves, and of its strata those without
    labels move further than the others.

    Args:
        b: the belief `under_likeliest` hyperparameters. cells: where its own lie among `at`'s.
        part, mean (g, U) and worth (c, 1 or U): the belief's cells, the groups' values given each
            component, and what a right answer is worth.

    Source:
        Kass & Steffey, "Approximate Bayesian inference in conditionally independent hierarchical
        models" (1989): how the posterior mean given the hyperparameters moves with these, at their
        likeliest values.
    """
    (*_, mu, to), s = _prior(at, cells), at.s[cells]
    told = _of_labels(b, to, part, mu, s)
    weight = part.weight[part.of]
    per_mu = weight * s / part.total
    per_s = per_mu * (mu - part.rho)
    items = worth * part.mass / part.size[part.of, None]
    of_cells = to.over_components(per_mu, per_s)
    if items.shape[1] == 1:  # a right answer is worth the same at all components
        of_items = items * of_cells
    else:
        of_items = to.over_components(items * per_mu, items * per_s)
    centred = part.weight * (mean - (part.weight * mean).sum(axis=1, keepdims=True))
    # no product of matrices, which rounds one row otherwise than many
    of_groups: Floats = (centred[:, :, None] * told).sum(axis=1)
    of_groups += sums(part, of_items)
    away = weight * (part.rho - (weight * part.rho).sum(axis=1, keepdims=True))
    return of_groups, of_cells + (away[:, :, None] * told[part.of]).sum(axis=1)


def _of_labels(b: Belief, to: _Directions, part: Part, mu: Floats, s: Floats) -> Floats:
    """(g, U, R) how the log likelihoods of the groups' labels move, given each component."""
    told = np.zeros((*part.weight.shape, to.of_tau.size))
    seen = np.flatnonzero(b.right + b.wrong)
    alpha, beta = b.alpha[seen], b.beta[seen]
    right, wrong = b.right[seen, None], b.wrong[seen, None]
    up, down = _raised(alpha, right), _raised(beta, wrong)
    both = _raised(alpha + beta, right + wrong)
    mu, s = mu[seen], s[seen]
    per_s = s * (mu * (up - both) + (1 - mu) * (down - both))
    of_cells = to.at(seen).by_component(s * (up - down), per_s)
    if seen.size:
        of = part.of[seen]
        begin = np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]]))
        told[of[begin]] = np.add.reduceat(of_cells, begin, axis=0)
    return told


def _raised(x: Floats, n: Any) -> Floats:
    """How log Gamma(x + n) / Gamma(x) moves with x."""
    slope: Floats = special.digamma(x + n) - special.digamma(x)
    return slope
