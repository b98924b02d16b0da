"""Credible intervals of a sample: the narrowest one, the right-tailed one, and regions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.density import Density
from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]
Sample = NDArray[np.floating]

# A valley or a hill lighter than this share of the sample is taken for noise of the estimate.
_NEGLIGIBLE = 0.01


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the intervals of a region, and the share of the sample in it."""

    low: float
    high: float
    share: float


def hpdi(sample: Sample, level: float = 0.95) -> tuple[float, float]:
    """The narrowest interval that holds `level` of a sample: one interval, also of several modes.

    Where the sample has several modes apart, it spans what lies between; `density_region` does
    not, and tells by the number of its pieces that this is so.

    Args:
        sample: (n,) numbers, in any order.
        level: a probability inside (0, 1).

    Returns:
        low, high: two numbers of the sample. The first one of equally narrow intervals.

    Raises:
        EvaluatorError: the level is not inside (0, 1), or the sample too small to have one.

    Source:
        Section 2.2.1 of the supplement (the moving window of least width). Its claim that the
        interval always contains the median holds for levels of at least 1/2 only. The window
        spans floor(level n) steps from one number to the next, as that of ArviZ.
    """
    _check(sample, level)
    ordered = np.sort(sample)
    n_steps = int(np.floor(level * ordered.size))
    widths = ordered[n_steps:] - ordered[: ordered.size - n_steps]
    at = int(widths.argmin())
    return float(ordered[at]), float(ordered[at + n_steps])


def right_tailed(sample: Sample, level: float = 0.95) -> float:
    """The end of the right-tailed interval: `level` of the sample lies at or below it.

    Args:
        sample: (n,) numbers, in any order.
        level: a probability inside (0, 1).

    Returns:
        The `level`-quantile. The interval is everything from the least possible value up to it;
        where it is the least, the sample lies closest to that value.

    Raises:
        EvaluatorError: as `hpdi`.

    Source:
        Section 2.2.2 of the supplement ("RTCI").
    """
    _check(sample, level)
    return float(np.quantile(sample, level))


def density_region(sample: Sample, of: Density, level: float = 0.95) -> tuple[Piece, ...]:
    """Where the density is highest, until `level` is held: several intervals of several modes.

    Args:
        sample: (n,) numbers.
        of: their density (`worker.evaluator.density`).
        level: a probability inside (0, 1).

    Returns:
        The intervals, ascending. Two between which less than a hundredth of the sample lies beyond
        what a straight line from one to the other would give, or of which one holds less than a
        hundredth, are joined or left out: they come from the smoothing. So the region may hold up
        to some hundredths less or more than `level`; `share` says how much it does hold.

    Raises:
        EvaluatorError: as `hpdi`.
    """
    _check(sample, level)
    order = np.argsort(-of.mass, kind="stable")
    n_needed = int(np.searchsorted(np.cumsum(of.mass[order]), level - 1e-12)) + 1
    inside = np.zeros(of.mass.size, dtype=np.bool_)
    inside[order[:n_needed]] = True
    runs = _close_shallow(_runs(inside), of.mass)
    ordered, half = np.sort(sample), of.step / 2
    pieces = []
    for first, last in runs:
        low, high = float(of.at[first] - half), float(of.at[last] + half)
        n_upto = np.searchsorted(ordered, [low, high], side="left")
        n_upto[1] = np.searchsorted(ordered, high, side="right")
        share = float(n_upto[1] - n_upto[0]) / ordered.size
        if share >= _NEGLIGIBLE:
            pieces.append(Piece(max(low, float(ordered[0])), min(high, float(ordered[-1])), share))
    return tuple(pieces)


def _runs(inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last cell of every run of true ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _close_shallow(runs: list[tuple[int, int]], mass: Floats) -> list[tuple[int, int]]:
    """Join runs over a valley that lacks less than a hundredth of being level with its rims."""
    joined = runs[:1]
    for first, last in runs[1:]:
        before = joined[-1]
        valley = mass[before[1] + 1 : first]
        lacking = min(mass[before[1]], mass[first]) * valley.size - valley.sum()
        if lacking < _NEGLIGIBLE:
            joined[-1] = (before[0], last)
        else:
            joined.append((first, last))
    return joined


def _check(sample: Sample, level: float) -> None:
    if not 0 < level < 1:
        raise EvaluatorError(
            f"The level is {level}, expected a probability inside (0, 1), such as 0.95."
        )
    if sample.size < 2 or np.floor(level * sample.size) >= sample.size:
        raise EvaluatorError(
            f"An interval with {level:g} of a sample needs more than {sample.size} numbers; draw "
            "more."
        )
