"""Whether what a compiled pool says of its cells is so, as an import may bring any file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from worker.pool.file import Pool


def check_cells(pool: Pool) -> None:
    """Check that the cells divide the rows among them, and that each row lies in its own.

    Raises:
        ValueError: they do not.
    """
    n, groups = pool.n_cells, len(pool.group_names)
    if not all(isinstance(name, str) for name in (*pool.group_names, *pool.data_keys)):
        raise ValueError("a name is no text")
    kept = (pool.cell_unit, pool.cell_size, pool.cell_start, pool.cell_mean_score)
    if any(len(one) != n or one.ndim != 1 for one in (*kept, pool.cell_mean_logit)):
        raise ValueError("its cells are not all described")
    if len(pool.group_size) != groups or len(pool.group_mean_logit) != groups:
        raise ValueError("its groups are not all described")
    if not ((pool.cell_group >= 0) & (pool.cell_group < groups)).all():
        raise ValueError("a cell is in no group")
    ends = np.cumsum(pool.cell_size)
    if (pool.cell_size < 1).any() or ends[-1] != pool.n_items:
        raise ValueError("its cells have other rows than it has")
    if (pool.cell_start != ends - pool.cell_size).any():
        raise ValueError("its cells do not follow each other")
    for start, block in zip(pool._block_start, pool._blocks, strict=True):
        cell = np.from_dlpack(block.column(3))
        row = np.arange(start, start + len(cell))
        if (np.searchsorted(ends, row, side="right") != cell).any():
            raise ValueError("a row is not in its cell")
