"""Numbers of all items, in parts: tens of millions of them are sorted with little memory beside.

What numpy would make of a whole array at once (the codes of all items as int64, the permutation
that sorts them) takes several times the array itself. In parts the results are the same, bit by
bit: sums are taken in the order of the items either way.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 20
_MORE = 1 << 23  # so much at once is moved to where there is room by the system, not copied

Ints = NDArray[np.int64]


class Growing:
    """An array that grows at its end, without a second one beside it.

    Joining tens of millions of numbers from a thousand pieces takes twice their memory, and leaves
    holes where the pieces were.
    """

    def __init__(self) -> None:
        self._array: NDArray[Any] | None = None
        self._n = 0

    def add(self, piece: NDArray[Any]) -> None:
        """Add a piece; the array has the widest kind of numbers of all pieces."""
        if self._array is None:
            self._array = np.empty(piece.size, dtype=piece.dtype)
        elif np.result_type(self._array, piece) != self._array.dtype:
            self._array = self._array.astype(np.result_type(self._array, piece))
        end = self._n + piece.size
        if end > self._array.size:
            self._array.resize(end + min(end, _MORE), refcheck=False)
        self._array[self._n : end] = piece
        self._n = end

    def taken(self) -> NDArray[Any]:
        """Return the array (n,); to be asked once, when all pieces are there."""
        assert self._array is not None, "a table has rows"
        found, self._array = self._array, None
        found.resize(self._n, refcheck=False)
        return found


def taken(
    pieces: Iterator[NDArray[np.floating]], rows: NDArray[np.int64]
) -> Iterator[NDArray[np.floating]]:
    """Yield these rows, ascending, of a table that comes in pieces."""
    n_before = 0
    for piece in pieces:
        begin, end = np.searchsorted(rows, (n_before, n_before + len(piece)))
        yield piece[rows[begin:end] - n_before]
        n_before += len(piece)


def parts(n: int) -> Iterator[slice]:
    """Yield slices that together are 0 ... n - 1, in order."""
    for start in range(0, n, _PART):
        yield slice(start, min(start + _PART, n))


def dense(n: int, codes_of: Callable[[slice], Ints]) -> tuple[Ints, NDArray[np.int32]]:
    """Return the codes that occur, ascending, (m,), and which of them each item has, (n,).

    Args:
        n: how many items there are, at least 1.
        codes_of: the codes of some of them; asked twice for each part.
    """
    present: Ints = reduce(np.union1d, (np.unique(codes_of(part)) for part in parts(n)))
    which = np.empty(n, dtype=np.int32)
    for part in parts(n):
        which[part] = np.searchsorted(present, codes_of(part))
    return present, which


def counted(code: NDArray[np.integer[Any]], n: int) -> Ints:
    """Return how many items have each of the codes 0 ... n - 1, (n,)."""
    counts = np.zeros(n, dtype=np.int64)
    for part in parts(code.size):
        counts += np.bincount(code[part], minlength=n)
    return counts


def summed(
    code: NDArray[np.integer[Any]], weights: Callable[[slice], NDArray[np.float64]], n: int
) -> NDArray[np.float64]:
    """Return the sum of the weights of the items with each code, (n,), in the items' order."""
    sums = np.zeros(n)
    for part in parts(code.size):
        np.add.at(sums, code[part], weights(part))
    return sums


def places(
    cell: NDArray[np.int32], size: Ints, seed: int, prompt: NDArray[np.int32] | None = None
) -> NDArray[np.integer[Any]]:
    """Return the row of the compiled pool that each item gets, (n,), each row once.

    The rows go cell after cell, and within each cell in a random order that the seed fixes. Outputs
    of the same prompt have the same random number: what comes early in one cell comes early in the
    other, so that most labels come in pairs though each cell is sampled by itself.

    Args:
        cell: (n,) in 0 ... C - 1. size: (C,) items of each cell. seed: of the plan. prompt: (n,)
            numbers of the prompts; None: every item is one of its own.

    Source: a counting sort of numpy's permutation of all items; the same order as a stable sort
    of the permuted items by their cells, with a third of the memory. Of pairs: permanent random
    numbers, Ohlsson, "Coordination of samples using permanent random numbers" (1995).
    """
    kind: type[np.signedinteger[Any]] = (
        np.int32 if cell.size <= np.iinfo(np.int32).max else np.int64
    )
    shuffled = np.arange(cell.size, dtype=kind)
    rng = np.random.default_rng([seed, 0])
    rng.shuffle(shuffled)  # the order does not depend on the kind
    if prompt is not None:
        number = rng.random(int(prompt.max()) + 1)
        shuffled = shuffled[np.argsort(number[prompt[shuffled]], kind="stable")]
    place = np.empty(cell.size, dtype=kind)
    upcoming = np.cumsum(size) - size
    for part in parts(cell.size):
        items = shuffled[part]
        cells = cell[items]
        by_cell = np.argsort(cells, kind="stable")
        counts = np.bincount(cells, minlength=size.size)
        within = np.arange(cells.size) - np.repeat(np.cumsum(counts) - counts, counts)
        place[items[by_cell]] = np.repeat(upcoming, counts) + within
        upcoming += counts
    return place


def moved(
    values: NDArray[Any], place: NDArray[np.integer[Any]], kind: type[np.generic]
) -> NDArray[Any]:
    """Return values (n,) as `kind`, each at its place."""
    there = np.empty(values.size, dtype=kind)
    for part in parts(values.size):
        there[place[part]] = values[part]
    return there
