"""When the empirical prior is fitted again, and to which labels.

The fit of stage k uses the items of the first `POINTS[k - 1]` claims, whatever came after. So it is
a function of the tally alone (kept by epochs of claims), costs little over a whole assessment, and
a simulation, which labels in the order of claims, goes through the same fits.
"""

from bisect import bisect_right

_FIRST, _LEAST_STEP, _GROWTH, _LAST = 8, 4, 1.1, 10**9


def _points() -> tuple[int, ...]:
    points, n = [], _FIRST
    while n < _LAST:
        points.append(n)
        n = max(n + _LEAST_STEP, int(n * _GROWTH))
    return tuple(points)


POINTS = _points()
_DUE = frozenset(POINTS)


def is_due(n_labels: int) -> bool:
    """Whether a new stage begins with exactly so many labels."""
    return n_labels in _DUE


def stage(n_labels: int) -> int:
    """The stage after so many labels; 0 before the first fit.

    >>> [stage(n) for n in (0, 7, 8, 12)]
    [0, 0, 1, 2]
    """
    return bisect_right(POINTS, n_labels)


def epoch(claim: int) -> int:
    """The epoch of a claim number (from 0): stage k is fitted to the epochs below k.

    >>> [epoch(claim) for claim in (0, 7, 8, 11, 12)]
    [0, 0, 1, 1, 2]
    """
    return bisect_right(POINTS, claim)
