"""The law of a difference: how many more of a group's unlabelled items the first of two gets right.

Of an item on which two models disagree the first is right, or the second, or neither, so that a
group's difference is a whole number, and a sum over independent cells.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from worker.core.counts import CountLaw, beta_binomials, law_of_masses

Floats = NDArray[np.float64]

_LARGEST_CELL = 200  # items; the table of a cell grows with their square
_WORK = 1 << 20  # numbers transformed; above, the sum is taken for normal given the node
_NOISE = 1e-15  # what a Fourier transform leaves where there is nothing
_LEAST = 1e-6  # pseudo-counts: none at all would be a law without masses


def difference_law(
    left: NDArray[np.int64], a: Floats, c: Floats, kinds: Floats, weight: Floats
) -> CountLaw:
    """The law of (first right - second right) + M among M unlabelled items, a count in 0..2M.

    Given the node the cells are independent. Exact up to some hundred thousand products; above, a
    mixture over the nodes of normals with the exact mean and variance given each, cut at halves:
    their sums are then of many items.

    Args:
        left: (c,) unlabelled items of the group's cells.
        a, c: (c, U) parameters of the Betas of "the first is right", labels included.
        kinds: (c, 2) Dirichlet of "the second is right" and "neither" among the rest, labels
            included, >= 0.
        weight: (U,) posterior probabilities of the nodes.
    """
    kept = left > 0
    left, a, c, kinds = left[kept], a[kept], c[kept], np.maximum(kinds[kept], _LEAST)
    n_items = int(left.sum())
    if not n_items:
        return law_of_masses(np.ones(1))
    is_small = int(left.max()) <= _LARGEST_CELL and a.size * (2 * n_items + 1) <= _WORK
    pmf = (_exact if is_small else _normal)(left, a, c, kinds, weight)
    return law_of_masses(pmf / pmf.sum())


def _exact(left: NDArray[np.int64], a: Floats, c: Floats, kinds: Floats, weight: Floats) -> Floats:
    n_items = int(left.sum())
    length = fft.next_fast_len(2 * n_items + 1, real=True)
    product = np.ones((weight.size, length // 2 + 1), dtype=np.complex128)
    for i, n in enumerate(left.tolist()):
        product *= fft.rfft(_of_cell(n, a[i], c[i], kinds[i]), length)
    pmf = fft.irfft(weight @ product, length)[: 2 * n_items + 1]
    return np.where(pmf > _NOISE, pmf, 0.0)


def _of_cell(n: int, a: Floats, c: Floats, kinds: Floats) -> Floats:
    """(U, 2n + 1) law of (first - second) + n among n items of one cell."""
    first = beta_binomials(np.full(a.size, n), a, c)
    rest = np.arange(n + 1)
    second = beta_binomials(rest, np.full(n + 1, kinds[0]), np.full(n + 1, kinds[1]))
    table = np.zeros((n + 1, 2 * n + 1))
    for x in range(n + 1):  # x items are the first's, y of the others the second's
        table[x, 2 * x : n + x + 1] = second[n - x, : n - x + 1][::-1]
    law: Floats = first @ table
    return law


def _normal(left: NDArray[np.int64], a: Floats, c: Floats, kinds: Floats, weight: Floats) -> Floats:
    n_items, n = int(left.sum()), left[:, None].astype(np.float64)
    total = a + c
    rho = a / total
    strength = kinds.sum(axis=1, keepdims=True)
    second = kinds[:, :1] / strength
    wrong = n * (1 - rho)
    spread = n * rho * (1 - rho) * (total + n) / (total + 1)
    mean = (n * rho - wrong * second).sum(axis=0)
    of_kinds = second * (1 - second) * (spread + wrong**2 + strength * wrong) / (strength + 1)
    variance = ((1 + second) ** 2 * spread + of_kinds).sum(axis=0)
    edges = np.arange(2 * n_items + 2) - n_items - 0.5
    below = special.ndtr((edges - mean[:, None]) / np.sqrt(variance)[:, None])
    below[:, 0], below[:, -1] = 0.0, 1.0
    pmf: Floats = weight @ np.diff(below, axis=1)
    return pmf
