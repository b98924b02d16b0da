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
from worker.assessment.covariates import scores
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import WEAK, closeness, rate_of
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

    def errors(self, at: tuple[int, ...], is_even: bool, seed: int = 0) -> Floats:
        """(len(at), 2) expected root mean squared errors of the groups and of the whole pool.

        Args:
            is_even: whether labels lie as items do, or where they tell most.
        """
        rng = np.random.default_rng(seed)
        covariance, n = self.covariance.copy(), np.zeros(self.size.size)
        offset, found = 1.0 - rng.random(n.size), []
        for label in range(1, at[-1] + 1):
            worth = self.size / (n + offset) if is_even else self._worth(covariance, n)
            self._label(int(np.where(n < self.size, worth, -1.0).argmax()), covariance, n)
            if label in at:
                _, of_groups, of_pool = self._moved(covariance, n)
                found.append((of_groups, of_pool))
        return np.sqrt(found)

    def labels_to_rank(self, value: Floats, top: int, miss: float) -> int:
        """Labels until a normal posterior is so sure that the lowest `top` groups are the lowest.

        At the true values, so without the luck of labels: half of the runs take more. Each label
        lies where it lowers the sum of the error probabilities of all pairs most.

        Args:
            value: (G,) of the groups.
            miss: what that sum may be.
        """
        covariance, n = self.covariance.copy(), np.zeros(self.size.size)
        order = np.argsort(value, kind="stable")
        low, rest = np.split(order[self.share[order] > 0], [top])
        gap = value[rest] - value[low][:, None]
        items = np.bincount(self.group, self.size, self.share.size)
        while n.sum() < self.size.sum():
            moved, still_open = self._given(covariance, n)
            between = moved @ self._rest(n).T
            variance = np.diag(between) + still_open
            spread = variance[low][:, None] + variance[rest] - 2 * between[np.ix_(low, rest)]
            z = gap / (sd := np.sqrt(spread + 1e-12))
            if special.ndtr(-z).sum() <= miss:
                break
            pull = np.exp(-(z**2) / 2) * gap / sd**3
            mine, theirs = moved[low], moved[rest]
            drop = pull.sum(axis=1) @ mine**2 + pull.sum(axis=0) @ theirs**2
            drop -= 2 * np.vecdot((pull.T @ mine).T, theirs.T)
            own = np.zeros(self.share.size)
            own[low], own[rest] = pull.sum(axis=1), pull.sum(axis=0)
            worth = drop / (np.diag(covariance) + self.noise)
            worth += (own / np.maximum(items, 1) ** 2)[self.group] * self.noise
            self._label(int(np.where(n < self.size, worth, -1.0).argmax()), covariance, n)
        return int(n.sum())

    def _label(self, cell: int, covariance: Floats, n: Floats) -> None:
        own = covariance[cell].copy()
        covariance -= np.outer(own, own) / (own[cell] + self.noise[cell])
        n[cell] += 1

    def _rest(self, n: Floats) -> Floats:
        """(G, C) the shares of each group's items that are in a stratum and not labelled."""
        items = np.maximum(np.bincount(self.group, self.size, self.share.size), 1)
        rest = np.zeros((self.share.size, n.size))
        rest[self.group, np.arange(n.size)] = (self.size - n) / items[self.group]
        return rest

    def _given(self, covariance: Floats, n: Floats) -> tuple[Floats, Floats]:
        """(G, C) covariances of the groups' values with the rates; (G,) what items leave open."""
        items = np.maximum(np.bincount(self.group, self.size, self.share.size), 1)
        still_open = np.bincount(self.group, (self.size - n) * self.noise, self.share.size)
        return self._rest(n) @ covariance, still_open / items**2

    def _moved(self, covariance: Floats, n: Floats) -> tuple[Floats, float, float]:
        """(G, C) covariances of the groups' values with the rates, and the squared errors."""
        (moved, still_open), rest = self._given(covariance, n), self._rest(n)
        of_groups = self.share @ (np.vecdot(moved, rest) + still_open)
        of_pool = (self.share @ moved) @ (self.share @ rest) + self.share**2 @ still_open
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


def ratios(pool: Pool, right: Ints, at: tuple[int, ...]) -> Floats:
    """(len(at), 2) errors where labels may lie anywhere, over those where they lie as items do."""
    limit = limit_of(pool, right)
    return limit.errors(at, is_even=False) / limit.errors(at, is_even=True)
