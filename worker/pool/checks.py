"""Checks on the values of a predictions file; each finding names the first rows and their number.

Rows are counted from 1, as they stand in the file without its header.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError

SUM_TOLERANCE = 1e-3
_SHOWN = 5


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


def check_ids(path: Path, column: str, ids: pa.Array) -> None:
    """Refuse ids that are missing, empty or not unique.

    Raises:
        PredictionsError: there are such ids.
    """
    refuse(path, is_absent(ids), f"the id (column {column}) is missing or empty")
    codes = ids.dictionary_encode().indices.to_numpy()
    count = np.bincount(codes)
    if count.max() > 1:
        is_double = (count > 1)[codes]
        first = ids[int(np.flatnonzero(is_double)[0])].as_py()
        text = f"the id (column {column}) is not unique (first: {first!r})"
        refuse(path, is_double, text)


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
