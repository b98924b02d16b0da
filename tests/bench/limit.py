"""What a choice of labels could win at the most: designs by one who knows the prior and all rates.

Each label lies where it lowers what is expected of the errors of the groups and of the whole pool
most. Rates are linear in what is unknown: the curve in the scores (as uncertain as before any
label), an effect of each group, a scatter of each stratum.

Source:
    A-optimal designs, exchanged for a greedy one: Chaloner & Verdinelli, "Bayesian experimental
    design: a review" (1995).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from tests.bench.oracle import Floats, Ints
from worker.assessment.believing import scores
from worker.core.prior.empirical import fit
from worker.core.prior.hyperparameters import WEAK, closeness, rate_of
from worker.core.strategies.ours import EVEN, FEW
from worker.pool import Pool

_CURVE = 3  # hyperparameters of the curve: a, b, d


@dataclass(frozen=True, slots=True)
class Limit:
    """C strata in G groups.

    group, size: (C,). share: (G,) of the pool's items. covariance: (C, C) of the strata's rates
    before any label. noise: (C,) variance of one item's outcome given its stratum's rate.
    """

    group: Ints
    size: Floats
    share: Floats
    covariance: Floats
    noise: Floats

    def errors(self, at: tuple[int, ...], free: float, few: int, seed: int = 0) -> Floats:
        """(len(at), 2) expected root mean squared errors of the groups and of the whole pool.

        Args:
            free: the share of labels that lie where they tell most; the others lie as items do.
            few: labels until which all do so.
        """
        rng = np.random.default_rng(seed)
        covariance, n = self.covariance.copy(), np.zeros(self.size.size)
        offset, found = 1.0 - rng.random(n.size), []
        for label in range(1, at[-1] + 1):
            if label <= few or rng.random() >= free:
                worth = self.size / (n + offset)
            else:
                worth = self._worth(covariance, n)
            cell = int(np.where(n < self.size, worth, -1.0).argmax())
            own = covariance[cell]
            covariance -= np.outer(own, own) / (own[cell] + self.noise[cell])
            n[cell] += 1
            if label in at:
                _, of_groups, of_pool = self._moved(covariance, n)
                found.append((of_groups, of_pool))
        return np.sqrt(found)

    def _moved(self, covariance: Floats, n: Floats) -> tuple[Floats, float, float]:
        """(G, C) covariances of the groups' values with the rates, and the squared errors."""
        items = np.maximum(np.bincount(self.group, self.size, self.share.size), 1)
        rest = np.zeros((self.share.size, n.size))
        rest[self.group, np.arange(n.size)] = (self.size - n) / items[self.group]
        moved = rest @ covariance
        open_ = np.bincount(self.group, (self.size - n) * self.noise, self.share.size) / items**2
        of_groups = self.share @ (np.vecdot(moved, rest) + open_)
        of_pool = (self.share @ moved) @ (self.share @ rest) + self.share**2 @ open_
        return moved, float(of_groups), float(of_pool)

    def _worth(self, covariance: Floats, n: Floats) -> Floats:
        """(C,) by what shares a label lowers both squared errors, together."""
        moved, of_groups, of_pool = self._moved(covariance, n)
        spread = np.diag(covariance) + self.noise
        worth: Floats = self.share @ moved**2 / spread / of_groups
        return worth + (self.share @ moved) ** 2 / spread / of_pool


def limit_of(pool: Pool, right: Ints) -> Limit:
    """What is known of a pool whose (C,) right answers are known, by the prior fitted to them."""
    of, group = scores(pool), pool.cell_group
    h = fit(right, pool.cell_size - right, group, of).mode
    lapse, curve = np.exp(h.log_lapse), special.expit(h.curve(of.x))
    rate, slope = rate_of(curve, lapse), (1 - lapse) * curve * (1 - curve)
    spread = rate * (1 - rate)
    own = spread / (np.exp(h.log_s) * closeness(rate) + 1)
    shared = slope[:, None] * of.x[:_CURVE].T * WEAK[:_CURVE, 1]
    effect = slope * np.exp(h.log_tau)
    covariance = shared @ shared.T + np.outer(effect, effect) * (group[:, None] == group)
    covariance[np.diag_indices_from(covariance)] += own
    return Limit(
        group, pool.cell_size.astype(np.float64), pool.group_size / pool.n_items, covariance,
        spread - own,
    )  # fmt: skip


def ratios(pool: Pool, right: Ints, at: tuple[int, ...]) -> tuple[Floats, Floats]:
    """(len(at), 2) each: errors over those of labels that lie as items do.

    Where all labels may lie anywhere, and where as many must lie as items do as `assay` has it.
    """
    limit = limit_of(pool, right)
    few = FEW * int((pool.group_size > 0).sum())
    even, free, held = (limit.errors(at, *of) for of in ((0.0, 0), (1.0, 0), (1.0 - EVEN, few)))
    return free / even, held / even
