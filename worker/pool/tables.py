"""Reads tables (CSV, JSONL, Parquet and others) piece by piece, only the columns that are wanted.

Text stays as it is written (a CSV's `007` remains `007`), numbers become float64, and a mistake in
the file is told with its row. No more than a piece is in memory beside what the caller keeps.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from worker.errors import PredictionsError
from worker.nearest import did_you_mean, listed
from worker.pool.tables_coco import coco_columns, coco_first_rows, coco_pieces
from worker.pool.tables_columns import converted, plain
from worker.pool.tables_csv import delimiter_of, encoding_of, first_mistake_in_csv
from worker.pool.tables_excel import excel_columns, excel_first_rows, excel_pieces
from worker.pool.tables_folder import folder_batches, folder_columns, is_data_set, parquet_batches
from worker.pool.tables_jsonl import jsonl_columns, jsonl_first_rows, jsonl_pieces
from worker.pool.tables_text import text_columns, text_pieces

ROW_NUMBER = "row number"  # the column that every file has: `row-1`, `row-2`, ...
FLOATS_PER_PIECE = 4_000_000
_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".json": "coco", ".txt": "text", ".xlsx": "excel",
}  # fmt: skip
ACCEPTED = (
    ".csv, .tsv, .jsonl, .ndjson, .json (COCO results), .txt (rows `true s_0 s_1 ...`), each of "
    "which may end in .gz; .parquet; or the folder of a Hugging Face data set"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns to read: as text, as numbers, and at most one that holds a list of numbers."""

    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    numbers_list: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them, each once."""
        last = (self.numbers_list,) if self.numbers_list is not None else ()
        return tuple(dict.fromkeys((*self.texts, *self.numbers, *last)))


def kind_of(path: Path) -> str:
    """Return csv, tsv, jsonl, parquet, coco, text or excel, by the file's ending, or folder.

    Raises:
        PredictionsError: another ending.
    """
    if is_data_set(path):
        return "folder"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_packed = suffixes[-1:] == [".gz"]
    own = suffixes[:-1] if is_packed else suffixes
    kind = _SUFFIXES.get(own[-1]) if own else None
    if kind is None and path.is_dir():
        raise PredictionsError(f"{path}: came a folder with no data set in it, expected {ACCEPTED}")
    if kind is None or (is_packed and kind in ("parquet", "excel")):
        raise PredictionsError(f"{path}: came the ending of {path.name}, expected {ACCEPTED}")
    return kind


def column_names(path: Path) -> list[str]:
    """Return the names of the columns (of a JSONL file: the keys of its first rows).

    Raises:
        PredictionsError: the file is missing, unreadable or empty.
    """
    kind = kind_of(path)
    with _told(path):
        if kind in _COLUMNS:
            return _COLUMNS[kind](path)
        with _csv_reader(path, kind) as reader:
            return list(reader.schema.names)


def first_rows(path: Path, most: int) -> pa.Table:
    """Return at most `most` first rows, each column of the type that it seems to have.

    Raises:
        PredictionsError: the file is missing, unreadable, empty or of no known kind.
    """
    kind = kind_of(path)
    with _told(path):
        if kind in _FIRST_ROWS:
            return _FIRST_ROWS[kind](path, most)
        if kind == "text":
            names = text_columns(path)
            return _first_batches(text_pieces(path, names[:2], names[3:], None), most)
        if kind == "folder":
            return _first_batches(folder_batches(path, None, most), most)
        if kind == "parquet":
            return _first_batches(parquet_batches(path, _COLUMNS[kind](path), most), most)
        with _csv_reader(path, kind) as reader:
            batches = list(islice(reader, 1))
            return pa.Table.from_batches(batches, reader.schema).slice(0, most)


def pieces(path: Path, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield the table's rows in order, in pieces that hold the wanted columns.

    Text columns have the type string, numbers float64, the list column list<float64>; what was
    not there is null (in a CSV an absent text is empty).

    Raises:
        PredictionsError: the file is missing, unreadable, empty or truncated, or lacks a wanted
            column, or a value is not of the wanted kind.
    """
    present = column_names(path)
    is_numbered = ROW_NUMBER in wanted.texts and ROW_NUMBER not in present
    if is_numbered:
        texts = tuple(name for name in wanted.texts if name != ROW_NUMBER)
        wanted = replace(wanted, texts=texts or tuple(present[:1]))
    _require(path, wanted.columns, present)
    kind, n_rows = kind_of(path), 0
    with _told(path, wanted):
        if kind in _PIECES:
            found = _PIECES[kind](path, wanted.texts, wanted.numbers, wanted.numbers_list)
        elif kind in ("parquet", "folder"):
            found = _batch_pieces(path, kind, wanted)
        else:
            found = _csv_pieces(path, kind, wanted)
        for piece in found:
            if piece.num_rows:
                rows = range(n_rows + 1, n_rows + piece.num_rows + 1)
                n_rows = rows.stop - 1
                if is_numbered:
                    numbers = pa.array([f"row-{row}" for row in rows], pa.string())
                    piece = piece.append_column(ROW_NUMBER, numbers)
                yield piece
    if not n_rows:
        raise PredictionsError(f"{path}: it has columns but no rows; nothing can be assessed")


