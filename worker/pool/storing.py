"""How a compiled pool is written, and how a copy of it is told from a wreck."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.typing import NDArray

HEADER_KEY = b"assay_pool"
CHECKSUM_KEY = b"assay_checksum"
# Tables that do not belong to single items; as text they would be large and slow to read.
ARRAY_KEYS = {"mean_probability": b"assay_mean_probability", "costs": b"assay_costs"}
ARRAY_KINDS: dict[str, np.dtype[Any]] = {
    "mean_probability": np.dtype("<f4"),
    "costs": np.dtype("<f8"),
}

Stat = tuple[int, int]  # size in bytes, time of the last change in nanoseconds
Arrays = Mapping[str, NDArray[Any]]


def read_array(metadata: Mapping[bytes, bytes], name: str, n_columns: int) -> NDArray[Any] | None:
    """Return an array (any, n_columns) that stands beside the rows, or None."""
    content = metadata.get(ARRAY_KEYS[name])
    if content is None:
        return None
    flat: NDArray[Any] = np.frombuffer(content, dtype=ARRAY_KINDS[name])
    return flat.reshape(-1, n_columns)


def write_pool(path: Path, header: Mapping[str, Any], rows: pa.RecordBatch, arrays: Arrays) -> None:
    """Write a compiled pool whole or not at all."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    metadata = {HEADER_KEY: text}
    for name, array in arrays.items():
        metadata[ARRAY_KEYS[name]] = array.astype(ARRAY_KINDS[name], copy=False).tobytes()
    metadata[CHECKSUM_KEY] = checksum(metadata, rows)
    rows = rows.replace_schema_metadata(metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    # two processes that compile the same pool write to different files
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            with pa.ipc.new_file(file, rows.schema) as writer:
                writer.write_batch(rows)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def checksum(metadata: Mapping[bytes, bytes], rows: pa.RecordBatch) -> bytes:
    """Return the SHA-256 (hex) of a header, all values and the arrays beside them."""
    digest = hashlib.sha256(metadata[HEADER_KEY])
    for key in ARRAY_KEYS.values():
        digest.update(metadata.get(key, b""))
    for column in rows.columns:
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
