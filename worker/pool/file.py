"""The compiled pool: an Arrow file that is mapped into memory, and what its header says.

The rows stand in the order in which they are offered: cell after cell, and within each cell in
the seeded random order. The file carries its own checksum, so that a copy can be told from a wreck.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.typing import NDArray

from worker.errors import PoolChanged

FORMAT_VERSION = 1
HEADER_KEY = b"assay_pool"
CHECKSUM_KEY = b"assay_checksum"
OWN_COLUMNS = ("item_id", "predicted", "score", "cell")  # the annotators' columns follow these

_DAMAGED = "the compiled pool is damaged; delete it and compile it again"

Stat = tuple[int, int]  # size in bytes, time of the last change in nanoseconds


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the pool."""

    row: int
    item_id: str
    predicted: int  # index of a class
    cell: int
    group: int
    data: dict[str, str]  # what annotators see, by their keys


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """All items with their classes, groups and cells; never changes once it is compiled."""

    path: Path
    hash: str  # of what it was compiled from (hex)
    file_sha256: str  # of the compiled file (hex)
    stat: Stat  # of the compiled file when it was last found to have that SHA-256
    sources: tuple[tuple[str, str], ...]  # name and SHA-256 of each file it was compiled from
    seed: int
    classes: tuple[str, ...]  # K
    group_names: tuple[str, ...]  # G, also of groups without items
    group_size: NDArray[np.int64]  # (G,)
    cell_group: NDArray[np.int64]  # (C,) ascending
    cell_size: NDArray[np.int64]  # (C,) at least 1
    cell_start: NDArray[np.int64]  # (C,) row of the cell's first item
    cell_mean_score: NDArray[np.float64]  # (C,) in [0, 1]
    data_keys: tuple[str, ...]
    _rows: pa.RecordBatch = field(repr=False)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self._rows.num_rows)

    @property
    def n_cells(self) -> int:
        """How many cells there are; none is empty."""
        return len(self.cell_group)

    def item(self, row: int) -> Item:
        """Return the item in a row, 0 ... n_items - 1."""
        if not 0 <= row < self.n_items:
            raise IndexError(f"came row {row}, but the pool has rows 0 to {self.n_items - 1}")
        item_id, predicted, _, cell, *data = (column[row].as_py() for column in self._rows.columns)
        return Item(
            row=row,
            item_id=item_id,
            predicted=predicted,
            cell=cell,
            group=int(self.cell_group[cell]),
            data=dict(zip(self.data_keys, data, strict=True)),
        )

    def rows_of(self, cell: int) -> range:
        """Return the rows of a cell, in the order in which they are offered."""
        start = int(self.cell_start[cell])
        return range(start, start + int(self.cell_size[cell]))

    def find(self, item_ids: Iterable[str]) -> dict[str, int]:
        """Return the rows of those ids that are in the pool; looks through the whole pool."""
        wanted = pa.array(list(item_ids), type=pa.large_string())
        ids = self._rows.column(0)
        rows = np.flatnonzero(pc.is_in(ids, value_set=wanted).to_numpy(zero_copy_only=False))
        return {ids[int(row)].as_py(): int(row) for row in rows}

    def empty_groups(self) -> tuple[str, ...]:
        """Return the names of the groups without items."""
        return tuple(
            name for name, size in zip(self.group_names, self.group_size, strict=True) if not size
        )


def open_pool(
    path: Path | str, file_sha256: str | None = None, trusted_stat: Stat | None = None
) -> Pool:
    """Map a compiled pool into memory.

    Args:
        path: the compiled file.
        file_sha256: what `Pool.file_sha256` was when it was compiled; without it the file is
            checked against the checksum that it carries.
        trusted_stat: `Pool.stat` of an earlier opening; while size and time are the same the file
            is not read through again, and opening takes time by the number of cells only.

    Raises:
        PoolChanged: the file is gone, cut off, or has other content.
    """
    path = Path(path)
    try:
        stat = stat_of(path)
        found = sha256_of(path) if file_sha256 is None or stat != trusted_stat else file_sha256
        if file_sha256 is not None and found != file_sha256:
            raise PoolChanged(
                f"{path}: the compiled pool is not the one of this assessment (its SHA-256 begins "
                f"with {found[:12]}, expected {file_sha256[:12]}). Put the old file back, or "
                "delete it and compile it again from the same plan and predictions"
            )
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            metadata, rows = reader.schema.metadata or {}, reader.get_batch(0)
        header = json.loads(metadata[HEADER_KEY])
        version, carried = header["version"], metadata[CHECKSUM_KEY]
    except FileNotFoundError:
        raise PoolChanged(
            f"{path}: the compiled pool is gone; put it back, or compile it again from the same "
            "plan and predictions"
        ) from None
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        raise PoolChanged(f"{path}: {_DAMAGED} ({error})") from error
    if version != FORMAT_VERSION:
        raise PoolChanged(
            f"{path}: the compiled pool has format {version}, but this release reads "
            f"{FORMAT_VERSION}; finish the assessment with the release that began it"
        )
    if file_sha256 is None and checksum(metadata[HEADER_KEY], rows) != carried:
        raise PoolChanged(f"{path}: {_DAMAGED}")
    return _pool(path, found, stat, header, rows)


def write_pool(path: Path, header: Mapping[str, Any], rows: pa.RecordBatch) -> None:
    """Write a compiled pool whole or not at all."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    metadata = {HEADER_KEY: text, CHECKSUM_KEY: checksum(text, rows)}
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


def checksum(header: bytes, rows: pa.RecordBatch) -> bytes:
    """Return the SHA-256 (hex) of a header and all values."""
    digest = hashlib.sha256(header)
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


def _pool(
    path: Path, file_sha256: str, stat: Stat, header: Mapping[str, Any], rows: pa.RecordBatch
) -> Pool:
    cells = header["cells"]
    return Pool(
        path=path,
        hash=header["pool_hash"],
        file_sha256=file_sha256,
        stat=stat,
        sources=tuple((name, sha256) for name, sha256 in header["sources"]),
        seed=header["seed"],
        classes=tuple(header["classes"]),
        group_names=tuple(header["group_names"]),
        group_size=np.array(header["group_sizes"], dtype=np.int64),
        cell_group=np.array(cells["group"], dtype=np.int64),
        cell_size=np.array(cells["size"], dtype=np.int64),
        cell_start=np.array(cells["start"], dtype=np.int64),
        cell_mean_score=np.array(cells["mean_score"], dtype=np.float64),
        data_keys=tuple(header["columns"][len(OWN_COLUMNS) :]),
        _rows=rows,
    )
