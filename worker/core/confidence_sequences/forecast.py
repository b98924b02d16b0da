"""What is expected of labels before any of them: the forecast that bands hold against truths."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Counts = NDArray[np.int64] | NDArray[np.float64]

# The guesses of the forecast, fixed before any label: intercept and slope on a cell's mean logit
# score, and how many pseudo-counts a cell's own rate is worth. From overconfident to underconfident
# classifiers; finer grids gained less than a percent of the labels.
_INTERCEPTS = (-1.0, 0.0, 1.0, 2.0, 3.0)
_SLOPES = (0.5, 1.0)
_STRENGTHS = (4.0, 20.0)
# Of opinions: half of the forecast knows none of them, the other half has each alone, so steep.
_OPINION_SLOPES = (1.0, 2.0)
_LEAST_RATE = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """What was expected of each group before its first label: a mixture of H guesses.

    Under guess h the labels of cell c come from a rate that is Beta(alpha[c, h], beta[c, h]), given
    h independent of the other cells'. log_weight: (H,) log probabilities of the guesses.
    """

    alpha: Floats
    beta: Floats
    log_weight: Floats
    log_norm: Floats  # (C, H) log B(alpha, beta)


def forecast(logit: Floats, opinions: Floats | None = None) -> Forecast:
    """The forecast that is used for all pools: a grid of ways in which scores may mislead.

    Args:
        logit: (C,) mean logit of the clipped scores of each cell's items; nan without scores, where
            any intercept is as good as another.
        opinions: (T, C) what else may go with errors, in its standard deviations; none if None.
    """
    grid = np.meshgrid(_INTERCEPTS, _SLOPES, _STRENGTHS, indexing="ij")
    intercept, slope, strength = (axis.ravel() for axis in grid)
    x: Floats = np.nan_to_num(np.asarray(logit, dtype=np.float64), nan=0.0)[:, None]
    own: Floats = intercept + slope * x
    told = [] if opinions is None else [up * of for of in opinions for up in _OPINION_SLOPES]
    curve = np.concatenate([own, *(own + of[:, None] for of in told)], axis=1)
    rate = np.clip(special.expit(curve), _LEAST_RATE, 1 - _LEAST_RATE)
    strengths = np.tile(strength, 1 + len(told))
    log_weight = np.full(strengths.size, -np.log(intercept.size))
    if told:
        log_weight[: intercept.size] -= np.log(2)
        log_weight[intercept.size :] -= np.log(2 * len(told))
    alpha, beta = strengths * rate, strengths * (1 - rate)
    return Forecast(alpha, beta, log_weight, special.betaln(alpha, beta))


def foreseen(expected: Forecast, right: Counts, wrong: Counts) -> Forecast:
    """The forecast that was told the outcomes of some cells, all of whose items were known before.

    What was known before the first label is no evidence: these cells neither add to what speaks
    against a truth nor take from it, whatever made their items known.

    Args:
        right, wrong: (C,) known outcomes; of a cell none of whose items is known, 0.
    """
    n = right + wrong
    given = special.betaln(expected.alpha + right[:, None], expected.beta + wrong[:, None])
    log_choose = special.gammaln(n + 1) - special.gammaln(right + 1) - special.gammaln(wrong + 1)
    told = given + log_choose[:, None]
    return replace(expected, log_norm=np.where((n > 0)[:, None], told, expected.log_norm))
