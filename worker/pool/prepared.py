"""The file that a pool is compiled from: the plan's, or one made of it.

Made are sites joined with a column that names the site, and files without the rows that the plan
leaves out. Everything that reads predictions reads this file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.plan.pool_fields import Droppable
from worker.plan.pool_part import PoolPlan
from worker.pool.faults import Faults
from worker.pool.files_finding import folder_of
from worker.pool.media_paths import made_whole
from worker.pool.predictions import read_predictions
from worker.pool.sites import (
    alone,
    check_ids_of_sites,
    columns_of_all,
    columns_of_paths,
    text_column,
)
from worker.pool.sources import prediction_files
from worker.pool.storing import sha256_of
from worker.pool.tables import Wanted, pieces
from worker.pool.texts import Texts

_DROPPED = b"assay_dropped"

Rows = NDArray[np.int64]


def prepared(pool: PoolPlan, folder: Path, named: PoolPlan | None = None) -> PoolPlan:
    """Return the pool with the one file of predictions that is read, in `folder` if it was made.

    The same files and plan give the same one, which is used again. It has the columns that all
    files have, as text where they are no numbers; paths that are relative to different folders are
    whole in it.

    Args:
        named: with the files as the plan names them, if `pool` has copies of some.

    Raises:
        PredictionsError: a file cannot be read, lacks a column or has faults that are not left out
            (names all of them), or an id is in two files.
    """
    if pool.sites is None and pool.drop is None:
        return pool
    files = prediction_files(pool)
    names = tuple(pool.sites or ("",))
    folders = [folder_of(path) for path in prediction_files(named or pool)]
    digest = hashlib.sha256(f"{pool.site}".encode())
    if len(set(folders)) > 1:
        digest.update(repr(folders).encode())
    for name, path in zip(names, files, strict=True):
        try:
            digest.update(f"\0{name}\0{sha256_of(path)}".encode())
        except OSError as error:
            raise PredictionsError(f"{path}: it cannot be read ({error.strerror})") from error
    used = (pool.id, pool.probabilities, pool.predicted, pool.score, pool.classes)
    said = [one.columns for one in pool.opinions or () if one.predictions is None]
    used_too = (pool.coded_columns, sorted(pool.data.values()), pool.drop, *said)
    digest.update(repr((*used, *used_too)).encode())
    made = folder / "sources" / f"prepared-{digest.hexdigest()[:32]}.parquet"
    if not made.exists():
        wanted = columns_of_all(pool, files)
        left_out = {path: _left_out(pool, path, folder) for path in files}
        if pool.sites is not None:
            check_ids_of_sites(pool)
        parts = list(zip(names, files, folders, strict=True))
        _write(pool, parts, wanted, left_out, made)
    return pool.model_copy(update={"predictions": made})


def n_dropped(pool: PoolPlan) -> dict[str, int]:
    """Return how many rows a prepared pool leaves out, by why, where there are any."""
    if pool.drop is None:
        return {}
    counts: dict[str, int] = json.loads(pq.read_schema(pool.predictions).metadata[_DROPPED])
    return counts


def _left_out(pool: PoolPlan, path: Path, folder: Path) -> dict[Droppable, Rows]:
    """The rows of a file that are left out, by why; other faults are refused."""
    if pool.drop is None:
        return {}
    faults = Faults(path, may_drop=True)
    with closing(Texts(folder)) as texts:
        n_items = read_predictions(alone(pool, path), texts, faults=faults).n_items
    found = faults.leave_out(pool.drop)
    faults.refuse()
    if sum(rows.size for rows in found.values()) == n_items:
        raise PredictionsError(f"{path}: `pool.drop` leaves all of its {n_items:,} rows out")
    return found


def _write(
    pool: PoolPlan,
    files: Sequence[tuple[str, Path, str | None]],
    wanted: Wanted,
    left_out: Mapping[Path, Mapping[Droppable, Rows]],
    made: Path,
) -> None:
    """Write the file whole or not at all.

    Args:
        files: of each site its name, its file, and the folder of that as the plan names it.
    """
    paths = columns_of_paths(pool, [folder for *_, folder in files])
    made.parent.mkdir(parents=True, exist_ok=True)
    part = made.with_name(f".{made.name}.{os.getpid()}.part")
    writer: pq.ParquetWriter | None = None
    counts = {
        kind: sum(found[kind].size for found in left_out.values() if kind in found)
        for kind in pool.drop or ()
    }
    told = {_DROPPED: json.dumps({kind: n for kind, n in counts.items() if n})}
    try:
        for name, path, folder in files:
            for whole in _kept(path, wanted, left_out[path]):
                for column in paths:
                    what = f"{path}: the column {column}"
                    found = made_whole(what, folder, text_column(whole, column))
                    whole = whole.set_column(whole.schema.get_field_index(column), column, found)
                if pool.sites is not None:
                    site = pa.array([name] * whole.num_rows, pa.string())
                    whole = whole.append_column(str(pool.site), site)
                if writer is None:
                    writer = pq.ParquetWriter(part, whole.schema.with_metadata(told))
                writer.write_batch(whole.cast(writer.schema))
        assert writer is not None, "every file has rows"
        writer.close()
        part.replace(made)
    finally:
        part.unlink(missing_ok=True)


def _kept(
    path: Path, wanted: Wanted, left_out: Mapping[Droppable, Rows]
) -> Iterator[pa.RecordBatch]:
    gone, n_before = np.sort(np.concatenate([np.empty(0, int), *left_out.values()])) - 1, 0
    for piece in pieces(path, wanted):
        here = gone[np.searchsorted(gone, n_before) : np.searchsorted(gone, n_before + len(piece))]
        is_kept = np.ones(piece.num_rows, dtype=bool)
        is_kept[here - n_before] = False
        n_before += piece.num_rows
        yield piece.filter(pa.array(is_kept)) if here.size else piece
