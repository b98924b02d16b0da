"""Calibration error: a sum of absolute gaps between scores and accuracies, bin by bin."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, Cells, filled_groups, group_size
from worker.core.posterior.parts import Part, part_of

Floats = NDArray[np.float64]

_NEVER = 1e-300  # the chance of a component that is not to be taken: one of 0 has no logarithm
SURE = 1e6  # pseudo-counts of a stratum of a calibrated classifier: its rate is its mean score
_NEARLY = 0.99  # by rounding; along a curve a stratum has 3/4 as many at most, at rates 1e-4 off 1


def calibration_error(b: Belief, part: Part, cells: Cells) -> tuple[Floats, Floats, Floats]:
    """ECE: (g, U) mean and variance, and the slope (c, U) of the value in each cell's accuracy.

    A bin's s - theta is taken for normal, so |s - theta| is folded normal; the slope has the sign
    of the mean and the size by which folding shrinks the standard deviation.
    """
    unit = b.metric.unit[cells]
    is_first = np.ones(unit.size, dtype=bool)
    is_first[1:] = (np.diff(part.of) != 0) | (np.diff(unit) != 0)
    first = np.flatnonzero(is_first)
    bin_of = np.cumsum(is_first) - 1

    def over_bins(values: Floats) -> Floats:
        summed: Floats = np.add.reduceat(values, first, axis=0)
        return summed

    items = np.maximum(over_bins(b.size[cells, None].astype(np.float64)), 1)
    score = over_bins((np.nan_to_num(b.metric.score[cells]) * b.size[cells])[:, None]) / items
    gap = score - over_bins(part.known[:, None] + part.mass * part.rho) / items
    variance = np.maximum(over_bins(part.spread) / items**2, 1e-300)
    sd = np.sqrt(variance)
    folded = sd * np.sqrt(2 / np.pi) * np.exp(-(gap**2) / (2 * variance)) + gap * special.erf(
        gap / (sd * np.sqrt(2))
    )
    folded_variance = np.maximum(variance + gap**2 - folded**2, 0.0)
    share = items / part.size[part.of[first], None]
    group_begin = np.searchsorted(part.of[first], np.arange(part.size.size))
    mean: Floats = np.add.reduceat(share * folded, group_begin, axis=0)
    total: Floats = np.add.reduceat(share**2 * folded_variance, group_begin, axis=0)
    slope = -np.sign(gap) * np.sqrt(np.minimum(folded_variance / variance, 1.0))
    return mean, total, slope[bin_of]


def is_off(b: Belief) -> NDArray[np.bool_]:
    """(U,) of which components no bin is calibrated; all where only others are left."""
    components: NDArray[np.bool_] = (b.alpha + b.beta).max(axis=0) < _NEARLY * SURE
    return components if components.any() else ~components


def not_calibrated(b: Belief) -> Belief:
    """The belief in a pool's ECE if the classifier is not calibrated, nor but for one bin."""
    mixture = np.where(is_off(b), b.mixture, _NEVER)
    return replace(b, mixture=mixture / mixture.sum(), _memo={})


def errors_expected(b: Belief, said: float) -> Floats:
    """(2,) expected squared error of `said` for a pool's ECE: by the posterior; if not calibrated.

    The second by `not_calibrated`; both are the same where no component has a calibrated bin.
    """
    groups, cells = filled_groups(b), slice(0, b.group.size)
    part = part_of(b, groups, cells)
    mean, variance, _ = calibration_error(b, part, cells)
    share = (part.size / group_size(b).sum())[:, None]
    error = (share**2 * variance).sum(axis=0) + ((share * mean).sum(axis=0) - said) ** 2
    weight = part.weight[0]
    left = weight * is_off(b)
    return np.array([weight @ error, left @ error / max(float(left.sum()), 1e-300)])
