"""Checks on the values of a predictions file; each finding names the first rows and their number.

Rows are counted from 1, as they stand in the file without its header.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError

SUM_TOLERANCE = 1e-3
_SHOWN = 5
_DOUBLES_AT_ONCE = 1_000_000
_STREAM = 64  # of the multipliers of hashes; any will do


def rows_told(is_bad: NDArray[np.bool_], first_row: int = 1) -> str:
    """Return "row 3" or "rows 3, 7, 9, 12, 20 and 34 more" for the true entries."""
    bad = np.flatnonzero(is_bad)
    shown = ", ".join(str(row + first_row) for row in bad[:_SHOWN])
    more = f" and {bad.size - _SHOWN} more" if bad.size > _SHOWN else ""
    return f"{'row' if bad.size == 1 else 'rows'} {shown}{more}"


def refuse(path: Path, is_bad: NDArray[np.bool_], text: str, first_row: int = 1) -> None:
    """Raise a PredictionsError that names the true rows, if there are any."""
    if is_bad.any():
        raise PredictionsError(f"{path}: {text} in {rows_told(is_bad, first_row)}")


def check_probabilities(path: Path, rows: NDArray[np.floating], first_row: int) -> None:
    """Refuse rows (n, K) that are no probabilities of K classes.

    Raises:
        PredictionsError: a value that is missing, NaN, infinite or negative, or a row whose sum is
            not 1 within 0.001.
    """
    if not np.isfinite(rows).all():
        refuse(path, _any_in_row(np.isnan(rows)), "a probability is missing or NaN", first_row)
        refuse(path, _any_in_row(np.isinf(rows)), "a probability is infinite", first_row)
    if (rows < 0).any():
        refuse(path, _any_in_row(rows < 0), "a probability is negative", first_row)
    sums = rows.sum(axis=1)
    is_off = np.abs(sums - 1) > SUM_TOLERANCE
    if is_off.any():
        came = float(sums[is_off][0])
        text = f"the probabilities do not sum to 1 within {SUM_TOLERANCE} (first sum: {came:.6g})"
        refuse(path, is_off, text, first_row)


def _any_in_row(is_bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(is_bad.any(axis=1))


def check_scores(path: Path, column: str, scores: NDArray[np.floating]) -> None:
    """Refuse scores (n,) outside [0, 1], missing or NaN.

    Raises:
        PredictionsError: there are such scores.
    """
    refuse(path, np.isnan(scores), f"the score (column {column}) is missing or NaN")
    is_outside = (scores < 0) | (scores > 1)
    if is_outside.any():
        came = float(scores[is_outside][0])
        text = f"the score (column {column}) is not within 0 and 1 (first: {came:.6g})"
        refuse(path, is_outside, text)


def check_ids(
    path: Path,
    column: str,
    ids: Callable[[], Iterable[pa.Array]],
    n: int,
    multipliers: NDArray[np.uint64] | None = None,
) -> None:
    """Refuse ids that are missing, empty or not unique.

    Args:
        ids: gives them piece by piece, as often as it is called: once, unless two have one hash.
        n: how many there are.
        multipliers: of `id_hashes`.

    Raises:
        PredictionsError: there are such ids. Of ids that are double more than a million times, the
            first million by their hashes are looked at.
    """
    absent, hashes = np.empty(n, dtype=bool), np.empty(n, dtype=np.uint64)
    n_before = 0
    for piece in ids():
        here = slice(n_before, n_before + len(piece))
        absent[here], hashes[here] = is_absent(piece), id_hashes(piece, multipliers)
        n_before += len(piece)
    refuse(path, absent, f"the id (column {column}) is missing or empty")
    hashes.sort()
    doubled = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    del hashes
    for start in range(0, doubled.size, _DOUBLES_AT_ONCE):
        some = doubled[start : start + _DOUBLES_AT_ONCE]
        is_double, first = _doubles(ids, some, multipliers, n)
        refuse(path, is_double, f"the id (column {column}) is not unique (first: {first!r})")


def _doubles(
    ids: Callable[[], Iterable[pa.Array]],
    hashes: NDArray[np.uint64],
    multipliers: NDArray[np.uint64] | None,
    n: int,
) -> tuple[NDArray[np.bool_], str | None]:
    """Compare the ids with these hashes themselves; return which rows (n,) have a double one."""
    code_of: dict[str, int] = {}
    rows, codes, n_before = [], [], 0
    for piece in ids():
        found = np.flatnonzero(np.isin(id_hashes(piece, multipliers), hashes))
        texts = piece.take(pa.array(found)).to_pylist()
        rows.append(found + n_before)
        codes.append(np.array([code_of.setdefault(text, len(code_of)) for text in texts], int))
        n_before += len(piece)
    code = np.concatenate(codes)
    is_double = np.zeros(n, dtype=bool)
    double_codes = (np.bincount(code) > 1)[code]
    is_double[np.concatenate(rows)[double_codes]] = True
    if not double_codes.any():
        return is_double, None
    return is_double, list(code_of)[code[double_codes][0]]


def id_hashes(ids: pa.Array, multipliers: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Return a hash of each text, (n,): the sum of its bytes + 1, each times that of its place.

    Args:
        ids: n texts, of the type large_string.
        multipliers: a number for each place of the longest; by default random odd ones.

    Source: multilinear hashing (Carter & Wegman 1979) modulo 2^64. Of 50 million texts that are
    all different, two have one hash with a probability of 2% at most.
    """
    _, ends, letters = ids.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    starts = offsets[:-1] - offsets[0]
    lengths = np.diff(offsets)
    n_bytes = int(offsets[-1] - offsets[0])
    if not n_bytes:
        return np.zeros(len(ids), dtype=np.uint64)
    content = np.frombuffer(letters, dtype=np.uint8)[offsets[0] : offsets[-1]]
    longest = int(lengths.max())
    if multipliers is None:
        random = np.random.default_rng(_STREAM).integers(0, 2**63, longest, dtype=np.uint64)
        multipliers = random * np.uint64(2) + np.uint64(1)
    place = np.arange(n_bytes) - np.repeat(starts, lengths)
    # one more, so that an empty last text has a byte to begin at
    terms = np.zeros(n_bytes + 1, dtype=np.uint64)
    np.multiply(multipliers[place], content + np.uint64(1), out=terms[:-1])
    hashes: NDArray[np.uint64] = np.add.reduceat(terms, starts)
    hashes[lengths == 0] = 0
    return hashes


def check_filled(path: Path, what: str, column: str, texts: pa.Array) -> None:
    """Refuse texts that are missing or empty.

    Raises:
        PredictionsError: there are such texts.
    """
    refuse(path, is_absent(texts), f"{what} (column {column}) is missing or empty")


def is_absent(texts: pa.Array) -> NDArray[np.bool_]:
    """Return where (n,) a text is null, empty or blank."""
    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    absent: NDArray[np.bool_] = pc.fill_null(blank, True).to_numpy(zero_copy_only=False)
    return absent
