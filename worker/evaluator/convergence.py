"""Whether chains agree: rank-normalised R-hat and effective sample size of many numbers."""

import numpy as np
from scipy import fft
from scipy.special import ndtri

from worker.evaluator.inputs import Floats


def r_hat(draws: Floats) -> Floats:
    """How far the chains disagree in place or in spread; 1 is not at all.

    Args:
        draws: (C, D, S) of S numbers, C >= 1 chains of D >= 4 draws.

    Returns:
        (S,), the larger of the rank-normalised split R-hat and the folded one; 1 for what never
        changes.

    Source:
        Vehtari, Gelman, Simpson, Carpenter, Buerkner, "Rank-normalization, folding, and
        localization: an improved R-hat" (Bayesian Analysis 2021).
    """
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    found: Floats = np.maximum(_spread(_normal_scores(halves)), _spread(_normal_scores(folded)))
    return found


def effective_size(draws: Floats) -> Floats:
    """(S,) bulk effective sample size of draws (C, D, S); C x D for what never changes.

    Source:
        As `r_hat`; the sum of autocorrelations ends as Geyer's initial monotone sequence does.
    """
    scores = _normal_scores(_split(draws))
    c, d, _ = scores.shape
    centred = scores - scores.mean(axis=1, keepdims=True)
    length = fft.next_fast_len(2 * d, real=True)
    spectrum = fft.rfft(centred, length, axis=1)
    covariance = fft.irfft(np.abs(spectrum) ** 2, length, axis=1)[:, :d].mean(axis=0) / d
    within = covariance[0] * d / (d - 1)
    pooled = covariance[0] + scores.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1 - (within - covariance * d / (d - 1)) / pooled
    rho[0] = 1.0
    pairs = rho[: d - d % 2].reshape(d // 2, 2, -1).sum(axis=1)
    is_ended = np.maximum.accumulate(pairs <= 0, axis=0)
    kept = np.where(is_ended, 0.0, np.minimum.accumulate(pairs, axis=0))
    time = np.maximum(2 * kept.sum(axis=0) - 1, 1 / np.log10(c * d))
    return np.where(pooled > 0, c * d / time, float(c * d))


def _split(draws: Floats) -> Floats:
    """(2 C, D // 2, S): the halves of chains as chains of their own."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Floats) -> Floats:
    # Every report imports this module, and scipy.stats takes a quarter of a second.
    from scipy.stats import rankdata

    ranks = rankdata(draws.reshape(-1, draws.shape[2]), axis=0)
    scores: Floats = ndtri((ranks - 0.375) / (ranks.shape[0] + 0.25)).reshape(draws.shape)
    return scores


def _spread(draws: Floats) -> Floats:
    """(S,) the square root of pooled over within-chain variance."""
    d = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((d - 1) / d + between / within)
    return np.where((within == 0) & (between == 0), 1.0, ratio)
