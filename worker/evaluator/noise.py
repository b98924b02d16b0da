"""The likelihood's noise around points of the simplex, given that the sum lies in it."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.inputs import Floats

_FAR = -30.0  # a cut so far above the mean leaves too little for a float64
_FARTHEST = -1_000.0
_HALVINGS = 60
_BLOCK = 500_000  # numbers at a time
_SHARED_ROUNDS, _ROUNDS = 20, 2_000


def add_noise(centre: Floats, sigma2: float, rng: Generator) -> Floats:
    """Draw from N(centre, sigma2 I) given that the coordinates are >= 0 and sum to 1.

    Exact and independent: where the sum is fixed, a tilt by exp(t x sum) changes nothing, so
    that the coordinates may be moved until they sum to 1 on average. All but one are drawn from
    normals cut off at 0; the last one is what is left to 1, accepted by its density.

    Args:
        centre: (N, D, K), D probabilities for each of N items; they may lie anywhere, but the
            closer an item's are to each other, the fewer are drawn in vain.
        sigma2: > 0.

    Returns:
        (N, D, K), probabilities.

    Raises:
        EvaluatorError: some could not be drawn in thousands of attempts.
    """
    drawn = np.empty(centre.shape)
    step = max(1, _BLOCK // int(np.prod(centre.shape[1:])))
    for start in range(0, centre.shape[0], step):
        part = slice(start, start + step)
        drawn[part] = _noisy(centre[part], float(np.sqrt(sigma2)), rng)
    return drawn


def _noisy(centre: Floats, sd: float, rng: Generator) -> Floats:
    n, d, k = centre.shape
    every = centre.reshape(-1, k)
    drawn = np.empty_like(every)
    # Of an item's draws one tilt serves all; those that it does not serve get their own.
    shared = centre.mean(axis=1)
    left = _accepted(
        every,
        np.repeat(shared, d, axis=0),
        np.repeat(_tilt(shared / sd, 1 / sd), d),
        np.arange(n * d),
        sd,
        rng,
        drawn,
        _SHARED_ROUNDS,
    )
    if left.size:
        own = _tilt(every[left] / sd, 1 / sd)
        tilts = np.zeros(n * d)
        tilts[left] = own
        left = _accepted(every, every, tilts, left, sd, rng, drawn, _ROUNDS)
    if left.size:
        raise EvaluatorError(
            f"{left.size} predictions with the noise sigma2 = {sd**2:g} could not be drawn within "
            "the simplex; choose a larger `sigma2`, or draw without the noise."
        )
    total: Floats = drawn / drawn.sum(axis=1, keepdims=True)
    return total.reshape(centre.shape)


def _accepted(
    centre: Floats,
    usual: Floats,
    tilt: Floats,
    left: NDArray[np.intp],
    sd: float,
    rng: Generator,
    drawn: Floats,
    rounds: int,
) -> NDArray[np.intp]:
    """Fill the rows `left` of `drawn`, each tried so often; return which are still open.

    usual: (M, K) the likeliest class by it is the one that takes what is left to 1.
    """
    order = np.argsort(-usual[left], axis=1)
    at = np.take_along_axis(centre[left], order, axis=1) / sd + tilt[left, None]
    for _ in range(rounds):
        if not left.size:
            break
        first = at[:, 0]
        others = _above_zero(at[:, 1:], rng)
        last = 1 / sd - others.sum(axis=1)
        log_density = ((np.maximum(first, 0.0) - first) ** 2 - (last - first) ** 2) / 2
        is_kept = (last >= 0) & (np.log(1.0 - rng.random(left.size)) <= log_density)
        found = np.maximum(np.column_stack([last, others])[is_kept], 0.0) * sd
        placed = np.empty_like(found)
        np.put_along_axis(placed, order[is_kept], found, axis=1)
        drawn[left[is_kept]] = placed
        left, order, at = left[~is_kept], order[~is_kept], at[~is_kept]
    return left


def _tilt(at: Floats, total: float) -> Floats:
    """(N,) what to add to the means (N, K) of unit normals cut off at 0, to sum to `total`."""
    low, high = -at.max(axis=1) - 2 * at.shape[1] / total, total - at.min(axis=1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        a = at + middle[:, None]
        near = np.maximum(a, _FARTHEST)
        mean = near + np.exp(-(near**2) / 2 - log_ndtr(near)) / np.sqrt(2 * np.pi)
        mean = np.where(a < _FARTHEST, -1 / np.minimum(a, _FARTHEST), mean)
        is_low = mean.sum(axis=1) < total
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    found: Floats = (low + high) / 2
    return found


def _above_zero(a: Floats, rng: Generator) -> Floats:
    """Draw normals of mean `a` and unit variance above 0 by inversion."""
    uniform = 1.0 - rng.random(a.shape)
    drawn: Floats = a - ndtri(ndtr(a) * uniform)
    far, farthest = (a < _FAR) & (a >= _FARTHEST), a < _FARTHEST
    if far.any():
        drawn[far] = a[far] - ndtri_exp(log_ndtr(a[far]) + np.log(uniform[far]))
    if farthest.any():  # exponential, to a millionth; the difference above would be rounding alone
        drawn[farthest] = np.log(uniform[farthest]) / a[farthest]
    return drawn
