"""Exact laws of whole counts: how many of a group's unlabelled items are right.

A group's unlabelled items lie in independent cells, so their number of right answers is a sum
of beta-binomials. One label changes one cell, hence laws are kept and found again by their numbers.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Cell = tuple[int, float, float]  # unlabelled items, and the Beta's two parameters

NEGLIGIBLE = 1e-17  # a tail this light is left out; a thousand of them still weigh less than 1e-13
_DIRECT_WORK = 1 << 22  # multiplications; above, the Fourier transform is faster
_KEPT_FLOATS = 1 << 23  # 64 MiB; a pool of a million items takes a quarter of it


@dataclass(frozen=True, slots=True, eq=False)
class CountLaw:
    """The law of a count X in 0..M.

    pmf: (M + 1,), sums to 1. at_least: (M + 2,), P(X >= k), from 1 down to 0.
    low, high: X lies in low..high, but for two tails lighter than `NEGLIGIBLE`.
    """

    pmf: Floats
    at_least: Floats
    low: int
    high: int


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
    """The law of the sum of two independent counts.

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


def law_of(cells: tuple[Cell, ...]) -> CountLaw:
    """The law of the number of right answers among the unlabelled items of `cells`.

    >>> law_of(((1, 1.0, 1.0), (1, 1.0, 1.0))).pmf.round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    kept = _laws.get(cells)
    if kept is not None:
        return kept
    if len(cells) == 1:
        pmf = beta_binomial(*cells[0])
    else:
        pmf = np.ones(1)
        for cell in sorted(cells):  # the small ones first: fewer products
            pmf = convolve(pmf, law_of((cell,)).pmf)
    law = _law(pmf)
    _laws.put(cells, law)
    return law


def _law(pmf: Floats) -> CountLaw:
    at_least = np.zeros(pmf.size + 1)
    at_least[:-1] = np.minimum(np.cumsum(pmf[::-1])[::-1], 1.0)
    at_least[0] = 1.0
    pmf.setflags(write=False)
    at_least.setflags(write=False)
    low = int(np.searchsorted(np.cumsum(pmf), NEGLIGIBLE, side="right"))
    high = int(np.count_nonzero(at_least > NEGLIGIBLE)) - 1
    return CountLaw(pmf, at_least, low, high)


class LawCache:
    """The most recently used laws, as many as fit into `max_floats` numbers.

    A bound on entries would not do: a law has as many numbers as its group has items.
    """

    def __init__(self, max_floats: int) -> None:
        self.max_floats = max_floats
        self.n_floats = 0
        self._laws: OrderedDict[tuple[Cell, ...], CountLaw] = OrderedDict()
        self._lock = Lock()

    def get(self, cells: tuple[Cell, ...]) -> CountLaw | None:
        """The law kept for `cells`, or None."""
        with self._lock:
            law = self._laws.get(cells)
            if law is not None:
                self._laws.move_to_end(cells)
            return law

    def put(self, cells: tuple[Cell, ...], law: CountLaw) -> None:
        """Keep `law`, and let go of the ones unused for longest if there is no room."""
        with self._lock:
            if cells in self._laws:
                return
            self._laws[cells] = law
            self.n_floats += _n_floats(law)
            while self.n_floats > self.max_floats:
                _, dropped = self._laws.popitem(last=False)
                self.n_floats -= _n_floats(dropped)


def _n_floats(law: CountLaw) -> int:
    return law.pmf.size + law.at_least.size


_laws = LawCache(_KEPT_FLOATS)
