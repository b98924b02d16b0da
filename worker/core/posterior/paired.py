"""Outputs of the same prompt go together: how far the groups' values then err together.

A prompt that is hard for one model is hard for others. Where both outputs of a prompt are labelled,
what is said of both groups errs to the same side, and their difference is surer than two groups of
other prompts would be; where only one of them is, it is less sure. How far they go together is
learnt from pairs alone: where there is none nothing is joined, though outputs of different prompts,
together most of the pool, should have the difference less sure.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, group_size, replaced
from worker.core.posterior.joint import moments_of_value, shared_loadings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# So many pairs of outputs stand behind no correlation at all, and behind what all pairs of groups
# say together, when that of two groups is estimated.
_WORTH = 20.0
_MOST = 0.9  # of correlations, and of what is common of a group's own variance
_LEAST = 1e-9  # of a variance
# What of a belief's cache does not depend on how the groups move together.
_KEPT = (
    "unlabelled", "group_size", "starts", "filled", "prior_key", "divisor", "empty", "given_points",
    "even_strength", "marginals", "stale_marginals", "moments", "stale_moments",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PairedOutputs:
    """N outputs: (N,) the prompt that each answers, once in every group at most, and its cell."""

    prompt: Ints
    cell: Ints
    n_prompts: int

    def joined(self, b: Belief, outcome: NDArray[np.int8]) -> Belief:
        """The belief, its groups joined as the labels of the same prompts say.

        An output's outcome is its cell's rate, and a rest that goes together, by a correlation of
        each pair of groups, with the rests of other outputs of its prompt. What is believed of a
        group errs by the rests of its labelled outputs, times what a label moves the belief, less
        those of its unlabelled outputs. No difference is narrowed beyond what its labels alone say
        of it (`_room`).

        Args:
            b: whose tally is that of the labels. outcome: (N,) 0: right, 1: wrong, -1: no label.
        """
        known = moments_of_value(b)
        rate = known.rate[self.cell]
        sd = np.sqrt(np.maximum(rate * (1 - rate), _LEAST))
        group, is_known = b.group[self.cell], outcome >= 0
        one = 1 / np.maximum(group_size(b), 1)
        spread = np.maximum(known.rate * (1 - known.rate), _LEAST)
        moves = np.maximum(np.sqrt(known.drop / spread) - one[b.group], 0.0)
        error = sd * np.where(is_known, moves[self.cell], -one[group])
        rest = np.where(is_known, ((outcome == 0) - rate) / sd, 0.0)
        rho = _correlations(
            self._products(b, rest), self._products(b, rest**2, is_known.astype(np.float64))
        )
        together = rho * self._products(b, error)
        load = shared_loadings(b)
        own = np.nan_to_num(known.variance) * (1 - (load**2).sum(axis=1))
        together = np.minimum(together, self._room(b, sd, is_known, rho, own))
        scale = 1 / np.sqrt(np.where(own > _LEAST**2, own, np.inf))
        paired = _loadings(np.clip(together * scale[:, None] * scale, -_MOST, _MOST))
        if b.paired is not None and np.array_equal(b.paired, paired):
            return b
        memo = {name: b._memo[name] for name in _KEPT if name in b._memo}
        return replaced(b, paired=paired, _memo=memo)

    def _room(
        self, b: Belief, sd: Floats, is_known: NDArray[np.bool_], rho: Floats, own: Floats
    ) -> Floats:
        """(G, G) the covariances by which differences are as sure as by plain means of the labels.

        The prior draws groups together, by what it learnt as if prompts had nothing in common:
        narrowed by pairs as well, 95% intervals of the difference of two models held in .84 to .90
        of 70 runs.
        """
        group, size = b.group[self.cell], np.maximum(group_size(b), 1)
        n = np.bincount(group, is_known, b.n_groups)
        with np.errstate(divide="ignore"):
            moves = np.minimum((size - n) / (n * size), 1.0)
        error = sd * np.where(is_known, moves[group], -1 / size[group])
        alone = np.where(n > 0, np.bincount(group, error**2, b.n_groups), np.inf)
        apart = alone[:, None] + alone - 2 * rho * self._products(b, error)
        room: Floats = np.maximum((own[:, None] + own - apart) / 2, 0.0)
        return room

    def _products(self, b: Belief, numbers: Floats, others: Floats | None = None) -> Floats:
        """(G, G) sums over prompts of the products of two groups' numbers (N,); 0 of one group."""
        group = b.group[self.cell]

        def table(values: Floats) -> scipy.sparse.csr_array:
            return scipy.sparse.csr_array(
                (values, (self.prompt, group)), shape=(self.n_prompts, b.n_groups)
            )

        first = table(numbers)
        second = first if others is None else table(others)
        found: Floats = (first.T @ second).toarray()
        np.fill_diagonal(found, 0.0)
        return found


def _correlations(products: Floats, squares: Floats) -> Floats:
    """(G, G) of the rests of two groups' outputs of the same prompt.

    Args:
        products: (G, G) their sums over the prompts of which both are labelled. squares: those of
            the squares of the first one's.
    """
    size = np.sqrt(squares * squares.T)
    of_all = products.sum() / 2 / (size.sum() / 2 + _WORTH)
    found: Floats = (products + _WORTH * of_all) / (size + _WORTH)
    return np.clip(found, -_MOST, _MOST)


def _loadings(correlation: Floats) -> Floats:
    """(G, R) rows whose products are these correlations of different groups, all of one length."""
    value, axis = np.linalg.eigh(correlation)
    least = max(0.0, -float(value[0]))
    value = value + least
    shorter = min(1.0, _MOST / least) if least else 1.0
    is_kept = value > _LEAST
    rows: Floats = axis[:, is_kept] * np.sqrt(shorter * value[is_kept])
    return rows
