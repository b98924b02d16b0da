"""Reads the paper's own text files: a row an item, its true class and then K scores.

`true s_0 ... s_K-1`, between spaces or tabs, without a header. The rows have no ids: they are
called row-1, row-2, ... after their place.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.pool.tables_lines import opened

ID, TRUE, LIST, SCORE = "item_id", "true", "scores", "s_"
_BYTES_PER_PIECE = 8 << 20


def text_columns(path: Path) -> list[str]:
    """Return item_id, true, scores (a list of all) and s_0 ... s_K-1, K from the first row.

    Raises:
        PredictionsError: the file is empty, or its first row is not a class and two scores or more.
    """
    with opened(path) as file:
        n_scores = len(file.readline().split()) - 1
    if n_scores < 0:
        raise PredictionsError("the file is empty, or begins with an empty row")
    if n_scores < 2:
        raise PredictionsError(
            f"row 1 has {n_scores + 1} values, expected the index of the true class and a score "
            "for each class, with spaces between"
        )
    return [ID, TRUE, LIST, *(f"{SCORE}{k}" for k in range(n_scores))]


def text_pieces(
    path: Path, texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield pieces with text columns (string), number columns (float64) and the list column.

    Raises:
        PredictionsError: a row has another number of values than the first, or one that is not a
            number; or its true class is not one of 0 ... K - 1; or a column is asked for as what
            it is not.
    """
    for name in texts:
        if name not in (ID, TRUE):
            raise PredictionsError(f"the column {name} holds numbers, expected text")
    for name in numbers:
        if not name.startswith(SCORE):
            raise PredictionsError(
                f"the column {name} holds no scores of one class; those are {SCORE}0, {SCORE}1, ..."
            )
    if numbers_list not in (None, LIST):
        raise PredictionsError(f"the column {numbers_list} holds no list of numbers")
    n_values, n_before = len(text_columns(path)) - 2, 0
    with opened(path) as file:
        while lines := file.readlines(_BYTES_PER_PIECE):
            values = _values(lines, n_values, n_before)
            true = values[:, 0].astype(np.int64)
            rows = np.arange(n_before + 1, n_before + 1 + len(lines))
            of_text = {ID: [f"row-{row}" for row in rows], TRUE: list(map(str, true.tolist()))}
            columns = {name: pa.array(of_text[name], pa.string()) for name in texts}
            columns |= {
                name: pa.array(values[:, int(name.removeprefix(SCORE)) + 1]) for name in numbers
            }
            if numbers_list is not None:
                flat = pa.array(np.ascontiguousarray(values[:, 1:]).ravel())
                lists = pa.FixedSizeListArray.from_arrays(flat, n_values - 1)
                columns[numbers_list] = lists.cast(pa.list_(pa.float64()))
            n_before += len(lines)
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _values(lines: Sequence[bytes], n_values: int, n_before: int) -> NDArray[np.float64]:
    rows = []
    for row, line in enumerate(lines, start=n_before + 1):
        words = line.split()
        if len(words) != n_values:
            raise PredictionsError(
                f"row {row} has {len(words)} of {n_values} values; is the file cut off?"
            )
        try:
            rows.append(np.array(words, dtype=np.float64))
        except ValueError:
            word = next(word for word in words if not _is_number(word))
            told = word.decode("utf-8", "backslashreplace")[:60]
            raise PredictionsError(f"row {row} has {told!r}, expected a number") from None
    values = np.array(rows)
    true = values[:, 0]
    is_class = (true >= 0) & (true < n_values - 1) & (true == np.floor(true))
    if not is_class.all():
        at = int(np.flatnonzero(~is_class)[0])
        raise PredictionsError(
            f"row {n_before + at + 1} has the true class {true[at]:g}, expected a whole number "
            f"from 0 to {n_values - 2}: the row is the index of the true class, then the scores"
        )
    return values


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
