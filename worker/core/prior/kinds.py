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


def fit_kinds(
    counts: NDArray[np.int64], share: Floats, possible: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """(C, L) Dirichlet prior of the kinds of errors, fitted to the errors seen in all cells.

    And (L,) errors of each kind that tell how frequent it is in all cells (`Errors.common`).

    Empirical Bayes by the Dirichlet-multinomial marginal likelihood on a grid of strength, power
    and mix: three numbers that a handful of errors cannot tell apart finely. Each kind is made as
    frequent as it was seen to be in the other cells together. The strength stays uncertain: it is
    the one under which the kinds of a cell are as uncertain as under all of the grid.

    Args:
        counts: (C, L) labelled errors of each kind.
    """
    cells = np.flatnonzero(counts.sum(axis=1))
    own, total = counts[cells], counts[cells].sum(axis=1)
    at = np.nonzero(own)
    fits = np.empty((_POWERS.size, _MIXES.size, _STRENGTHS.size))
    for i, j in np.ndindex(fits.shape[:2]):
        expected = expected_kinds(share[cells], possible[cells], _POWERS[i], _MIXES[j])
        for k, strength in enumerate(_STRENGTHS.tolist()):
            prior = strength * _as_seen(expected, _told(own, strength))[at]
            fits[i, j, k] = (special.gammaln(prior + own[at]) - special.gammaln(prior)).sum()
            fits[i, j, k] += total.size * special.gammaln(strength)
            fits[i, j, k] -= special.gammaln(strength + total).sum()
    fits -= 0.5 * ((np.log(_STRENGTHS) - _WEAK[0]) / _WEAK[1]) ** 2
    i, j = divmod(int(fits.max(axis=2).argmax()), _MIXES.size)
    weight = np.exp(fits - fits.max()).sum(axis=(0, 1))
    strength = float(weight.sum() / (weight @ (1 / (1 + _STRENGTHS))) - 1)
    told = _told(counts, strength)
    expected = expected_kinds(share, possible, _POWERS[i], _MIXES[j])
    return strength * _as_seen(expected, told), _TILT_WORTH + told.sum(axis=0)


def _told(counts: NDArray[np.int64], strength: float) -> Floats:
    """(C, L) for how many errors those of each cell count where the kinds of all are asked.

    Many of one cell tell little of the others: no more than the strength with which cells follow
    what they have in common.
    """
    told: Floats = counts / (1 + counts.sum(axis=1, keepdims=True) / strength)
    return told


def _as_seen(expected: Floats, told: Floats) -> Floats:
    """(C, L) with the kinds as frequent as they were seen to be in the other cells together.

    What a classifier takes for what is often the same rule for all groups (the dearer of two errors
    is twice as frequent as it thinks), which no cell alone has the errors to tell. A cell's own
    errors are left out: they come later, and a cell with most of all errors would tell of a rule.
    """
    of_cell = told.sum(axis=1)
    seen = told.sum(axis=0) - told
    foreseen = of_cell @ expected - of_cell[:, None] * expected
    weight = expected * (_TILT_WORTH + seen) / (_TILT_WORTH + foreseen)
    tilted: Floats = weight / weight.sum(axis=1, keepdims=True)
    return tilted
