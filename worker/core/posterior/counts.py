"""Exact distributions of whole counts: how many of a group's unlabelled items are right.

A group's unlabelled items lie in independent cells, so their number of right answers is a sum
of beta-binomials. One label changes one cell, hence distributions are kept and found again by
their numbers.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Cell = tuple[int, float, float]  # unlabelled items, and the Beta's two parameters

NEGLIGIBLE = 1e-17  # a tail this light is left out; a thousand of them still weigh less than 1e-13
SHORT = 32  # numbers; few among zeros are transformed sooner by their definition
_DIRECT_WORK = 1 << 22  # multiplications; above, the Fourier transform is faster
_LARGEST_RATIO = 1e9  # of neighbours; so many as are short multiply to what a float can hold


@dataclass(frozen=True, slots=True, eq=False)
class CountDistribution:
    """The distribution of a count X in 0..M.

    pmf: (M + 1,), sums to 1. at_least: (M + 2,), P(X >= k), from 1 down to 0.
    low, high: X lies in low..high, but for two tails lighter than `NEGLIGIBLE`.
    """

    pmf: Floats
    at_least: Floats
    low: int
    high: int

    @property
    def mirrored(self) -> "CountDistribution":
        """The distribution of M - X."""
        return distribution_of_masses(self.pmf[::-1].copy())


def beta_binomial(n_items: int, a: float, b: float) -> Floats:
    """The probabilities of 0..n_items right answers when the rate is Beta(a, b).

    Summing the logarithms of neighbours' ratios outwards from the mean keeps about 13 digits
    where log-gamma functions, whose values grow like n log n, lose one for every tenfold n_items.

    Args:
        n_items: >= 0.
        a, b: > 0.

    Returns:
        (n_items + 1,), sums to 1.

    >>> beta_binomial(3, 1.0, 1.0).round(6).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    k = np.arange(n_items, dtype=np.float64)
    steps = np.log((n_items - k) * (a + k) / ((k + 1) * (b + (n_items - 1 - k))))
    start = int(n_items * (a / (a + b)))
    logs = np.zeros(n_items + 1)
    np.cumsum(steps[start:], out=logs[start + 1 :])
    logs[:start] = -np.cumsum(steps[:start][::-1])[::-1]
    return _normalised(np.exp(logs - logs.max()))


def convolve(first: Floats, second: Floats) -> Floats:
    """The distribution of the sum of two independent counts.

    Direct, and so accurate in every tail, up to some millions of products; by Fourier transform
    above, with an absolute error near 1e-16.
    """
    if first.size * second.size <= _DIRECT_WORK:
        return np.convolve(first, second).astype(np.float64)
    size = first.size + second.size - 1
    length = fft.next_fast_len(size, real=True)
    spectrum = fft.rfft(first, length) * fft.rfft(second, length)
    return _normalised(np.maximum(fft.irfft(spectrum, length)[:size], 0.0))


def _normalised(weights: Floats) -> Floats:
    total: Floats = weights / weights.sum()
    return total


def beta_binomials(n_items: NDArray[np.int64], a: Floats, b: Floats) -> Floats:
    """(max(n_items) + 1, ...) probabilities, a distribution a column; 0 beyond its own items.

    Args:
        n_items: as `a` and `b`, or one for several of them.
        a, b: (...) > 0.
    """
    k = np.arange(int(n_items.max()), dtype=np.float64).reshape(-1, *[1] * a.ndim)
    rest = n_items - k
    ratios = (a + k) * (np.maximum(rest, 0) / (k + 1))
    ratios /= b + (np.maximum(rest, 1) - 1)
    pmfs = np.ones((len(k) + 1, *a.shape))
    if len(k) < SHORT and ratios.max(initial=0.0) < _LARGEST_RATIO:
        for at, ratio in enumerate(ratios):  # a third of the time of `cumprod`
            np.multiply(pmfs[at], ratio, out=pmfs[at + 1])
    else:
        with np.errstate(divide="ignore"):
            np.cumsum(np.log(ratios), axis=0, out=pmfs[1:])
        pmfs[0] = 0.0
        np.exp(pmfs - pmfs.max(axis=0), out=pmfs)
    pmfs /= pmfs.sum(axis=0)
    return pmfs


def distribution_of_masses(pmf: Floats) -> CountDistribution:
    """The distribution with these probabilities, which sum to 1; they are kept, and locked."""
    at_least = np.zeros(pmf.size + 1)
    at_least[:-1] = np.minimum(np.cumsum(pmf[::-1])[::-1], 1.0)
    at_least[0] = 1.0
    pmf.setflags(write=False)
    at_least.setflags(write=False)
    low = int(np.searchsorted(np.cumsum(pmf), NEGLIGIBLE, side="right"))
    high = int(np.count_nonzero(at_least > NEGLIGIBLE)) - 1
    return CountDistribution(pmf, at_least, low, high)


def distribution_of(cells: tuple[Cell, ...]) -> CountDistribution:
    """The distribution of the number of right answers among the unlabelled items of `cells`.

    >>> distribution_of(((1, 1.0, 1.0), (1, 1.0, 1.0))).pmf.round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    pmf: Floats = np.ones(1)
    for cell in sorted(cells):  # the small ones first: fewer products
        pmf = convolve(pmf, beta_binomial(*cell))
    return distribution_of_masses(pmf)


class BoundedCache:
    """What was used most recently (distributions, fits, votes), up to `max_floats` numbers.

    A bound on entries would not do: a distribution has as many numbers as its group has items.
    """

    def __init__(self, max_floats: int) -> None:
        self.max_floats = max_floats
        self.n_floats = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """What is kept under `key`, or None."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            return kept[0]

    def put(self, key: Hashable, value: Any, n_floats: int) -> None:
        """Keep `value` of `n_floats` numbers; let go of what was unused for longest."""
        with self._lock:
            if key in self._kept:
                self.n_floats -= self._kept.pop(key)[1]
            self._kept[key] = value, n_floats
            self.n_floats += n_floats
            while self.n_floats > self.max_floats:
                _, (_, dropped) = self._kept.popitem(last=False)
                self.n_floats -= dropped
