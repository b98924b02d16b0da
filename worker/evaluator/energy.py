"""The energy score: a proper score, for which a predictor of mere points does not look best."""

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]

_FLOATS_PER_BLOCK = 1 << 23  # of the distances between draws: 64 MB


def energy_score(truth: Floats, drawn: Floats) -> Floats:
    """The energy score of every item: E|X - x| - E|X - X'| / 2, with the Euclidean norm.

    The lower, the better; in expectation least for the true distribution. X and X' are two
    independent draws, x is what came. The second term is taken over the D (D - 1) pairs of
    *different* draws, which makes the estimate unbiased for any D ("fair"); it may fall below 0.

    Args:
        truth: (N, K), or (N, R, K) with R things that came of each item, whose scores are averaged.
        drawn: (N, D, K), D >= 2 independent draws of each item.

    Returns:
        (N,), in the unit of the coordinates (not divided by √2).

    Raises:
        EvaluatorError: fewer than two draws.

    Source:
        Gneiting & Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation" (JASA 2007),
        eq. 21 with β = 1; fair form: Ferro (2014). It takes N D² distances; blocks of items bound
        the memory to some 100 MB.
    """
    n_items, n_draws, n_classes = drawn.shape
    if n_draws < 2:
        raise EvaluatorError(
            f"The energy score came with {n_draws} draw an item, expected at least 2; draw more."
        )
    came = truth[:, None, :] if truth.ndim == 2 else truth
    step = max(1, _FLOATS_PER_BLOCK // (n_draws * (n_draws + came.shape[1] * n_classes)))
    score = np.empty(n_items)
    for start in range(0, n_items, step):
        block = slice(start, start + step)
        x, y = drawn[block], came[block]
        reach = np.sqrt(((x[:, :, None, :] - y[:, None, :, :]) ** 2).sum(axis=3))
        score[block] = reach.mean(axis=(1, 2)) - _mean_distance(x) / 2
    return score


def _mean_distance(x: Floats) -> Floats:
    """(n,) mean distance of different draws; centred first, else close draws lose their digits."""
    n_draws = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    square = np.einsum("ndk,ndk->nd", centred, centred)
    inner = centred @ centred.transpose(0, 2, 1)
    squared = square[:, :, None] + square[:, None, :] - 2 * inner
    np.maximum(squared, 0.0, out=squared)
    squared[:, np.arange(n_draws), np.arange(n_draws)] = 0.0
    np.sqrt(squared, out=squared)
    mean: Floats = squared.sum(axis=(1, 2)) / (n_draws * (n_draws - 1))
    return mean
