"""How far groups and cells move with the hyperparameters that all of them share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, Cells, Counts
from worker.core.posterior.parts import Part, sums
from worker.core.prior.hyperparameters import moves
from worker.core.prior.shared import Slopes

Floats = NDArray[np.float64]

_KEPT = 1 << 12  # cells


@dataclass(frozen=True, slots=True, eq=False)
class Likeliest:
    """The prior of c cells under the likeliest hyperparameters, and how it moves in R directions.

    alpha, beta: (c, U) of the Betas, with rates mu (c, U) and strengths s, (c, 1 or U). mu moves by
    per_centre along + per_tau of_tau + per_lapse of_lapse, log s by of_s. These three are (c, U),
    along and of_s (c, R), of_tau and of_lapse (R,).
    """

    alpha: Floats
    beta: Floats
    mu: Floats
    s: Floats
    per_centre: Floats
    per_tau: Floats
    per_lapse: Floats
    along: Floats
    of_s: Floats
    of_tau: Floats
    of_lapse: Floats

    def at(self, some: Cells) -> "Likeliest":
        """Those of some of the cells."""

        def of(rows: Floats) -> Floats:
            return rows[some] if isinstance(some, slice) else rows.take(some, axis=0)

        return Likeliest(
            of(self.alpha), of(self.beta), of(self.mu), of(self.s), of(self.per_centre),
            of(self.per_tau), of(self.per_lapse), of(self.along), of(self.of_s),
            self.of_tau, self.of_lapse,
        )  # fmt: skip

    def summed(self, per_mu: Floats, per_s: Floats, begin: NDArray[np.intp]) -> Floats:
        """(g, R, U) sums over the cells from each `begin` (g,) to the next.

        Of how far something moves that moves so far with mu and with log s (c, U).
        """
        by_cell = (per_mu * self.per_centre)[:, None] * self.along[:, :, None]
        by_cell += per_s[:, None] * self.of_s[:, :, None]
        moved: Floats = np.add.reduceat(by_cell, begin, axis=0)
        for per, of in ((self.per_tau, self.of_tau), (self.per_lapse, self.of_lapse)):
            moved += np.add.reduceat(per_mu * per, begin, axis=0)[:, None] * of[:, None]
        return moved

    def over_components(self, per_mu: Floats, per_s: Floats) -> Floats:
        """(c, R) sums over the components, of the same."""
        moved: Floats = np.vecdot(per_mu, self.per_centre)[:, None] * self.along
        moved += per_s.sum(axis=1)[:, None] * self.of_s
        moved += np.vecdot(per_mu, self.per_tau)[:, None] * self.of_tau
        moved += np.vecdot(per_mu, self.per_lapse)[:, None] * self.of_lapse
        return moved


def likeliest(at: Slopes, cells: Cells) -> Likeliest:
    """The prior of some cells.

    Of thousands of groups these numbers take more than all else: they are worked out when they are
    asked for. Of fewer they are kept: each label asks for them.
    """
    if at.centre.size > _KEPT:
        return _worked_out(at, cells)
    if "likeliest" not in at._memo:
        at._memo["likeliest"] = _worked_out(at, slice(0, at.centre.size))
    every: Likeliest = at._memo["likeliest"]
    return every.at(cells)


def _worked_out(at: Slopes, cells: Cells) -> Likeliest:
    curve, mu = at.rates(cells)
    is_free = moves(mu)
    per_centre = is_free * mu * (1 - curve)
    effect = at.effect if len(at.effect) == 1 else at.effect[cells]
    return Likeliest(
        *at.betas(cells, mu), mu, at.s[cells], per_centre, per_centre * effect,
        is_free * (mu - curve), at.along[cells], at.of_s[cells], at.of_tau, at.of_lapse,
    )  # fmt: skip


def moved(
    b: Belief, to: Likeliest, part: Part, cells: Cells, mean: Floats, worth: Floats
) -> tuple[Floats, Floats]:
    """(g, R) how far the groups' means move, and (c, R) the rates, with each of what is shared.

    The labels of a group count: one that has many hardly moves, and of its strata those without
    labels move further than the others.

    Args:
        to, part: of the groups' cells, under the likeliest hyperparameters.
        mean (g, U), worth (c, 1 or U): the groups' values given each component, and what a right
            answer is worth.

    Source:
        Kass & Steffey, "Approximate Bayesian inference in conditionally independent hierarchical
        models" (1989): how the posterior mean given the hyperparameters moves with these, at their
        likeliest values.
    """
    told = _of_labels(b.right[cells], b.wrong[cells], to, part)
    weight = part.weight.take(part.of, axis=0)
    per_mu = weight * to.s / part.total
    per_s = per_mu * (to.mu - part.rho)
    items = worth * part.mass / part.size.take(part.of)[:, None]
    of_cells = to.over_components(per_mu, per_s)
    if items.shape[1] == 1:  # a right answer is worth the same at all components
        of_items = items * of_cells
    else:
        of_items = to.over_components(items * per_mu, items * per_s)
    centred = part.weight * (mean - np.vecdot(part.weight, mean)[:, None])
    # no product of matrices, which rounds one row otherwise than many
    of_groups: Floats = np.vecdot(centred[:, None], told) + sums(part, of_items)
    away = weight * (part.rho - np.vecdot(weight, part.rho)[:, None])
    of_effects: Floats = np.einsum("cu,cru->cr", away, told.take(part.of, axis=0))
    return of_groups, of_cells + of_effects


def _of_labels(right: Counts, wrong: Counts, to: Likeliest, part: Part) -> Floats:
    """(g, R, U) how the log likelihoods of the groups' labels move, given each component."""
    told = np.zeros((len(part.weight), to.of_tau.size, part.weight.shape[1]))
    seen = np.flatnonzero(right + wrong)
    right, wrong, to = right[seen, None], wrong[seen, None], to.at(seen)
    strength = to.alpha + to.beta
    if to.s.shape[1] == 1:  # so is their sum at all components
        strength = strength[:, :1]
    up, down = part.slopes
    both = special.digamma(strength + right + wrong) - special.digamma(strength)
    per_s = to.s * (to.mu * (up - both) + (1 - to.mu) * (down - both))
    if seen.size:
        of = part.of[seen]
        begin = np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]]))
        told[of[begin]] = to.summed(to.s * (up - down), per_s, begin)
    return told
