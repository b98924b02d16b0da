"""Whether a compiled pool is as we write them: an import may bring any file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.pool.storing import OWN_COLUMNS, PROBABILITY
from worker.pool.unpacked import is_packed

if TYPE_CHECKING:
    from worker.pool.file import Pool


def check_columns(path: Path, schema: pa.Schema) -> None:
    """Check that the rows lie in the file as we write them, before Arrow unpacks anything.

    Raises:
        ValueError: they do not.
    """
    with path.open("rb") as file:
        if is_packed(file):
            raise ValueError("its rows are packed")
    types = list(schema.types)
    if schema.names[-1:] == [PROBABILITY]:
        table = types.pop()
        if not pa.types.is_fixed_size_list(table) or table.value_type != pa.float32():
            raise ValueError(f"its probabilities are {table}")
    own, shown = types[: len(OWN_COLUMNS)], types[len(OWN_COLUMNS) :]
    if own != [pa.large_string(), pa.int32(), pa.float32(), pa.int32()]:
        raise ValueError(f"its columns are {own}")
    while shown and shown[-1] == pa.int64():  # sizes of files
        shown.pop()
    if any(kind != pa.large_string() for kind in shown):
        raise ValueError("what it shows is no text")


def check_values(blocks: Iterable[pa.RecordBatch]) -> None:
    """Check that every offset of a text lies inside of its values, as what is mapped is believed.

    Raises:
        ValueError, pa.ArrowException: it does not, or a value is missing.
    """
    for block in blocks:
        block.validate(full=True)
        if any(column.null_count for column in block.columns):
            raise ValueError("a value is missing")


def check_divided(pool: Pool, blocks: Sequence[pa.RecordBatch]) -> None:
    """Check that the cells divide the rows among them, and that each row lies in its own.

    Raises:
        ValueError, LookupError, TypeError: they do not, or something is no list or number.
    """
    _check_named(pool)
    _check_cells(pool)
    start, first, ends = 0, pool.cell_start, pool.cell_start + pool.cell_size
    for block in blocks:
        _check_shown(pool, block.schema.types[len(OWN_COLUMNS) :])
        stop = start + block.num_rows
        inside = np.clip(ends, start, stop) - np.clip(first, start, stop)
        expected = np.repeat(np.arange(pool.n_cells, dtype=np.int32), inside)
        if (np.from_dlpack(block.column(3)) != expected).any():
            raise ValueError("a row is not in its cell")
        code = np.from_dlpack(block.column(1))
        if (code < 0).any() or (code >= _n_codes(pool)).any():
            raise ValueError("a row has a class that there is not")
        start = stop


def _n_codes(pool: Pool) -> int:
    """Of several models a code stands for what all of them say, of pairs for a prompt."""
    if pool.models is not None:
        return len(pool.models.said)
    return pool.n_prompts or len(pool.classes)


def _check_shown(pool: Pool, types: Sequence[pa.DataType]) -> None:
    keys = () if pool.files is None else pool.files.keys
    expected = [pa.large_string()] * len(pool.data_keys) + [pa.int64()] * len(keys)
    if types[: len(expected)] != expected:
        raise ValueError("what it shows is not there")
    n_gold = len(pool.gold) if pool.files else 0
    if not set(keys) <= set(pool.data_keys) or (
        pool.files and [len(of) for of in pool.files.gold] != [len(keys)] * n_gold
    ):
        raise ValueError("its files are of nothing that it shows")


def _check_named(pool: Pool) -> None:
    names = (*pool.classes, *pool.group_names, *pool.unit_names, *pool.data_keys)
    shown = [text for known in pool.gold for text in (known.item_id, *known.data.values())]
    if not all(isinstance(name, str) for name in (*names, *shown)):
        raise ValueError("a name is no text")
    for known in pool.gold:
        if not 0 <= known.truth < len(pool.classes) or set(known.data) != set(pool.data_keys):
            raise ValueError("a gold item is none")


def _check_cells(pool: Pool) -> None:
    n, groups = len(pool.cell_group), len(pool.group_names)
    whole = (pool.cell_group, pool.cell_unit, pool.cell_size, pool.cell_start)
    means = (pool.cell_mean_score, pool.cell_mean_logit)
    if {one.shape for one in whole} | {one.shape for one in means} != {(n,)}:
        raise ValueError("its cells are not all described")
    if {pool.group_size.shape, pool.group_mean_logit.shape} != {(groups,)}:
        raise ValueError("its groups are not all described")
    if not _are_places(pool.cell_group, groups) or not _are_places(
        pool.cell_unit, len(pool.unit_names)
    ):
        raise ValueError("a cell is in no group or unit")
    if not n or (pool.cell_size < 1).any() or (pool.cell_size > pool.n_items).any():
        raise ValueError("a cell has a size that none can have")
    ends = np.cumsum(pool.cell_size)
    if ends[-1] != pool.n_items or (pool.cell_start != ends - pool.cell_size).any():
        raise ValueError("its cells do not follow each other through its rows")
    if (np.bincount(pool.cell_group, pool.cell_size, groups) != pool.group_size).any():
        raise ValueError("its groups are not as large as their cells")
    if pool.group_levels is not None and pool.group_levels.shape[1:] != (groups,):
        raise ValueError("a group has no level of a factor")
    if pool.known is not None:
        known = pool.known.n_items
        if known.shape != (n,) or (known < 0).any() or (known > pool.cell_size).any():
            raise ValueError("more items of a cell are known than it has")


def _are_places(places: NDArray[np.int64], n: int) -> bool:
    return bool(((places >= 0) & (places < n)).all())
