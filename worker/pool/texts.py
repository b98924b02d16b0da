"""The items' texts while a pool is compiled: kept as they come, given back in another order.

A few are kept in memory; many go to files without a name in the pools' folder, which vanish with
the process, whatever ends it.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from worker.errors import AssayError

MOST_IN_MEMORY = 256 << 20  # bytes of texts
ROWS_PER_BLOCK = 1 << 20
_MOST_BLOCKS = 500  # each is an open file for a while
_ROWS_AT_ONCE = 1 << 18
_BYTES_AT_ONCE = 64 << 20
_PLACE = "assay_place"


class NoRoom(AssayError):
    """The disk of the pools' folder is full."""


class LostTexts(AssayError):
    """What was kept on disk while a pool was compiled is not there any more."""


class Texts:
    """Pieces of columns in the order in which they were added; the first column is the ids.

    Args:
        folder: where to keep what is more than MOST_IN_MEMORY; None for in memory only.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.n_rows = self.n_bytes = 0
        self._folder = folder
        self._pieces: list[pa.RecordBatch] = []
        self._spill: _Spill | None = None

    def add(self, piece: pa.RecordBatch) -> None:
        """Keep a piece (of the same columns as the others)."""
        self.n_rows += piece.num_rows
        self.n_bytes += piece.nbytes
        if self._spill is None and self._folder is not None and self.n_bytes > MOST_IN_MEMORY:
            self._spill = _Spill(self._folder)
            for kept in self._pieces:
                self._spill.add(kept)
            self._pieces.clear()
        if self._spill is None:
            self._pieces.append(piece)
        else:
            self._spill.add(piece)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The pieces, as often as asked for.

        Raises:
            LostTexts: the file with them was cut off.
        """
        return iter(self._pieces) if self._spill is None else iter(self._spill)

    def ids(self) -> Iterator[pa.Array]:
        """The ids, piece by piece."""
        return (piece.column(0) for piece in self)

    def close(self) -> None:
        """Forget all of them."""
        self._pieces.clear()
        if self._spill is not None:
            self._spill.close()


class _Spill:
    """Pieces in a file without a name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._n_rows = folder, 0
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._writer: Any = None

    def add(self, piece: pa.RecordBatch) -> None:
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._file, piece.schema)
        self._writer.write_batch(piece)
        self._n_rows += piece.num_rows

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._writer is None:
            return
        self._file.flush()
        end = self._file.seek(0, 2)
        self._file.seek(0)
        n_rows = 0
        try:
            for piece in pa.ipc.open_stream(self._file):
                n_rows += piece.num_rows
                yield piece
        except (pa.ArrowException, OSError) as error:
            raise self._lost(str(error)) from error
        finally:
            self._file.seek(end)
        if n_rows != self._n_rows:
            raise self._lost(f"{n_rows:,} of {self._n_rows:,} items are left")

    def _lost(self, what: str) -> LostTexts:
        return LostTexts(
            f"{self._folder}: a temporary file of the compilation was cut off ({what}); look at "
            "the disk, and try again"
        )

    def close(self) -> None:
        # no end is written: whoever reads goes by the rows, and a full disk cannot refuse it
        self._file.close()


def n_blocks(texts: Texts) -> int:
    """Into how many blocks of rows the compiled pool is cut, by the number and size of the items.

    One up to 1,048,576 items with 256 MiB of texts: pools of that size have always been one block.
    """
    by_rows = -(-texts.n_rows // ROWS_PER_BLOCK)
    by_bytes = -(-texts.n_bytes // MOST_IN_MEMORY)
    return int(min(max(by_rows, by_bytes, 1), max(_MOST_BLOCKS, by_rows)))


def in_order(
    texts: Texts, place: NDArray[np.integer[Any]], n_blocks: int, folder: Path
) -> Iterator[tuple[slice, pa.RecordBatch]]:
    """Yield the columns in another order, in blocks: which rows these are, and the rows.

    The texts are forgotten on the way.

    Args:
        texts: n rows.
        place: (n,) the new row of each, each of 0 ... n - 1 once.
        n_blocks: into how many blocks of equal size; no more than one is in memory.
        folder: for the temporary files.
    """
    length = -(-place.size // n_blocks)
    starts = np.arange(0, place.size, length)
    if len(starts) == 1:
        rows = _whole(list(texts))
        texts.close()
        yield slice(0, place.size), rows.take(pa.array(_inverse(place)))
        return
    with ExitStack() as stack:
        spills = [_Spill(folder) for _ in starts]
        for spill in spills:
            stack.callback(spill.close)
        n_before = 0
        for piece in _larger(texts):
            to = place[n_before : n_before + piece.num_rows]
            n_before += piece.num_rows
            order = np.argsort(to)
            columns = [*piece.columns, pa.array(to)]
            names = [*piece.schema.names, _PLACE]
            sorted_ = pa.RecordBatch.from_arrays(columns, names=names).take(pa.array(order))
            cuts = [*np.searchsorted(to[order], starts).tolist(), piece.num_rows]
            for spill, (start, end) in zip(spills, pairwise(cuts), strict=True):
                if end > start:
                    spill.add(sorted_.slice(start, end - start))
        texts.close()
        for spill, start in zip(spills, starts.tolist(), strict=True):
            rows = _whole(list(spill))
            spill.close()
            last = rows.num_columns - 1
            order = _inverse(rows.column(last).to_numpy() - start)
            there = slice(start, start + rows.num_rows)
            yield there, rows.select(range(last)).take(pa.array(order))


def _inverse(place: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    order = np.empty(place.size, dtype=np.int64)
    order[place] = np.arange(place.size)
    return order


def _larger(texts: Texts) -> Iterator[pa.RecordBatch]:
    """The pieces, several joined: each of them is cut into as many parts as there are blocks."""
    waiting: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for piece in texts:
        waiting.append(piece)
        n_rows += piece.num_rows
        n_bytes += piece.nbytes
        if n_rows >= _ROWS_AT_ONCE or n_bytes >= _BYTES_AT_ONCE:
            yield _whole(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield _whole(waiting)


def _whole(pieces: list[pa.RecordBatch]) -> pa.RecordBatch:
    columns = [
        pa.concat_arrays([piece.column(at) for piece in pieces])
        for at in range(pieces[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pieces[0].schema)


@contextmanager
def room_told(folder: Path) -> Iterator[None]:
    """Say of a full disk which one it is, and how much is needed."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise NoRoom(
            f"{folder}: {error.strerror or 'the disk is full'} while the pool was compiled; "
            "nothing was kept of it. It takes about three times the bytes of the items' ids and "
            "texts for a while: free as much, or let ASSAY_HOME name a folder on a larger disk"
        ) from error
