"""The probability simplex in its own K - 1 dimensions, and back."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Simplex:
    """A translation and a rotation between K probabilities and K - 1 coordinates.

    The vertex of the first class goes to the origin; lengths and angles are kept.

    Args:
        k: the number of classes, >= 2.

    Raises:
        EvaluatorError: fewer than two classes.

    Source:
        Supplement 3.6.1 of the framework's paper (arXiv 2007.06711): Q of the QR factorisation of
        the K - 1 edges from one vertex. The signs, which a factorisation leaves open, are fixed
        here: every column of Q leans towards its own edge.

    >>> triangle = Simplex(3)
    >>> triangle.up(triangle.down(np.array([0.2, 0.3, 0.5]))).round(12).tolist()
    [0.2, 0.3, 0.5]
    """

    k: int

    def __post_init__(self) -> None:
        if self.k < 2:
            raise EvaluatorError(
                f"there is {self.k} class, and a prediction can differ from a human label only if "
                "there are two or more; name every class of the scale."
            )

    @property
    def rotation(self) -> Floats:
        """(K, K - 1), orthonormal columns that sum to 0: Q, without the dimension it zeroes."""
        return _rotation(self.k)

    def down(self, p: Floats) -> Floats:
        """The coordinates (..., K - 1) of probabilities (..., K), whose rows sum to 1."""
        moved = np.array(p, dtype=np.float64)
        moved[..., 0] -= 1.0
        coordinates: Floats = moved @ self.rotation
        return coordinates

    def up(self, x: Floats) -> Floats:
        """(..., K) numbers that sum to 1 at the coordinates (..., K - 1).

        They are probabilities only where `x` lies in the simplex; none is clipped.
        """
        p: Floats = x @ self.rotation.T
        p[..., 0] += 1.0
        return p


@cache
def _rotation(k: int) -> Floats:
    edges = np.vstack([-np.ones(k - 1), np.eye(k - 1)])
    q, r = np.linalg.qr(edges)
    rotation: Floats = q * np.sign(np.diag(r))
    rotation.setflags(write=False)
    return rotation
