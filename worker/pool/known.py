"""Items whose class was known before the assessment began: annotations that a project had already,
or the labels of a file (`worker.pool.labels`).

`known`: their outcomes are part of the finite population's value, but tell nothing of the others,
because nobody knows why these items were annotated. They lie in cells of their own, which are
exhausted from the beginning. `random`: they are a simple random sample, so they lie in the ordinary
cells, ahead of all others, and count as labels do.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from worker.plan.pool_part import PoolPlan
from worker.plan.project_part import LABEL, Existing
from worker.pool.ordering import counted, places
from worker.store.tally import read_tally_key

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class KnownLabels:
    """The labels that a pool begins with.

    n_items: (C,) items of each cell that are known; their rows are the cell's first ones.
    tally: how often each label was given; keys as of `worker.store.tally.tally_key`, all of
        epoch 0.
    file: the name of the file that they are from; empty: they are a project's annotations.
    """

    use: Existing
    n_items: NDArray[np.int64]
    tally: Mapping[str, int]
    file: str = ""

    def as_json(self) -> dict[str, Any]:
        """What the compiled pool's header holds; `known_from` reads it."""
        of_file = {"file": self.file} if self.file else {}
        own = {"use": self.use, "n_items": self.n_items.tolist(), "tally": dict(self.tally)}
        return own | of_file


def known_from(header: Mapping[str, Any]) -> KnownLabels | None:
    """Read what `as_json` wrote into a header."""
    if "known" not in header:
        return None
    raw = header["known"]
    n_items = np.array(raw["n_items"], dtype=np.int64)
    return KnownLabels(raw["use"], n_items, raw["tally"], raw.get("file", ""))


def read_known(pool: PoolPlan) -> pa.Array | None:
    """The known label of every item, (n,) text or null, in the file's order; None if none is."""
    if pool.project is None:
        return None
    labels = pq.read_table(pool.predictions, columns=[LABEL]).column(LABEL).combine_chunks()
    return labels if labels.null_count < len(labels) else None


def set_apart(
    is_known: NDArray[np.bool_], cell: Codes, cell_group: Codes, cell_unit: Codes
) -> tuple[Codes, Codes, Codes]:
    """Move known items into cells of their own, the last ones of their group and unit.

    Args:
        is_known: (n,). cell: (n,). cell_group, cell_unit: (C,), as of `cell_codes`.

    Returns:
        The same three for the new cells, in the order of group, unit, stratum.
    """
    n_cells = cell_group.size
    is_new = (np.diff(cell_group, prepend=-1) != 0) | (np.diff(cell_unit, prepend=-1) != 0)
    place = np.cumsum(is_new)[cell].astype(np.int64)  # of the pair of group and unit
    codes = place * (n_cells + 1) + np.where(is_known, n_cells, cell)
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    before = cell[first]
    return which.astype(np.int32), cell_group[before], cell_unit[before]


def known_labels(
    use: Existing, labels: pa.Array, cell: Codes, predicted: Codes, n_cells: int, file: str = ""
) -> KnownLabels:
    """Count the known labels."""
    at = np.flatnonzero(~labels.is_null().to_numpy(zero_copy_only=False))
    said = labels.take(pa.array(at)).to_pylist()
    keys = zip(cell[at].tolist(), predicted[at].tolist(), said, strict=True)
    tally = Counter(f"0:{c}:{p}:{label}" for c, p, label in keys)
    n_items = np.bincount(cell[at], minlength=n_cells).astype(np.int64)
    return KnownLabels(use, n_items, dict(sorted(tally.items())), file)


def places_after_known(
    labels: pa.Array, cell: Codes, n_cells: int, seed: int, prompt: Codes | None = None
) -> NDArray[np.integer[Any]]:
    """As `places`, with the known items of every cell before all its others, by their labels.

    So the tally tells which item has which label (`labels_of_rows`). Nobody is offered these.
    """
    said = labels.to_pylist()
    rank = {name: k for k, name in enumerate(sorted({name for name in said if name is not None}))}
    place = np.array([rank.get(name, len(rank)) for name in said], dtype=np.int64)
    _, code = np.unique(cell * (len(rank) + 1) + place, return_inverse=True)
    of_cell = code.astype(np.int32)
    return places(of_cell, counted(of_cell, int(code.max()) + 1), seed, prompt)


def labels_of_rows(
    known: KnownLabels, start: NDArray[np.int64], predicted: Codes
) -> tuple[NDArray[np.int64], list[str]]:
    """The rows of the known items, and their labels.

    In pools that were compiled before known items were put in order, items of one cell and one
    predicted class may have each other's labels.

    Args:
        start: (C,) row of each cell's first item. predicted: (N,) `Pool.code`.
    """
    cell = np.repeat(np.arange(start.size), known.n_items)
    first = np.cumsum(known.n_items) - known.n_items
    rows = start[cell] + np.arange(cell.size) - first[cell]
    rows = rows[np.lexsort((rows, predicted[rows], cell))]
    told = sorted((*read_tally_key(key)[1:], n) for key, n in known.tally.items())
    return rows, [label for _, _, label, n in told for _ in range(n)]