def _require(path: Path, columns: Sequence[str], present: Sequence[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        told = ", ".join(f"{name}{did_you_mean(name, present)}" for name in missing)
        raise PredictionsError(
            f"{path}: no column {told}; its columns are {listed(present)}. "
            "Correct the names under `pool` in the plan"
        )
    twice = [name for name in columns if present.count(name) > 1]
    if twice:
        raise PredictionsError(f"{path}: the column {twice[0]} is there twice; rename one of them")


def _csv_format(path: Path, kind: str) -> pa.csv.ParseOptions:
    return pa.csv.ParseOptions(delimiter=delimiter_of(path, kind), newlines_in_values=True)


def _csv_reader(path: Path, kind: str, convert: pa.csv.ConvertOptions | None = None) -> Any:
    return pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=8 << 20, encoding=encoding_of(path)),
        parse_options=_csv_format(path, kind),
        convert_options=convert,
    )


def _csv_pieces(path: Path, kind: str, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    as_text = (*wanted.texts, *((wanted.numbers_list,) if wanted.numbers_list else ()))
    types = dict.fromkeys(wanted.numbers, pa.float64()) | dict.fromkeys(as_text, pa.string())
    convert = pa.csv.ConvertOptions(
        include_columns=list(wanted.columns), column_types=types, strings_can_be_null=False
    )
    with _csv_reader(path, kind, convert) as reader:
        for piece in reader:
            yield converted(piece, wanted.texts, wanted.numbers, wanted.numbers_list)


def _batch_pieces(path: Path, kind: str, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    rows = max(1_000, FLOATS_PER_PIECE // max(len(wanted.columns), 100))
    columns = list(wanted.columns)
    if kind == "folder":
        found = folder_batches(path, columns, rows)
    else:
        found = parquet_batches(path, columns, rows)
    for piece in found:
        yield converted(piece, wanted.texts, wanted.numbers, wanted.numbers_list)


def _first_batches(batches: Iterator[pa.RecordBatch], most: int) -> pa.Table:
    first = next(batches)
    plainly = {name: plain(name, first.column(name)) for name in first.schema.names}
    return pa.table(plainly).slice(0, most)


def _parquet_columns(path: Path) -> list[str]:
    with pa.parquet.ParquetFile(path) as file:
        return list(file.schema_arrow.names)


_COLUMNS: dict[str, Callable[[Path], list[str]]] = {
    "jsonl": jsonl_columns,
    "coco": coco_columns,
    "text": text_columns,
    "excel": excel_columns,
    "folder": folder_columns,
    "parquet": _parquet_columns,
}
_FIRST_ROWS: dict[str, Callable[[Path, int], pa.Table]] = {
    "jsonl": jsonl_first_rows,
    "coco": coco_first_rows,
    "excel": excel_first_rows,
}
_PIECES: dict[str, Callable[..., Iterator[pa.RecordBatch]]] = {
    "jsonl": jsonl_pieces,
    "coco": coco_pieces,
    "text": text_pieces,
    "excel": excel_pieces,
}


@contextmanager
def _told(path: Path, wanted: Wanted | None = None) -> Iterator[None]:
    """Turn what goes wrong while reading into errors that name the file and, if known, the row."""
    try:
        yield
    except PredictionsError as error:
        text = str(error)
        if text.startswith(str(path)):
            raise
        raise PredictionsError(f"{path}: {text}") from error
    except FileNotFoundError:
        raise PredictionsError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise PredictionsError(f"{path}: came a folder, expected a file") from None
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, RuntimeError) as error:
        # some faults of a Parquet file pass Arrow as they were thrown, which Python calls runtime
        if path.is_dir() and not is_data_set(path):
            raise PredictionsError(f"{path}: came a folder, expected a file") from None
        if path.is_file() and path.stat().st_size == 0:
            raise PredictionsError(f"{path}: the file is empty") from None
        text = f"{path}: it cannot be read ({error}); is it complete?"
        if kind_of(path) in ("csv", "tsv") and isinstance(error, pa.ArrowInvalid):
            numbers = wanted.numbers if wanted is not None else ()
            found = first_mistake_in_csv(path, delimiter_of(path, kind_of(path)), numbers)
            text = f"{path}: {found}" if found else text
        raise PredictionsError(text) from error
