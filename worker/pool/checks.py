"""Checks on the values of a predictions file."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.pool.faults import Faults, refuse

SUM_TOLERANCE = 0.02  # shares are often written with two digits
LONGEST_READ = 500_000  # bytes: some hundred pages
_DOUBLES_AT_ONCE = 1_000_000
_STREAM = 64  # of the multipliers of hashes; any will do


def check_probabilities(
    faults: Faults, rows: NDArray[np.floating], first_row: int, whose: str = ""
) -> None:
    """Find rows (n, K) that are no probabilities of K classes.

    A fault is a value that is missing, NaN, infinite or negative, or a row whose sum is not 1
    within 0.02.

    Args:
        whose: as in " of the opinion old", if they are not those of the assessed classifier.
    """
    one = f"a probability{whose}"
    is_known: NDArray[np.bool_] = np.ones(len(rows), dtype=bool)
    if not np.isfinite(rows).all():
        is_nan, is_inf = _any_in_row(np.isnan(rows)), _any_in_row(np.isinf(rows))
        faults.add(is_nan, f"{one} is missing or NaN", kind="nan", first_row=first_row)
        faults.add(is_inf, f"{one} is infinite", first_row=first_row)
        is_known = ~(is_nan | is_inf)
    if (rows < 0).any():
        is_negative = is_known & _any_in_row(rows < 0)
        faults.add(is_negative, f"{one} is negative", first_row=first_row)
        is_known &= ~is_negative
    with np.errstate(invalid="ignore"):
        sums = rows.sum(axis=1)
        is_off = is_known & ~(np.abs(sums - 1) <= SUM_TOLERANCE)
    if is_off.any():
        came = f" (first sum: {float(sums[is_off][0]):.6g})"
        text = f"the probabilities{whose} do not sum to 1 within {SUM_TOLERANCE}"
        faults.add(is_off, text, came, first_row=first_row)


def _any_in_row(is_bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(is_bad.any(axis=1))


def check_scores(faults: Faults, column: str, scores: NDArray[np.floating]) -> None:
    """Find scores (n,) outside [0, 1], missing or NaN."""
    faults.add(np.isnan(scores), f"the score (column {column}) is missing or NaN", kind="nan")
    is_outside = (scores < 0) | (scores > 1)
    if is_outside.any():
        came = f" (first: {float(scores[is_outside][0]):.6g})"
        faults.add(is_outside, f"the score (column {column}) is not within 0 and 1", came)


def check_readable(faults: Faults, column: str, texts: pa.Array, first_row: int) -> None:
    """Find texts that are too long to be read by anybody; pictures within them are none."""
    is_long = pc.greater(pc.binary_length(texts), LONGEST_READ)
    is_data = pc.starts_with(texts, "data:")
    found = pc.and_not(is_long, is_data).to_numpy(zero_copy_only=False)
    text = f"the text (column {column}) has more than {LONGEST_READ:,} bytes, which nobody reads;"
    cure = "cut it to what people need to judge, or leave the row out:"
    faults.add(found, f"{text} {cure}", first_row=first_row)


def check_ids(
    faults: Faults,
    column: str,
    ids: Callable[[], Iterable[pa.Array]],
    n: int,
    multipliers: NDArray[np.uint64] | None = None,
) -> None:
    """Find ids that are missing or empty, and rows that repeat the id of an earlier one.

    Args:
        ids: gives them piece by piece, as often as it is called: once, unless two have one hash.
        n: how many there are.
        multipliers: of `id_hashes`.
    """
    absent, hashes = np.empty(n, dtype=bool), np.empty(n, dtype=np.uint64)
    n_before = 0
    for piece in ids():
        here = slice(n_before, n_before + len(piece))
        absent[here], hashes[here] = is_absent(piece), id_hashes(piece, multipliers)
        n_before += len(piece)
    faults.add(absent, f"the id (column {column}) is missing or empty", kind="empty")
    hashes.sort()
    doubled = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    del hashes
    for start in range(0, doubled.size, _DOUBLES_AT_ONCE):
        some = doubled[start : start + _DOUBLES_AT_ONCE]
        is_again, first = _repeated(ids, some, multipliers, n)
        faults.add(is_again, f"the id (column {column}) is not unique", first, kind="duplicate")


def _repeated(
    ids: Callable[[], Iterable[pa.Array]],
    hashes: NDArray[np.uint64],
    multipliers: NDArray[np.uint64] | None,
    n: int,
) -> tuple[NDArray[np.bool_], str]:
    """Compare the ids with these hashes themselves; return which rows (n,) repeat an earlier one.

    And what the first of them repeats, in words. An id that is missing repeats none.
    """
    row_of: dict[str, int] = {}
    is_again, told, n_before = np.zeros(n, dtype=bool), "", 0
    for piece in ids():
        found = np.flatnonzero(np.isin(id_hashes(piece, multipliers), hashes))
        rows = (found + n_before).tolist()
        for row, text in zip(rows, piece.take(pa.array(found)).to_pylist(), strict=True):
            if text is not None and text.strip() and row_of.setdefault(text, row) != row:
                is_again[row] = True
                told = told or f" (first: {text!r}, as in row {row_of[text] + 1})"
        n_before += len(piece)
    return is_again, told


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
