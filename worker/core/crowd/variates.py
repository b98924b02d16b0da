"""Random variates of Gamma and of categorical distributions, many at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def log_gammas(shape: Any, rng: np.random.Generator) -> Any:
    """Logarithms of Gamma variates, however small the shape: of X exp(-E / a) ~ Gamma(a).

    X ~ Gamma(a + 1), E ~ Exp(1); a single-precision X can be rounded to 0.
    """
    kind = shape.dtype
    logs = rng.standard_gamma(shape + kind.type(1), dtype=kind)
    np.log(np.maximum(logs, np.finfo(kind).eps / 16, out=logs), out=logs)
    logs -= rng.standard_exponential(shape.shape, dtype=kind) / shape
    return logs


def log_sum(logs: Any, axis: int) -> Any:
    """The logarithm of the sum of exp(logs) along an axis, which is kept."""
    top = logs.max(axis=axis, keepdims=True)
    return top + np.log(np.exp(logs - top).sum(axis=axis, keepdims=True))


def categorical(logs: Floats, rng: np.random.Generator) -> Ints:
    """Draws along the last axis of unnormalised log probabilities."""
    below = np.cumsum(np.exp(logs - logs.max(axis=-1, keepdims=True)), axis=-1)
    u = rng.random(logs.shape[:-1]) * below[..., -1]
    drawn: Ints = (u[..., None] > below[..., :-1]).sum(axis=-1)
    return drawn
