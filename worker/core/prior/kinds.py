"""What is believed of the kinds of errors before they are seen, and learnt from those seen."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

# The classifier's own idea of its errors is sharpened or flattened (power), mixed with one that
# knows nothing (mix), and held with so many pseudo-counts a cell (strength).
_STRENGTHS = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
_POWERS = np.array([0.5, 0.75, 1.0])
_MIXES = np.array([0.05, 0.2, 0.5])
_WEAK = (np.log(4.0), 1.0)  # normal prior on log strength: mean, standard deviation
_TILT_WORTH = 2.0  # errors of a kind that the classifier's own idea of its frequency counts for


def expected_kinds(share: Floats, possible: NDArray[np.bool_], power: float, mix: float) -> Floats:
    """(C, L) probabilities of the kinds of an error, from the classifier's shares for them.

    Args:
        share: (C, L) summed probabilities of the classes of each kind, >= 0.
        possible: (C, L) whether there is such a kind of error in the cell.
    """
    tempered = np.where(possible, np.maximum(share, 1e-12) ** power, 0.0)
    tempered /= tempered.sum(axis=1, keepdims=True)
    flat = possible / possible.sum(axis=1, keepdims=True)
    mixed: Floats = (1 - mix) * tempered + mix * flat
    return mixed


def fit_kinds(counts: NDArray[np.int64], share: Floats, possible: NDArray[np.bool_]) -> Floats:
    """(C, L) Dirichlet prior of the kinds of errors, fitted to the errors seen in all cells.

    Empirical Bayes by the Dirichlet-multinomial marginal likelihood on a grid of strength, power
    and mix: three numbers that a handful of errors cannot tell apart finely. Each kind is first
    made as frequent in all cells together as it was seen to be.

    Args:
        counts: (C, L) labelled errors of each kind.
    """
    at, kind = np.nonzero(counts)
    seen = counts[at, kind]
    cells = np.flatnonzero(counts.sum(axis=1))
    total = counts[cells].sum(axis=1)
    best, found = -np.inf, np.zeros(0)
    for power in _POWERS:
        for mix in _MIXES:
            expected = expected_kinds(share, possible, float(power), float(mix))
            expected = _tilted(expected, counts)
            for strength in _STRENGTHS:
                prior = strength * expected[at, kind]
                fits = (special.gammaln(prior + seen) - special.gammaln(prior)).sum()
                fits += total.size * special.gammaln(strength)
                fits -= special.gammaln(strength + total).sum()
                fits -= 0.5 * ((np.log(strength) - _WEAK[0]) / _WEAK[1]) ** 2
                if fits > best:
                    best, found = fits, strength * expected
    return found


def common_errors(counts: NDArray[np.int64]) -> Floats:
    """(L,) errors of each kind that tell how frequent it is in all cells: `Errors.common`."""
    return np.asarray(_TILT_WORTH + counts.sum(axis=0), dtype=np.float64)


def _tilted(expected: Floats, counts: NDArray[np.int64]) -> Floats:
    """(C, L) with the kinds as frequent in all cells together as they were seen to be.

    What a classifier takes for what is often the same rule for all groups (the dearer of two errors
    is twice as frequent as it thinks), which no cell alone has the errors to tell.
    """
    foreseen = counts.sum(axis=1) @ expected
    weight = expected * common_errors(counts) / (_TILT_WORTH + foreseen)
    tilted: Floats = weight / weight.sum(axis=1, keepdims=True)
    return tilted
