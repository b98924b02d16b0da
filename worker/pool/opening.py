"""Opening a compiled pool: its file is mapped into memory, and what its header says is checked."""

import json
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from worker.errors import PoolChanged
from worker.pool.file import Pool
from worker.pool.files import files_from
from worker.pool.gold import GoldItem
from worker.pool.known import known_from
from worker.pool.models import models_from
from worker.pool.opinions import all_sure_from, opinions_from
from worker.pool.since import since_from
from worker.pool.sound import check_columns, check_divided, check_values
from worker.pool.storing import (
    FORMATS,
    HEADER_KEY,
    OWN_COLUMNS,
    Stat,
    is_sound,
    read_array,
    sha256_of,
    stat_of,
)
from worker.pool.within import levels_from, parents_from

_DAMAGED = "the compiled pool is damaged; delete it and compile it again"


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
        is_trusted = file_sha256 is not None and stat == trusted_stat
        found = file_sha256 if is_trusted and file_sha256 else sha256_of(path)
        if file_sha256 is not None and found != file_sha256:
            raise PoolChanged(
                f"{path}: the compiled pool is not the one of this assessment (its SHA-256 begins "
                f"with {found[:12]}, expected {file_sha256[:12]}). Put the old file back, or "
                "delete it and compile it again from the same plan and predictions"
            )
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            metadata = reader.schema.metadata or {}
            if not is_trusted:
                check_columns(path, reader.schema)
            blocks = tuple(reader.get_batch(at) for at in range(reader.num_record_batches))
        if not is_trusted:
            check_values(blocks)
        header = json.loads(metadata[HEADER_KEY])
        if not isinstance(header, dict):
            raise ValueError(f"its header is {header!r:.100}")
        version = header["version"]
        is_known = version in FORMATS
        is_whole = not is_known or sum(block.num_rows for block in blocks) == header["n_items"]
        if file_sha256 is None and is_known and is_whole:
            is_whole = is_sound(path)
    except FileNotFoundError:
        raise PoolChanged(
            f"{path}: the compiled pool is gone; put it back, or compile it again from the same "
            "plan and predictions"
        ) from None
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        raise PoolChanged(f"{path}: {_DAMAGED} ({error})") from error
    if not is_known:
        raise PoolChanged(
            f"{path}: the compiled pool has format {version}, but this release reads "
            "2, 3 and 4; finish it with the release that began it"
        )
    if not is_whole:
        raise PoolChanged(f"{path}: {_DAMAGED}")
    try:
        pool = _pool(path, found, stat, header, metadata, blocks)
        if not is_trusted:
            check_divided(pool, blocks)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise PoolChanged(f"{path}: {_DAMAGED} ({error})") from error
    return pool


def open_kept(path: Path) -> Pool | None:
    """Open the compiled pool that is there already, if any; a damaged one goes."""
    if path.exists():
        try:
            return open_pool(path)
        except PoolChanged:
            path.unlink(missing_ok=True)
    return None


def _positive_share(header: Mapping[str, Any]) -> float | None:
    if "positive_share" not in header:
        return None
    share = header["positive_share"]
    return np.nan if share is None else float(share)


def _pool(
    path: Path,
    file_sha256: str,
    stat: Stat,
    header: Mapping[str, Any],
    metadata: Mapping[bytes, bytes],
    blocks: tuple[pa.RecordBatch, ...],
) -> Pool:
    cells, n_classes = header["cells"], len(header["classes"])
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
        group_mean_logit=np.array(header["group_mean_logit"], dtype=np.float64),
        unit_names=tuple(header["units"]),
        cell_group=np.array(cells["group"], dtype=np.int64),
        cell_unit=np.array(cells["unit"], dtype=np.int64),
        cell_size=np.array(cells["size"], dtype=np.int64),
        cell_start=np.array(cells["start"], dtype=np.int64),
        cell_mean_score=np.array(cells["mean_score"], dtype=np.float64),
        cell_mean_logit=np.array(cells["mean_logit"], dtype=np.float64),
        cell_mean_probability=read_array(metadata, "mean_probability", n_classes),
        costs=read_array(metadata, "costs", n_classes),
        data_keys=tuple(header["columns"][len(OWN_COLUMNS) :]),
        gold=tuple(GoldItem(*known) for known in header.get("gold", ())),
        _blocks=blocks,
        _block_start=tuple(accumulate((block.num_rows for block in blocks[:-1]), initial=0)),
        known=known_from(header),
        since=since_from(header),
        models=models_from(header, metadata),
        n_prompts=int(header.get("n_prompts", 0)),
        parents=parents_from(header),
        group_levels=levels_from(header),
        dropped={str(kind): int(n) for kind, n in header.get("dropped", {}).items()},
        files=files_from(header),
        opinions=opinions_from(header),
        all_sure=all_sure_from(header),
        positive_share=_positive_share(header),
    )
