"""Supplement Figure 3: the ECE of N random labels, frequentist and Bayesian, against the pool's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from tests.bench.paper.classwise import bins_of
from tests.bench.paper.data import N_BINS, Floats, Ints, load
from tests.bench.paper.replaying import shuffles


def ece_errors(name: str, at: Sequence[int], n_runs: int, strength: float = 2) -> dict[str, Any]:
    """Mean of (ECE after N labels - ECE of the pool) over the latter, in percent, signed.

    Ten bins of equal width. Bayesian: Beta priors at the bins' mean scores, the exact posterior
    mean of |theta_b - s_b|, weights and scores from all the pool's items; `plug_in` takes
    |E theta_b - s_b| instead. Frequentist: accuracy, score and weight of a bin from its labelled
    items only.
    """
    pool = load(name)
    bins, right = bins_of(pool.score), (pool.predicted == pool.label).astype(float)
    size = np.bincount(bins, minlength=N_BINS)
    score = np.bincount(bins, pool.score, N_BINS) / np.maximum(size, 1)
    share = size / size.sum()
    truth = np.abs(np.bincount(bins, right - pool.score, N_BINS)).sum() / size.sum()
    result: dict[str, Any] = {"ece": float(truth)}
    orders = shuffles(bins.size, range(n_runs))
    for n in at:
        estimates = np.array([_three(bins, right, pool.score, o[:n]) for o in orders])
        count, hits, total = estimates[:, 0], estimates[:, 1], estimates[:, 2]
        a = strength * np.clip(score, 1e-9, 1 - 1e-9) + hits
        b = strength * np.clip(1 - score, 1e-9, 1) + count - hits
        bayesian = (share * expected_gap(a, b, score)).sum(axis=1)
        plug_in = (share * np.abs(a / (a + b) - score)).sum(axis=1)
        frequentist = np.abs(hits - total).sum(axis=1) / n
        result[str(n)] = {
            key: [float(100 * (e / truth - 1).mean()), float(100 * np.abs(e / truth - 1).mean())]
            for key, e in (
                ("bayesian", bayesian),
                ("plug_in", plug_in),
                ("frequentist", frequentist),
            )
        }
    return result


def expected_gap(a: Floats, b: Floats, at: Floats) -> Floats:
    """E|theta - at| for theta ~ Beta(a, b), from its distribution function."""
    mean = a / (a + b)
    gap: Floats = at * (2 * betainc(a, b, at) - 1) + mean * (1 - 2 * betainc(a + 1, b, at))
    return gap


def _three(bins: Ints, right: Floats, score: Floats, items: NDArray[np.int32]) -> list[Floats]:
    """(B,) how many of the labelled items, how many right ones, and their summed score."""
    of = bins[items]
    ones = np.ones(items.size)
    return [np.bincount(of, w, N_BINS) for w in (ones, right[items], score[items])]
