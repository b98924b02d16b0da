"""How a compiled pool is written, and how a copy of it is told from a wreck."""

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.typing import NDArray

# Of the file's format: in one block of rows, as pools have always been, or in several, which
# carry checksums of their own: an older release would read the first block for the whole.
ONE_BLOCK, SEVERAL_BLOCKS = 2, 3
# In blocks, too, and its items are shown by files, whose paths an older release would show.
WITH_FILES = 4
FORMATS = ONE_BLOCK, SEVERAL_BLOCKS, WITH_FILES

HEADER_KEY = b"assay_pool"
CHECKSUM_KEY = b"assay_checksum"
# Tables that do not belong to single items; as text they would be large and slow to read.
ARRAY_KEYS = {
    "mean_probability": b"assay_mean_probability",
    "costs": b"assay_costs",
    # of several models: `worker.pool.models.Models`
    "said": b"assay_said",
    "guessed": b"assay_guessed",
    "covariance": b"assay_covariance",
}
ARRAY_KINDS: dict[str, np.dtype[Any]] = {
    "mean_probability": np.dtype("<f4"),
    "costs": np.dtype("<f8"),
    "said": np.dtype("<i4"),
    "guessed": np.dtype("<f4"),
    "covariance": np.dtype("<f8"),
}

# The annotators' columns follow these.
OWN_COLUMNS = ("item_id", "predicted", "score", "cell")

# The column of every item's probabilities, the last one where there is one.
PROBABILITY = "assay_probability"

Stat = tuple[int, int]  # size in bytes, time of the last change in nanoseconds
Arrays = Mapping[str, NDArray[Any]]


def read_array(metadata: Mapping[bytes, bytes], name: str, n_columns: int) -> NDArray[Any] | None:
    """Return an array (any, n_columns) that stands beside the rows, or None."""
    content = metadata.get(ARRAY_KEYS[name])
    if content is None:
        return None
    flat: NDArray[Any] = np.frombuffer(content, dtype=ARRAY_KINDS[name])
    return flat.reshape(-1, n_columns)


def as_column(table: NDArray[Any]) -> pa.Array:
    """Return a table (n, K) as a column of n lists, in single precision."""
    flat = pa.array(table.astype(np.float32).ravel(), pa.float32())
    return pa.FixedSizeListArray.from_arrays(flat, table.shape[1])


def read_column(rows: pa.RecordBatch) -> NDArray[np.float32] | None:
    """Return the table (n, K) of the items' probabilities, or None; nothing is copied."""
    if rows.schema.names[-1:] != [PROBABILITY]:
        return None
    column = rows.column(rows.num_columns - 1)
    flat = np.asarray(np.from_dlpack(column.flatten()), dtype=np.float32)
    return flat.reshape(rows.num_rows, column.type.list_size)


def write_pool(
    path: Path,
    header: Mapping[str, Any],
    blocks: Iterator[pa.RecordBatch],
    n_blocks: int,
    arrays: Arrays,
) -> tuple[str, Stat]:
    """Write a compiled pool whole or not at all; return its SHA-256 (hex), size and time.

    Args:
        header: without the version, which follows from the number of blocks.
        blocks: the rows, in order; each is written before the next one is asked for.
        n_blocks: how many there are, at least 1.
    """
    first = next(blocks)
    is_one = n_blocks == 1 and "files" not in header
    version = ONE_BLOCK if is_one else WITH_FILES if "files" in header else SEVERAL_BLOCKS
    values = {**header, "version": version}
    text = json.dumps(values, sort_keys=True, separators=(",", ":")).encode()
    metadata = {HEADER_KEY: text}
    for name, array in arrays.items():
        metadata[ARRAY_KEYS[name]] = array.astype(ARRAY_KINDS[name], copy=False).tobytes()
    metadata[CHECKSUM_KEY] = checksum(metadata, first if is_one else None)
    schema = first.schema.with_metadata(metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    # two processes that compile the same pool write to different files
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            sink = _Hashed(file)
            with pa.ipc.new_file(sink, schema) as writer:
                for rows in chain([first], blocks):
                    kept = rows.replace_schema_metadata(metadata)
                    if is_one:
                        writer.write_batch(kept)
                    else:
                        writer.write_batch(kept, custom_metadata={CHECKSUM_KEY: checksum({}, rows)})
            file.flush()
            os.fsync(file.fileno())
        stat = stat_of(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return sink.digest.hexdigest(), stat


def write_again(source: Path, path: Path, more: Mapping[str, Any]) -> None:
    """Write a compiled pool anew, with more in its header; its rows and arrays stay."""
    with pa.OSFile(str(source)) as old, pa.ipc.open_file(old) as reader:
        metadata, n_blocks = reader.schema.metadata, reader.num_record_batches
        header = json.loads(metadata[HEADER_KEY]) | more
        arrays = {
            name: np.frombuffer(metadata[key], dtype=ARRAY_KINDS[name])
            for name, key in ARRAY_KEYS.items()
            if key in metadata
        }
        write_pool(path, header, map(reader.get_batch, range(n_blocks)), n_blocks, arrays)


class _Hashed(io.RawIOBase):
    """A file whose SHA-256 is taken while it is written: it need not be read through again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)


def is_sound(path: Path) -> bool:
    """Whether a compiled file, which can be opened, holds what was written; it is read through.

    It is read, not mapped: what is mapped and read counts as memory of the process.
    """
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        metadata = reader.schema.metadata
        if json.loads(metadata[HEADER_KEY])["version"] == ONE_BLOCK:
            return bool(checksum(metadata, reader.get_batch(0)) == metadata[CHECKSUM_KEY])
        if checksum(metadata, None) != metadata[CHECKSUM_KEY]:
            return False
        for at in range(reader.num_record_batches):
            found = reader.get_batch_with_custom_metadata(at)
            if checksum({}, found.batch) != (found.custom_metadata or {}).get(CHECKSUM_KEY):
                return False
    return True


def checksum(metadata: Mapping[bytes, bytes], rows: pa.RecordBatch | None) -> bytes:
    """Return the SHA-256 (hex) of a header and the arrays beside it, and of all values of rows."""
    digest = hashlib.sha256(metadata.get(HEADER_KEY, b""))
    for key in ARRAY_KEYS.values():
        digest.update(metadata.get(key, b""))
    for column in () if rows is None else rows.columns:
        if pa.types.is_fixed_size_list(column.type):
            column = column.flatten()
        _, *buffers = column.buffers()  # no value is null, so there is no map of nulls
        if pa.types.is_large_string(column.type):
            n_bytes = pc.sum(pc.binary_length(column)).as_py() or 0
            lengths = [(len(column) + 1) * 8, n_bytes]
        else:
            lengths = [len(column) * column.type.bit_width // 8]
        for buffer, length in zip(buffers, lengths, strict=True):
            digest.update(memoryview(buffer)[:length] if buffer is not None else b"")
    return digest.hexdigest().encode()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stat_of(path: Path) -> Stat:
    """Return size and time of the last change of a file."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns
