"""The compiled pool: an Arrow file that is mapped into memory, and what its header says.

The rows stand in the order in which they are offered: cell after cell, and within each cell in
the seeded random order. The file carries its own checksum, so that a copy can be told from a wreck.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.pool.files import Files
from worker.pool.gold import GoldItem
from worker.pool.groups import BY_JUDGE
from worker.pool.known import KnownLabels
from worker.pool.models import Models
from worker.pool.opinions import Told
from worker.pool.since import Since
from worker.pool.storing import OWN_COLUMNS, Stat, read_column
from worker.pool.within import Parents


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the pool."""

    row: int
    item_id: str
    predicted: int  # index of a class, or the code that stands for it (`Pool.code`)
    cell: int
    group: int
    data: dict[str, str]  # what annotators see, by their keys
    files: dict[str, int] = field(default_factory=dict)  # keys of paths -> bytes of the file


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
    group_mean_logit: NDArray[np.float64]  # (G,) mean logit of the items' scores; NaN: no items
    unit_names: tuple[str, ...]  # what the metric looks at apart in each group; one if nothing
    cell_group: NDArray[np.int64]  # (C,) ascending
    cell_unit: NDArray[np.int64]  # (C,) ascending in each group, of `groups.unit_codes`
    cell_size: NDArray[np.int64]  # (C,) at least 1
    cell_start: NDArray[np.int64]  # (C,) row of the cell's first item
    cell_mean_score: NDArray[np.float64]  # (C,) in [0, 1]; NaN if the classifier gives no scores
    cell_mean_logit: NDArray[np.float64]  # (C,) of scores, held off 0 and 1 by 1e-7; NaN likewise
    # (C, K) mean probabilities; None where the metric or the predictions have none
    cell_mean_probability: NDArray[np.float32] | None
    costs: NDArray[np.float64] | None  # (K, K) [true, predicted]; None but for the metric cost
    data_keys: tuple[str, ...]
    gold: tuple[GoldItem, ...]  # outside the pool: their rows follow the last one of the pool
    _blocks: tuple[pa.RecordBatch, ...] = field(repr=False)  # the rows; one block unless many
    _block_start: tuple[int, ...] = field(repr=False)  # row of each block's first item
    known: KnownLabels | None = None  # before the assessment began
    since: Since | None = None  # the assessment that this one continues
    models: Models | None = None  # of several: `predicted` is then the code of what they say
    n_prompts: int = 0  # that outputs answer which are compared in pairs; 0: nothing is paired
    parents: Parents | None = None  # what the groups lie within
    # (F, G) level of each group in the factors that it has in common with others, without gaps
    group_levels: NDArray[np.int64] | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)  # rows that were left out, by why
    files: Files | None = None  # of which values are paths
    opinions: tuple[Told, ...] = ()  # what else is known of the items than the score
    # (C,) how many items the score and all opinions are sure of; None if nobody is
    all_sure: NDArray[np.float64] | None = None
    # share of the items that are of the positive class, by its scores: NaN without any; None if
    # there is no such class
    positive_share: float | None = None

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self._block_start[-1] + int(self._blocks[-1].num_rows)

    @property
    def file_keys(self) -> tuple[str, ...]:
        """The data keys whose values are paths of files, which are uploaded."""
        return () if self.files is None else self.files.keys

    def bytes_of(self, key: str) -> NDArray[np.int64]:
        """(n,) of the files of one of `file_keys`; -1 where an item has none."""
        at = len(OWN_COLUMNS) + len(self.data_keys) + self.file_keys.index(key)
        return _joined([np.from_dlpack(block.column(at)) for block in self._blocks])

    def first_data(self, most: int) -> list[pa.Array]:
        """Return what annotators see of the first rows, by the data keys, each as text."""
        shown = slice(len(OWN_COLUMNS), len(OWN_COLUMNS) + len(self.data_keys))
        return [column.slice(0, most) for column in self._blocks[0].columns[shown]]

    @property
    def cell_open(self) -> NDArray[np.int64]:
        """(C,) items of each cell that are not known from the beginning."""
        return self.cell_size - (0 if self.known is None else self.known.n_items)

    @property
    def n_known(self) -> int:
        """How many items are known from the beginning."""
        return 0 if self.known is None else int(self.known.n_items.sum())

    @property
    def labelled_in(self) -> str:
        """The name of the file whose labels are assessed; empty where annotators give them."""
        return "" if self.known is None else self.known.file

    @property
    def beforehand(self) -> NDArray[np.int64] | None:
        """(C,) items of each cell that were known before the assessment; None if none was.

        Labels that are assessed themselves are none of these.
        """
        return None if self.known is None or self.labelled_in else self.known.n_items

    @property
    def has_classes_apart(self) -> bool:
        """Whether the cells' units are the predicted classes."""
        return self.unit_names == self.classes

    @property
    def is_judged(self) -> bool:
        """Whether the cells' units are what a judge calls the outputs."""
        return self.unit_names == BY_JUDGE

    @property
    def has_scores(self) -> bool:
        """Whether the classifier says how sure it is."""
        return not np.isnan(self.cell_mean_score[0])

    @property
    def item_ids(self) -> pa.Array | pa.ChunkedArray:
        """(n,) text, in the order of the rows; in chunks if the pool is large."""
        columns = [block.column(0) for block in self._blocks]
        return columns[0] if len(columns) == 1 else pa.chunked_array(columns)

    @property
    def predicted(self) -> NDArray[np.int32]:
        """(n,) index of the predicted class, in the order of the rows; copied if in blocks."""
        return self.code if not self.n_prompts else np.zeros(self.n_items, dtype=np.int32)

    @property
    def code(self) -> NDArray[np.int32]:
        """(n,) what the tally counts items apart by: the predicted class, or the output's prompt.

        (All outputs are taken for right, the first class.)
        """
        # `to_numpy` would import pandas
        return _joined([np.from_dlpack(block.column(1)) for block in self._blocks])

    @property
    def score(self) -> NDArray[np.float32]:
        """(n,) in the order of the rows; NaN if the classifier gives none; copied if in blocks."""
        return _joined([np.from_dlpack(block.column(2)) for block in self._blocks])

    @property
    def probability(self) -> NDArray[np.float32] | None:
        """(n, K) of every class, in the order of the rows; None but for the task evaluate."""
        tables = [table for block in self._blocks if (table := read_column(block)) is not None]
        return _joined(tables) if tables else None

    @property
    def n_cells(self) -> int:
        """How many cells there are; none is empty."""
        return len(self.cell_group)

    def item(self, row: int) -> Item:
        """Return the item in a row, 0 ... n_items - 1, or the gold items' rows after these.

        A gold item has cell and group -1, and its known class for the predicted one.
        """
        if self.n_items <= row < self.n_items + len(self.gold):
            known = self.gold[row - self.n_items]
            sizes = () if self.files is None else self.files.gold[row - self.n_items]
            own = row, known.item_id, known.truth, -1, -1, known.data
            return Item(*own, files=self._files(sizes))
        if not 0 <= row < self.n_items:
            raise IndexError(f"came row {row}, but the pool has rows 0 to {self.n_items - 1}")
        at = bisect_right(self._block_start, row) - 1
        n_shown = len(OWN_COLUMNS) + len(self.data_keys)
        columns = self._blocks[at].columns[: n_shown + len(self.file_keys)]
        place = row - self._block_start[at]
        values = [column[place].as_py() for column in columns]
        item_id, predicted, _, cell, *data = values[:n_shown]
        return Item(
            row=row,
            item_id=item_id,
            predicted=predicted,
            cell=cell,
            group=int(self.cell_group[cell]),
            data=dict(zip(self.data_keys, data, strict=True)),
            files=self._files(values[n_shown:]),
        )

    def _files(self, sizes: Iterable[int]) -> dict[str, int]:
        of = zip(self.file_keys, sizes, strict=True)
        return {key: size for key, size in of if size >= 0}

    def next_row(self, cell: int, left: int) -> int:
        """Return the row that a cell offers next, of which so many items were not offered yet.

        The gold items, cell -1, follow the pool; the known items of a cell are its first ones.
        """
        if cell < 0:
            return self.n_items + len(self.gold) - left
        return int(self.cell_start[cell] + self.cell_size[cell]) - left

    def rows_of(self, cell: int) -> range:
        """Return the rows of a cell, in the order in which they are offered."""
        start = int(self.cell_start[cell])
        return range(start, start + int(self.cell_size[cell]))

    def find(self, item_ids: Iterable[str]) -> dict[str, int]:
        """Return the rows of those ids that are in the pool, or gold; looks through all of it."""
        wanted = pa.array(list(item_ids), type=pa.large_string())
        found = {}
        for start, block in zip(self._block_start, self._blocks, strict=True):
            ids = block.column(0)
            is_asked = pc.is_in(ids, value_set=wanted).to_numpy(zero_copy_only=False)
            for place in np.flatnonzero(is_asked).tolist():
                found[ids[place].as_py()] = start + place
        asked = set(wanted.to_pylist())
        gold = enumerate(self.gold, start=self.n_items)
        return found | {known.item_id: row for row, known in gold if known.item_id in asked}

    def empty_groups(self) -> tuple[str, ...]:
        """Return the names of the groups without items."""
        sizes = zip(self.group_names, self.group_size, strict=True)
        return tuple(name for name, size in sizes if not size)


def _joined(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.asarray(pieces[0]) if len(pieces) == 1 else np.concatenate(pieces)
