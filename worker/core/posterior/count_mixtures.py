"""Distributions of whole counts in groups whose cells share components, by Fourier transform."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from worker.core.posterior.counts import (
    NEGLIGIBLE,
    SHORT,
    CountDistribution,
    beta_binomials,
    distribution_of_masses,
)

Floats = NDArray[np.float64]

_FFT_NOISE = 1e-15  # what a Fourier transform leaves where there is nothing
_BLOCK = 1 << 18  # numbers transformed at once: they stay in the processor's own memory


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
    if len(pmfs) > SHORT:
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
    pmf = np.where(pmf > _FFT_NOISE, pmf, 0.0)
    return distribution_of_masses(pmf / pmf.sum())


def _length(n_items: int) -> int:
    return int(fft.next_fast_len(n_items + 1, real=True))
