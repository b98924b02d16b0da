"""Which of the annotators' columns hold paths of files here, and what a pool keeps of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.plan import canonical_json
from worker.plan.addresses import address
from worker.plan.annotation_part import GoldPlan
from worker.plan.pool_part import PoolPlan
from worker.pool.file import Pool
from worker.pool.files_checking import Ints, sizes_of
from worker.pool.media_paths import are_paths, is_path, made_whole, suffixes
from worker.pool.ordering import moved
from worker.pool.texts import Texts

_LOOKED_AT = 1_000  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Keys whose values are paths of files, relative to `folder`.

    sizes: of each key the bytes (n,) of its files, in the order of the predictions; -1 where a
    value is no path.
    """

    folder: str
    sizes: Mapping[str, Ints]

    def added_to(
        self, header: Mapping[str, Any], base: str, gold: GoldPlan | None
    ) -> tuple[dict[str, Any], str]:
        """Return the header of a compiled pool with these files, and the hash (hex) of the pool.

        Paths of gold items that are relative to another folder are made whole.

        Args:
            header: without them.
            base: the pool's hash but for the files.

        Raises:
            PredictionsError: as `sizes_of`, of the gold items' files.
        """
        sizes = []
        if gold is not None:
            items: list[dict[str, str]] = [data for *_, data in header["gold"]]
            sizes = [self._of_gold(key, items, gold.items) for key in self.sizes]
        of_gold = [list(of) for of in zip(*sizes, strict=True)]
        told = {"keys": list(self.sizes), "folder": self.folder, "base": base, "gold": of_gold}
        digest = hashlib.sha256(canonical_json(told).encode())
        for key in self.sizes:  # each file may be another one
            digest.update(self.sizes[key].astype("<i8").tobytes())
        return {**header, "files": told}, digest.hexdigest()

    def _of_gold(self, key: str, items: Sequence[dict[str, str]], file: Path) -> list[int]:
        values = pa.array([data[key] for data in items], pa.large_string())
        what, folder = f"{file}: what `pool.data.{key}` shows", folder_of(file)
        sizes: list[int] = sizes_of(what, folder, lambda: [values], len(items)).tolist()
        if folder != self.folder:
            whole = made_whole(what, folder, values)
            for data, value in zip(items, whole.to_pylist(), strict=True):
                data[key] = value
        return sizes


class Shown:
    """What annotators are shown of texts: ids, and values that are no paths.

    Of a path they see the suffix alone; those of each key are a column of their own, behind the
    others.
    """

    def __init__(self, texts: Texts, pool: PoolPlan, keys: Iterable[str]) -> None:
        self.n_rows, self._texts, self._n_shown = texts.n_rows, texts, 1 + len(pool.data)
        self._at = [at for at, key in enumerate(pool.data, start=1) if key in set(keys)]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for piece in self._texts:
            columns = piece.columns[: self._n_shown]
            is_paths = [is_path(columns[at]) for at in self._at]
            of_paths = [
                pc.if_else(is_one, suffixes(columns[at]), "")
                for at, is_one in zip(self._at, is_paths, strict=True)
            ]
            for at, is_one in zip(self._at, is_paths, strict=True):
                columns[at] = pc.if_else(is_one, "", columns[at])
            columns += of_paths
            yield pa.RecordBatch.from_arrays(columns, names=[f"{at}" for at in range(len(columns))])


def folder_of(file: Path) -> str | None:
    """Return the folder to which the paths in a file are relative; None if it is elsewhere."""
    if address(file):
        return None
    whole = file.absolute()
    return str(whole if whole.is_dir() else whole.parent)


def find_files(pool: PoolPlan, named: Path, texts: Texts) -> Found | None:
    """Find the keys whose values are paths of files, and look at every file.

    Args:
        pool: with the file that was read into `texts`.
        named: the file as the plan names it.

    Raises:
        PredictionsError: as `sizes_of`.
    """
    if pool.project is not None:  # a project's tasks show what they do there
        return None
    folder, sizes = folder_of(named), {}
    for at, (key, name) in enumerate(pool.data.items(), start=1):
        pieces = partial(_column, texts, at)
        if are_paths(pieces()):
            what = f"{pool.predictions}: the column {name} (`pool.data.{key}`)"
            sizes[key] = sizes_of(what, folder, pieces, texts.n_rows)
    return Found(folder or "/", sizes) if sizes else None


def shows_paths(pool: Pool) -> bool:
    """Whether annotators would be shown paths: an older release compiled the pool."""
    return any(are_paths([column]) for column in pool.first_data(_LOOKED_AT))


def _column(texts: Texts, at: int) -> Iterator[pa.Array]:
    return (piece.column(at) for piece in texts)


def with_sizes(
    texts: Iterator[tuple[slice, pa.RecordBatch]],
    files: Found | None,
    place: NDArray[np.integer[Any]],
    at: int,
) -> Iterator[tuple[slice, pa.RecordBatch]]:
    """Yield rows of a pool as they come, with the sizes of their files from the `at`-th column on.

    Args:
        place: (n,) the row of each item of the predictions.
    """
    of_rows = {} if files is None else files.sizes
    moved_ones = {key: moved(sizes, place, np.int64) for key, sizes in of_rows.items()}
    for rows, kept in texts:
        for n, (key, sizes) in enumerate(moved_ones.items()):
            kept = kept.add_column(at + n, f"{key} bytes", pa.array(sizes[rows]))
        yield rows, kept
