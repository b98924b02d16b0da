"""Whether the files that a column names are there, and of use; and how large each one is."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connector.media import TAGS, suffix_of
from worker.errors import PredictionsError
from worker.plan.fields import confined
from worker.pool.faults import rows_told
from worker.pool.files import LARGEST
from worker.pool.media_paths import elsewhere, is_media, is_path

NO_FILE, _MISSING, _UNREADABLE = -1, -2, -3

Ints = NDArray[np.int64]
Pieces = Callable[[], Iterable[pa.Array]]


def sizes_of(what: str, folder: str | None, pieces: Pieces, n: int) -> Ints:
    """Return the bytes (n,) of every file that a column names; -1 where a value is no path.

    Args:
        what: the file and its column, for the message.
        folder: to which paths are relative; None: it is on another machine.
        pieces: gives the column's n values, as often as it is asked.

    Raises:
        PredictionsError: files are not there, cannot be read, are empty or too large, are of a kind
            that browsers do not show or of several, or other values stand beside the paths; the
            message names the rows.
    """
    sizes, is_other = np.full(n, NO_FILE, dtype=np.int64), np.zeros(n, dtype=bool)
    suffixes: dict[str, int] = {}  # the first row of each
    size_of, n_before = _look(what, folder), 0
    for piece in pieces():
        is_one = is_path(piece)
        paths = piece.filter(is_one)
        rows = np.flatnonzero(is_one.to_numpy(zero_copy_only=False)) + n_before
        is_other[rows] = ~is_media(paths).to_numpy(zero_copy_only=False)
        for row, path in zip(rows.tolist(), paths.to_pylist(), strict=True):
            sizes[row] = size_of(path)
            suffixes.setdefault(suffix_of(path), row + 1)
        n_before += len(piece)
    n_files = int((sizes != NO_FILE).sum())
    relative = "" if folder is None else f", relative to {folder}"
    for is_bad, fault, cure in (
        (is_other, "are none of images, sounds or videos", "correct them, or leave them empty"),
        (sizes == _MISSING, "are not there", "put the files there, or correct the paths; if people "
         "are to judge the names themselves, write something beside each of them"),
        (sizes == _UNREADABLE, "may not be read", "give whoever starts Assay, and its workers, the "
         "right to read them"),
        (sizes == 0, "are empty", "put the right files there"),
        (sizes > LARGEST, f"are larger than {LARGEST / 1e6:.0f} MB", "make them smaller, or name "
         "them by addresses that Label Studio can show"),
    ):  # fmt: skip
        if is_bad.any():
            first = _value(pieces, int(np.flatnonzero(is_bad)[0]))
            raise PredictionsError(
                f"{what} holds paths of files{relative}, but {int(is_bad.sum()):,} of {n_files:,} "
                f"{fault}: {rows_told(np.flatnonzero(is_bad) + 1)} (first: {first!r}); {cure}"
            )
    _refuse_kinds(what, suffixes)
    return sizes


def _refuse_kinds(what: str, suffixes: Mapping[str, int]) -> None:
    """Refuse files that a page cannot show, or not by one tag."""
    tags = {suffix: TAGS.get(suffix) for suffix in suffixes}
    told = ", ".join(f"{suffix} first in row {row}" for suffix, row in suffixes.items())
    if None in tags.values():
        raise PredictionsError(
            f"{what} holds paths of files that Label Studio does not take or browsers do not show "
            f"({told}); convert them to {', '.join(TAGS)}"
        )
    if len(set(tags.values())) > 1:
        raise PredictionsError(
            f"{what} holds paths of files of several kinds ({told}), and is shown as images, as "
            "sounds or as videos; give each kind a column of its own"
        )


def _look(what: str, folder: str | None) -> Callable[[str], int]:
    """Return what says of a path how large its file is, or why it is of no use."""
    confined_ones: set[str] = set()

    def size_of(path: str) -> int:
        whole = os.path.join(folder or "", path)
        above = os.path.dirname(whole)
        if above not in confined_ones:
            if not above.startswith("/"):
                raise elsewhere(what)
            try:
                confined(Path(above), path)
            except ValueError as error:
                raise PredictionsError(f"{what} holds paths of files, but {error}") from error
            confined_ones.add(above)
        try:
            found = os.stat(whole)
        except PermissionError:
            return _UNREADABLE
        except (OSError, ValueError):  # a zero byte is in no path
            return _MISSING
        if not stat.S_ISREG(found.st_mode):
            return _MISSING
        return found.st_size if os.access(whole, os.R_OK) else _UNREADABLE

    return size_of


def _value(pieces: Pieces, row: int) -> str:
    for piece in pieces():
        if row < len(piece):
            return str(piece[row].as_py())
        row -= len(piece)
    raise IndexError(row)
