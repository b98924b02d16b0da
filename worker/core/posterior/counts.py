"""Exact distributions of whole counts: how many of a group's unlabelled items are right.

A group's unlabelled items lie in independent cells, so their number of right answers is a sum
of beta-binomials. One label changes one cell, hence distributions are kept and found again by
their numbers.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Cell = tuple[int, float, float]  # unlabelled items, and the Beta's two parameters

NEGLIGIBLE = 1e-17  # a tail this light is left out; a thousand of them still weigh less than 1e-13
_FFT_NOISE = 1e-15  # what a Fourier transform leaves where there is nothing
_DIRECT_WORK = 1 << 22  # multiplications; above, the Fourier transform is faster
_LARGEST_RATIO = 1e9  # of neighbours; so many as are short multiply to what a float can hold
_SHORT = 32  # numbers; few among zeros are transformed sooner by their definition
_BLOCK = 1 << 18  # numbers transformed at once: they stay in the processor's own memory


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


def mixed_distribution(
    left: NDArray[np.int64], a: Floats, b: Floats, weight: Floats
) -> CountDistribution:
    """The distribution of the right answers to come in a group whose cells share U components.

    Given the component the cells are independent, so that characteristic functions multiply; the
    absolute error is near 1e-16.

    Args:
        left: (c,) unlabelled items of the group's cells.
        a, b: (c, U) parameters of the Betas, labels included.
        weight: (U,) posterior probabilities of the components.
    """
    kept = left > 0
    left, a, b = left[kept], a[kept], b[kept]
    n_items = int(left.sum())
    if not n_items:
        return distribution_of_masses(np.ones(1))
    return _mixed(weight, _spectra(left, a, b, n_items).prod(axis=0), n_items)


def mixed_distributions(
    left: NDArray[np.int64], a: Floats, b: Floats, of: NDArray[np.intp], weight: Floats
) -> list[CountDistribution]:
    """`mixed_distribution` of many groups, those with Fourier transforms of one length together.

    Args:
        left, a, b: (C,), (C, U) and (C, U) as of `mixed_distribution`; the cells of all groups.
        of: (C,) the group of each cell, 0..G-1, ascending; every group has cells.
        weight: (G, U).
    """
    n_items = np.bincount(of, weights=left).astype(np.int64)
    begin = np.searchsorted(of, np.arange(len(weight) + 1))
    lengths = np.array([_length(n) for n in n_items.tolist()])
    distributions: dict[int, CountDistribution] = {}
    for length in np.unique(lengths):
        alike = np.flatnonzero(lengths == length)
        most = int(np.diff(begin)[alike].max()) * weight.shape[1]
        n_blocks = min(alike.size, -(-alike.size * most * int(length) // _BLOCK))
        for block in np.array_split(alike, n_blocks):
            own = np.isin(of, block)
            spectra = _spectra(left[own], a[own], b[own], int(n_items[block].max()))
            rows = np.split(spectra, np.cumsum(np.diff(begin)[block])[:-1])
            products = np.stack([row.prod(axis=0) for row in rows])
            mixture = (weight[block, :, None] * products).sum(axis=1)
            pmfs = fft.irfft(mixture, int(length))
            distributions |= zip(
                block.tolist(), _distributions_of_rows(pmfs, n_items[block]), strict=True
            )
    return [distributions[g] for g in range(len(weight))]


def _distributions_of_rows(pmfs: Floats, n_items: NDArray[np.int64]) -> Iterator[CountDistribution]:
    """`distribution_of_masses` of every row, up to its own number of items."""
    inside = np.arange(pmfs.shape[1]) <= n_items[:, None]
    pmfs = np.where(inside & (pmfs > _FFT_NOISE), pmfs, 0.0)
    pmfs /= pmfs.sum(axis=1, keepdims=True)
    at_least = np.zeros((len(pmfs), pmfs.shape[1] + 1))
    at_least[:, :-1] = np.minimum(np.cumsum(pmfs[:, ::-1], axis=1)[:, ::-1], 1.0)
    at_least[:, 0] = 1.0
    low = (np.cumsum(pmfs, axis=1) <= NEGLIGIBLE).sum(axis=1).tolist()
    high = ((at_least > NEGLIGIBLE).sum(axis=1) - 1).tolist()
    for i, n in enumerate(n_items.tolist()):
        kept = pmfs[i, : n + 1].copy(), at_least[i, : n + 2].copy()
        for numbers in kept:
            numbers.setflags(write=False)
        yield CountDistribution(*kept, low[i], high[i])


def mixed_distributions_after(
    left: NDArray[np.int64], a: Floats, b: Floats, weight: Floats, cell: int
) -> tuple[CountDistribution, CountDistribution]:
    """`mixed_distribution` of the items left after a right, and after a wrong label in `cell`.

    That the label counts itself is left to the caller. Both distributions share what the other
    cells give.

    Args:
        cell: one of the c cells, with an unlabelled item.
    """
    others = left > 0
    others[cell] = False
    rate = a[cell] / (a[cell] + b[cell])
    left = np.concatenate([left[others], left[[cell, cell]] - 1])
    # the last two: the cell after each outcome
    a = np.concatenate([a[others], [a[cell] + 1, a[cell]]])
    b = np.concatenate([b[others], [b[cell], b[cell] + 1]])
    n_items = int(left[:-1].sum())
    spectra = _spectra(left, a, b, n_items)
    common = spectra[:-2].prod(axis=0)
    right, wrong = (
        _mixed(chance / chance.sum(), common * spectrum, n_items)
        for chance, spectrum in zip((weight * rate, weight * (1 - rate)), spectra[-2:], strict=True)
    )
    return right, wrong


def _spectra(left: NDArray[np.int64], a: Floats, b: Floats, n_items: int) -> NDArray[np.complex128]:
    """(c, U, F) Fourier transforms of the cells' distributions, for a sum up to `n_items`."""
    pmfs = beta_binomials(left[:, None], a, b)
    length = _length(n_items)
    if len(pmfs) > _SHORT:
        return fft.rfft(np.moveaxis(pmfs, 0, -1), length)
    rows = pmfs.reshape(len(pmfs), -1).T @ _waves(len(pmfs), length)
    return rows.view(np.complex128).reshape(*a.shape, -1)


@lru_cache(maxsize=64)
def _waves(n: int, length: int) -> Floats:
    """(n, 2 F) what `rfft` multiplies n numbers by, real and imaginary parts in turn."""
    turns = np.outer(np.arange(n), np.arange(length // 2 + 1)) % length
    return np.exp(-2j * np.pi / length * turns).view(np.float64)


def _mixed(weight: Floats, spectra: NDArray[np.complex128], n_items: int) -> CountDistribution:
    """The mixture over the components of the distributions with these Fourier transforms (U, F)."""
    pmf = fft.irfft(weight @ spectra, _length(n_items))[: n_items + 1]
    return distribution_of_masses(_normalised(np.where(pmf > _FFT_NOISE, pmf, 0.0)))


def _length(n_items: int) -> int:
    return int(fft.next_fast_len(n_items + 1, real=True))


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
    if len(k) < _SHORT and ratios.max(initial=0.0) < _LARGEST_RATIO:
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
