"""Reads JSON Lines piece by piece: quickly where all rows are alike, one by one where not.

What stands in an object within a row is a column `outer.inner`.
"""

import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json

from worker.errors import PredictionsError
from worker.pool.chats import text_of_chat
from worker.pool.tables_lines import opened

BYTES_PER_PIECE = 8 << 20
_FIRST_ROWS = 100
_BOM = b"\xef\xbb\xbf"


def jsonl_columns(path: Path) -> list[str]:
    """Return the keys of the first rows, in their order.

    Raises:
        PredictionsError: the file is empty, or its first rows are not JSON objects.
    """
    return list(dict.fromkeys(key for row in _first(path, _FIRST_ROWS) for key in row))


def jsonl_first_rows(path: Path, most: int) -> pa.Table:
    """Return at most `most` first rows; a column of mixed kinds becomes text.

    Raises:
        PredictionsError: the file is empty, or its first rows are not JSON objects.
    """
    return table_of(_first(path, most))


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return rows as a table; a column of mixed kinds becomes text."""
    columns = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key) for row in rows]
        try:
            columns[key] = pa.array(values)
        except pa.ArrowException:
            columns[key] = pa.array([json.dumps(value) for value in values])
    return pa.table(columns)


def _first(path: Path, most: int) -> list[dict[str, Any]]:
    with opened(path) as file:
        lines = [line for line in islice(file, most) if line.strip()]
    if not lines:
        raise PredictionsError("the file is empty")
    lines[0] = lines[0].removeprefix(_BOM)
    return [_flat(_row(line, number)) for number, line in enumerate(lines, start=1)]


def jsonl_pieces(
    path: Path, texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield pieces with text columns (string), number columns (float64) and the list column.

    Raises:
        PredictionsError: a line is not a JSON object, or a value is not of its column's kind.
    """
    schema, n_before = _schema(texts, numbers, numbers_list), 0
    is_nested = any("." in name for name in schema.names)
    with opened(path) as file:
        file.read(0 if file.peek(3)[:3] != _BOM else 3)
        while lines := file.readlines(BYTES_PER_PIECE):
            piece = None if is_nested else _quick(b"".join(lines), schema)
            if piece is None:
                piece = _careful(lines, schema, n_before)
            n_before += piece.num_rows
            yield piece


def piece_of(
    rows: Sequence[dict[str, Any]],
    texts: Sequence[str],
    numbers: Sequence[str],
    numbers_list: str | None,
    n_before: int,
) -> pa.RecordBatch:
    """Return rows, of which the first is the one after `n_before`, as `jsonl_pieces` does.

    Raises:
        PredictionsError: a value is not of its column's kind.
    """
    return _typed(rows, _schema(texts, numbers, numbers_list), n_before)


def _schema(texts: Sequence[str], numbers: Sequence[str], numbers_list: str | None) -> pa.Schema:
    fields = {name: pa.string() for name in texts} | {name: pa.float64() for name in numbers}
    if numbers_list is not None:
        fields[numbers_list] = pa.list_(pa.float64())
    return pa.schema(fields)


def _quick(block: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
    try:
        table = pa.json.read_json(
            io.BytesIO(block),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pa.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowInvalid:
        return None
    return pa.RecordBatch.from_arrays(
        [table.column(name).combine_chunks() for name in schema.names], schema=schema
    )


def _careful(lines: Sequence[bytes], schema: pa.Schema, n_before: int) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = []
    for line in lines:
        if line.strip():
            rows.append(_flat(_row(line, n_before + len(rows) + 1)))
    return _typed(rows, schema, n_before)


def _typed(rows: Sequence[dict[str, Any]], schema: pa.Schema, n_before: int) -> pa.RecordBatch:
    columns = [
        pa.array(
            [
                _value(row.get(field.name), field, n_before + index)
                for index, row in enumerate(rows, start=1)
            ],
            type=field.type,
        )
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _row(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except UnicodeDecodeError:
        raise PredictionsError(f"row {number} is not UTF-8; save the file as UTF-8") from None
    except ValueError as error:
        raise PredictionsError(
            f"row {number} is not JSON ({error}); is the file cut off there?"
        ) from None
    except RecursionError:
        raise PredictionsError(f"row {number} is nested too deeply; keep it flat") from None
    return row_of(row, number)


def _flat(row: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        found |= (
            _flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
        )
    return found


def row_of(row: object, number: int) -> dict[str, Any]:
    """Return what stands in a row, if it is an object of whole characters.

    Raises:
        PredictionsError: it is not.
    """
    if not isinstance(row, dict):
        raise PredictionsError(f'row {number} is no JSON object, expected {{"item_id": ...}}')
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:  # JSON can write half of a pair that UTF-16 needs
        half = error.object[error.start : error.end].encode("ascii", "backslashreplace").decode()
        raise PredictionsError(
            f"row {number} has half a character ({half[:12]}); write the file anew as UTF-8"
        ) from None
    return row


def _value(value: Any, field: pa.Field, number: int) -> Any:
    if value is None:
        return None
    if pa.types.is_string(field.type):
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return str(value)
        if (chat := text_of_chat(value)) is not None:
            return chat
        expected = "text, a whole number, or turns of a chat, [{role: ..., content: ...}, ...]"
    elif pa.types.is_list(field.type):
        if isinstance(value, list) and all(_is_number(item) or item is None for item in value):
            return value
        expected = "a list of numbers"
    else:
        if _is_number(value):
            try:
                return float(value)
            except OverflowError:  # a whole number of 400 digits
                return float("inf") if value > 0 else float("-inf")
        expected = "a number"
    raise PredictionsError(
        f"row {number} has {str(value)[:60]!r} in the column {field.name}, expected {expected}"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
