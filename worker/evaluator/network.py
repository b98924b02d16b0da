"""The network from human labels to predictions: one hidden layer in the simplex's coordinates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from worker.evaluator.inputs import Floats
from worker.evaluator.simplex import Simplex

_FLOATS = 4_000_000  # of one hidden or output layer at a time


@dataclass(frozen=True, slots=True)
class Network:
    """K - 1 coordinates, dense sigmoid units, K - 1 coordinates, rotation up to K, softmax.

    Args:
        k: classes, >= 2. hidden: H >= 1 units.

    Source:
        Table 2 of the supplement of the framework's paper (arXiv 2007.06711), where H = K - 1.
    """

    k: int
    hidden: int

    @property
    def n_weights(self) -> int:
        """P, weights and biases together."""
        return 2 * self.hidden * (self.k - 1) + self.hidden + self.k - 1

    def layers(self, weights: Any) -> tuple[Any, Any, Any, Any]:
        """The arrays of weights (..., P), of NumPy or JAX, by layer.

        Returns:
            (..., H, K - 1) and (..., H) of the hidden layer, (..., K - 1, H) and (..., K - 1) of
            the output layer.
        """
        d, h, outer = self.k - 1, self.hidden, weights.shape[:-1]
        ends = np.cumsum([h * d, h, h * d]).tolist()
        return (
            weights[..., : ends[0]].reshape(*outer, h, d),
            weights[..., ends[0] : ends[1]],
            weights[..., ends[1] : ends[2]].reshape(*outer, d, h),
            weights[..., ends[2] :],
        )

    def outputs(self, weights: Floats, x: Floats) -> Floats:
        """The output layer (..., N, K - 1) at coordinates (N, K - 1), of weights (..., P)."""
        inner, bias, outer, shift = self.layers(weights)
        hidden = expit(inner @ x.T + bias[..., None])
        output: Floats = np.swapaxes(outer @ hidden + shift[..., None], -1, -2)
        return output

    def predict(self, weights: Floats, human: Floats) -> Floats:
        """Predictions (N, D, K) for human labels (N, K) by D networks with weights (D, P)."""
        simplex = Simplex(self.k)
        x = simplex.down(human)
        predicted = np.empty((human.shape[0], weights.shape[0], self.k))
        block = max(1, _FLOATS // (x.shape[0] * max(self.k, self.hidden)))
        for start in range(0, weights.shape[0], block):
            part = slice(start, start + block)
            logits = simplex.up(self.outputs(weights[part], x))
            predicted[:, part] = softmax(logits, axis=2).swapaxes(0, 1)
        return predicted
