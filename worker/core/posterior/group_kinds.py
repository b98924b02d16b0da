"""How the errors of groups share into kinds: every group in its own way, about a common one."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.drawing import dirichlets

Floats = NDArray[np.float64]

# Pseudo-counts with which groups follow what they have in common, and their prior: normal on the
# logarithm, as of the kinds of errors of cells (`worker.core.prior.kinds`).
_STRENGTHS = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
_MEAN, _SD = np.log(4.0), 1.0


def draw_group_kinds(counts: NDArray[np.int64], rng: np.random.Generator, n: int) -> Floats:
    """(n, G, L) draws of the shares of the kinds among each group's errors to come.

    A Dirichlet of every group about common shares. Many errors of one group tell little of these:
    no more than the strength, with which groups follow them, allows.

    Args:
        counts: (G, L) errors of each kind that were seen.
    """
    weight = np.array([_fit(counts, float(strength)) for strength in _STRENGTHS])
    weight = np.exp(weight - weight.max())
    drawn = rng.multinomial(n, weight / weight.sum())
    shares = []
    for strength, k in zip(_STRENGTHS.tolist(), drawn.tolist(), strict=True):
        common = rng.dirichlet(_common(counts, strength), size=k)
        shares.append(dirichlets(counts + strength * common[:, None, :], rng, k))
    every: Floats = np.concatenate(shares)
    return every[rng.permutation(n)]


def _common(counts: NDArray[np.int64], strength: float) -> Floats:
    """(L,) what all groups together tell of the common shares, as a Dirichlet."""
    told: Floats = 1.0 + (counts / (1 + counts.sum(axis=1, keepdims=True) / strength)).sum(axis=0)
    return told


def _fit(counts: NDArray[np.int64], strength: float) -> float:
    """The logarithm of how probable the counts are at a strength, with its prior."""
    common = _common(counts, strength)
    prior = strength * common / common.sum()
    total = counts.sum(axis=1)
    fits = (special.gammaln(prior + counts) - special.gammaln(prior)).sum()
    fits += (special.gammaln(strength) - special.gammaln(strength + total)).sum()
    return float(fits - 0.5 * ((np.log(strength) - _MEAN) / _SD) ** 2)
