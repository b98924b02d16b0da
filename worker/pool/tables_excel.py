"""Reads the first sheet of an Excel workbook (.xlsx): a row of names, then a row an item.

The names are the first row with more than one cell that is filled: what stands above is a title.
Rows are counted from 1, without the names, what is above them, and empty rows.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa

from worker.errors import PredictionsError
from worker.pool.tables_jsonl import piece_of, table_of
from worker.pool.tables_lines import LONGEST_JSON

_ROWS_PER_PIECE = 20_000
# How a sheet says that there is no number.
_NONE = ("", "NA", "N/A", "#N/A", "NAN", "NULL")


def excel_columns(path: Path) -> list[str]:
    """Return the columns' names.

    Raises:
        PredictionsError: it is no workbook, or no row of its first sheet has more than one cell.
    """
    with closing(_rows(path)) as rows:
        return _names(rows)


def excel_first_rows(path: Path, most: int) -> pa.Table:
    """Return at most `most` first rows; shares are numbers, other columns of mixed kinds text."""
    with closing(_rows(path)) as rows:
        names = _names(rows)
        found = [dict(zip(names, row, strict=False)) for row in islice(rows, most)]
    for name in names:
        numbers = [_as_number(row.get(name)) for row in found]
        if _are_shares(numbers):
            for row, number in zip(found, numbers, strict=True):
                row[name] = number
    return table_of(found)


def excel_pieces(
    path: Path, texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield pieces with text columns (string), number columns (float64) and the list column.

    Numbers that the sheet keeps as text are read as numbers, and other values of a text column as
    they are written.

    Raises:
        PredictionsError: a value is not of its column's kind.
    """
    with closing(_rows(path)) as rows:
        names, n_before = _names(rows), 0
        while some := list(islice(rows, _ROWS_PER_PIECE)):
            found = [dict(zip(names, row, strict=False)) for row in some]
            for row in found:
                row |= {name: _as_text(row.get(name)) for name in texts}
                row |= {name: _as_number(row.get(name)) for name in numbers}
            yield piece_of(found, texts, numbers, numbers_list, n_before)
            n_before += len(some)


def _rows(path: Path) -> Generator[tuple[Any, ...]]:
    """The rows of the first sheet that hold something."""
    # Imported here: few files need it.
    from openpyxl import load_workbook

    try:
        with ZipFile(path) as parts:
            n_bytes = sum(part.file_size for part in parts.infolist())
        if n_bytes > LONGEST_JSON:
            raise PredictionsError(
                f"it unpacks to {n_bytes >> 20:,} MB, expected {LONGEST_JSON >> 20:,} at most; "
                "save it as .csv, which is read piece by piece"
            )
        book = load_workbook(path, read_only=True, data_only=True)
        with closing(book):
            for row in book.worksheets[0].iter_rows(values_only=True):
                if any(value is not None for value in row):
                    yield tuple(map(_plain, row))
    except (FileNotFoundError, IsADirectoryError, PredictionsError):
        raise
    except Exception as error:  # its readers of zip and XML have errors of their own
        raise PredictionsError(
            f"it cannot be read as an Excel workbook ({type(error).__name__}: {error}); open it, "
            "and save it as .xlsx or .csv"
        ) from error


def _names(rows: Iterator[Sequence[Any]]) -> list[str]:
    """Take the rows up to the names, and return these."""
    for row in rows:
        names = ["" if value is None else str(value).strip() for value in row]
        if sum(map(bool, names)) > 1:
            while not names[-1]:
                names.pop()
            return names
    raise PredictionsError(
        "no row of its first sheet has more than one cell that is filled, expected a row with the "
        "columns' names, and below it a row an item"
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | datetime | time) else value


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, float) else value


def _as_number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        return None if text.upper() in _NONE else float(text)
    except ValueError:
        return value


def _are_shares(values: Sequence[Any]) -> bool:
    """Whether all are numbers or missing, and most from 0 to 1; whole ones alone may be names."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, int | float) for value in known):
        return False
    is_broken = any(0 < value < 1 for value in known)
    return is_broken and 2 * sum(0 <= value <= 1 for value in known) > len(known)
