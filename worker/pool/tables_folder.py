"""Reads a Hugging Face data set: a folder that `save_to_disk` wrote, or one of Parquet files.

The names of a ClassLabel stand for its numbers, wherever such a column is read as text.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.fields import beside
from worker.pool.tables_lines import read_whole

_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"


def is_data_set(path: Path) -> bool:
    """Whether a path is a folder with a data set in it."""
    if not path.is_dir():
        return False
    return any((path / name).is_file() for name in (_STATE, _SPLITS)) or bool(_shards(path))


def files_of(path: Path) -> list[Path]:
    """Return the files that a data set is read from: of its rows, in order, and of its names.

    Raises:
        PredictionsError: it has several splits, or lacks a file.
    """
    if (path / _SPLITS).is_file() and not (path / _STATE).is_file():
        splits = _json(path / _SPLITS).get("splits") or ["(none)"]
        raise PredictionsError(
            f"{path}: came a data set of the splits {listed(splits)}, expected one; name its "
            f"folder, as in {path.name}/{splits[0]}"
        )
    if not (path / _STATE).is_file():
        return [_allowed(path, file) for file in _shards(path)]
    state = _json(path / _STATE)
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise PredictionsError(
            f"{path}: its rows are chosen by an index; write it anew, with "
            "flatten_indices().save_to_disk()"
        )
    named = [path / str(entry["filename"]) for entry in state.get("_data_files") or ()]
    rows = named or sorted(path.glob("data-*.arrow"))
    if any(file.parent != path for file in rows):
        raise PredictionsError(f"{path}: {_STATE} names files that are not in the folder")
    lost = [file.name for file in rows if not file.is_file()]
    if lost or not rows:
        raise PredictionsError(f"{path}: the data set lacks {listed(lost or ['data-*.arrow'])}")
    described = [path / _INFO] if (path / _INFO).is_file() else []
    return [_allowed(path, file) for file in (*rows, *described)]


def folder_columns(path: Path) -> list[str]:
    """Return the names of the columns.

    Raises:
        PredictionsError: as `files_of`.
    """
    return list(_schema(path).names)


def folder_batches(path: Path, columns: list[str] | None, n_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows in order, at most `n_rows` at once; of all columns if `columns` is None.

    Raises:
        PredictionsError: as `files_of`; or a number is none of its ClassLabel's.
    """
    schema = _schema(path)
    names = _class_names(path, schema)
    wanted = list(schema.names) if columns is None else columns
    for file in files_of(path):
        if file.suffix != ".json":
            for batch in _batches(file, wanted, n_rows):
                arrays = [_named(name, batch.column(name), names.get(name)) for name in wanted]
                yield pa.RecordBatch.from_arrays(arrays, names=wanted)


def parquet_batches(path: Path, columns: list[str], n_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file in order, at most `n_rows` at once, in bounded memory.

    Texts come in a dictionary: what those that the file keeps in one unpack to is not known before.
    """
    # by the megabyte, for all items may stand in one group of rows; and group by group, for what
    # was read of a group stays in memory until the reader goes on to another call
    kept = _texts(path, columns)
    with pa.parquet.ParquetFile(path, buffer_size=1 << 20, read_dictionary=kept) as file:
        for group in range(file.num_row_groups):
            yield from file.iter_batches(batch_size=n_rows, row_groups=[group], columns=columns)


def _texts(path: Path, columns: list[str]) -> list[str]:
    """The columns of texts, by the schema alone.

    Which of them the file keeps in a dictionary the metadata of its parts say; but a part whose
    statistics are damaged ends the process as it is looked at (pyarrow 26).
    """
    with pa.parquet.ParquetFile(path) as file:
        told = [file.schema.column(at) for at in range(len(file.schema))]
    found = {one.path for one in told if one.physical_type == "BYTE_ARRAY"}
    return [name for name in columns if name in found]


def _allowed(path: Path, file: Path) -> Path:
    """A file of the folder, which may be a link to one that a plan may not name."""
    try:
        return beside(path, str(file.relative_to(path)))
    except ValueError as error:
        raise PredictionsError(f"{path}: {error}") from error


def _shards(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) or sorted(path.glob("data/*.parquet"))


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_whole(path))
    except ValueError as error:
        raise PredictionsError(f"{path}: it is not JSON ({error}); is it complete?") from None
    return value if isinstance(value, dict) else {}


def _schema(path: Path) -> pa.Schema:
    first = files_of(path)[0]
    if first.suffix == ".parquet":
        return pa.parquet.read_schema(first)
    with pa.OSFile(str(first)) as source, pa.ipc.open_stream(source) as reader:
        return reader.schema


def _class_names(path: Path, schema: pa.Schema) -> dict[str, list[str]]:
    """The names of each ClassLabel: from the folder's description, or from that in its files."""
    features: dict[str, Any] = {}
    if (path / _INFO).is_file():
        features = _json(path / _INFO).get("features") or {}
    elif b"huggingface" in (schema.metadata or {}):
        told = json.loads(schema.metadata[b"huggingface"])
        features = (told.get("info") or {}).get("features") or {}
    return {
        name: [str(label) for label in feature["names"]]
        for name, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and "names" in feature
    }


def _batches(file: Path, columns: list[str], n_rows: int) -> Iterator[pa.RecordBatch]:
    if file.suffix == ".parquet":
        yield from parquet_batches(file, columns, n_rows)
        return
    with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            _check_offsets(file, batch)
            for start in range(0, batch.num_rows, n_rows):
                yield batch.slice(start, n_rows)


def _check_offsets(file: Path, batch: pa.RecordBatch) -> None:
    """What came from elsewhere may point outside of itself, which would end the process."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise PredictionsError(f"{file}: it is damaged ({error}); write it anew") from error


def _named(name: str, numbers: pa.Array, names: list[str] | None) -> pa.Array:
    if names is None or not pa.types.is_integer(numbers.type):
        return numbers
    codes = np.asarray(numbers.fill_null(-1))
    if codes.max(initial=-1) >= len(names) or codes.min(initial=-1) < -1:
        raise PredictionsError(
            f"the column {name} holds the number {int(codes.max(initial=-1))}, but has the "
            f"{len(names)} names {listed(names)}"
        )
    # -1 is the data set's way to say that there is none
    return pa.array(names, pa.string()).take(pa.array(codes, mask=codes < 0))
