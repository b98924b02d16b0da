"""Columns of texts that repeat, kept as numbers while a file is read."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.pool.ordering import Growing


class Coded:
    """A column of texts that repeat, as the place of each among the different ones."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._codes = Growing()

    def add(self, column: pa.Array) -> None:
        """Take the next piece."""
        encoded = column.dictionary_encode()
        known = [
            self._place.setdefault(text, len(self._place))
            for text in encoded.dictionary.to_pylist()
        ]
        at = pc.fill_null(encoded.indices, len(known)).to_numpy()
        self._codes.add(np.array([*known, -1], dtype=np.int32)[at])

    def taken(self) -> tuple[list[str], NDArray[np.int32]]:
        """Return the different texts, in the order of their first item, and which of them each
        item has, (n,), -1 where there is none; to be asked once."""
        return list(self._place), self._codes.taken()
