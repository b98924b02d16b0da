"""At how many labels a look is taken, and when the prior is fitted again, to which labels.

Stage k begins at `POINTS[k - 1]` labels, and is a look. The prior is fitted at the first look, and
at every second one: as often as at all of them costs twice as much, and no decision comes earlier.
Before the first look it is fitted to every label: little is known then of what groups share, and
each label tells more of that than of its own group.
A later fit uses the items of the first claims, as many as labels were due, whatever came after. It
is a function of the tally alone (kept by epochs of claims), costs little over a whole assessment,
and a simulation, which labels in the order of claims, goes through the same fits.
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
_LOOKS = frozenset(POINTS)


def is_look(n_labels: int) -> bool:
    """Whether a new stage begins with exactly so many labels."""
    return n_labels in _LOOKS


def is_refit(n_labels: int) -> bool:
    """Whether the prior is fitted again with exactly so many labels."""
    at = stage(n_labels)
    return at == 0 or (is_look(n_labels) and fitted_at(at) == at)


def n_looks_before(n_labels: int) -> int:
    """How many looks may confirm what is found with exactly so many labels.

    Those at least four labels earlier: with one label more than at a look nearly the same is asked
    again, and an early claim that chance made would be its own witness.

    >>> [n_looks_before(n) for n in (8, 9, 11, 12, 15, 16)]
    [0, 0, 0, 1, 1, 2]
    """
    return bisect_right(POINTS, n_labels - _LEAST_STEP)


def stage(n_labels: int) -> int:
    """The stage after so many labels; 0 before the first fit.

    >>> [stage(n) for n in (0, 7, 8, 12)]
    [0, 0, 1, 2]
    """
    return bisect_right(POINTS, n_labels)


def fitted_at(stage: int) -> int:
    """The stage at which the prior of this one was fitted, to the epochs below it.

    Before the first look that is the first one: whatever is there is fitted to.

    >>> [fitted_at(stage) for stage in range(6)]
    [1, 1, 2, 2, 4, 4]
    """
    return stage - stage % 2 if stage > 1 else 1


def epoch(claim: int) -> int:
    """The epoch of a claim number (from 0); those below k are claimed when stage k begins.

    >>> [epoch(claim) for claim in (0, 7, 8, 11, 12)]
    [0, 0, 1, 1, 2]
    """
    return bisect_right(POINTS, claim)
