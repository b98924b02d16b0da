"""Labels of a pool's items from a file, for a report at once: of all of them, or of some."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan import Plan
from worker.plan.project_part import Existing
from worker.pool.checks import check_filled, is_absent
from worker.pool.remote import localised
from worker.pool.storing import sha256_of
from worker.pool.tables import Wanted, column_names, pieces
from worker.pool.truth import place_of, unknown_classes

# How people call the column of true classes; asked where a file has several beside the ids.
_NAMES = ("label", "labels", "true_label", "true_class", "truth", "true", "gold", "target",
          "y_true")  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The labels of a file.

    ids: (n,) text, each once. classes: (n,) text, none of them empty. n_empty: rows without a
    label. use: whether those that are labelled were drawn at random.
    """

    path: Path
    column: str
    use: Existing
    ids: pa.Array
    classes: pa.Array
    n_empty: int
    sha256: str

    def hash_with(self, pool_hash: str) -> str:
        """The hash of the pool that begins with these labels, from that of the pool without."""
        told = f"{pool_hash} {self.sha256} {self.use} {self.column}"
        return hashlib.sha256(told.encode()).hexdigest()

    def never_predicted(
        self, plan: Plan, items: pa.Array | pa.ChunkedArray, classes: Sequence[str]
    ) -> tuple[int, list[str]]:
        """How many labels of items name none of the pool's classes, and what they name, sorted."""
        here = pc.is_in(self.ids, value_set=items)
        said = _whole_numbers(self.classes.filter(here), classes)
        known = {*classes, *plan.annotation.counts_as}
        counts = {one["values"]: one["counts"] for one in said.value_counts().to_pylist()}
        strange = sorted(counts.keys() - known)
        return sum(counts[name] for name in strange), strange

    def of_items(
        self, ids: Iterable[pa.Array], plan: Plan, classes: Sequence[str]
    ) -> tuple[Existing, pa.Array]:
        """The label of every item, (N,) text or null, and how they are used.

        Where every item has one, there are no others that they could tell of: they count as a
        random sample does.

        Args:
            ids: of the items, piece by piece. classes: of the pool.

        Raises:
            PredictionsError: no item is labelled, a label is no class of the pool, or of several
                models not all items are labelled by a choice that nobody knows.
        """
        wanted = pa.concat_arrays([piece.cast(pa.large_string()) for piece in ids])
        said = _whole_numbers(self.classes, classes)
        found = said.take(pc.index_in(wanted, value_set=self.ids))
        if found.null_count == len(found):
            here, there = (listed(some.slice(0, 3).to_pylist()) for some in (self.ids, wanted))
            raise PredictionsError(
                f"{self.path}: none of its {len(self.ids):,} labels (column {self.column}) is of "
                f"an item of the pool (its ids begin with {here}, those of the pool with {there}); "
                f"name the items alike in both, in the column {plan.pool.id}"
            )
        for choice, first in plan.annotation.counts_as.items():
            found = pc.if_else(pc.equal(found, choice), first, found)
        given = found.drop_null().unique().to_pylist()
        unknown_classes(plan, classes, self.path, self.column, given)
        if not found.null_count:
            return "random", found
        if plan.models is not None and self.use == "known":
            raise PredictionsError(
                f"{self.path}: {found.null_count:,} of {len(found):,} items have no label. Of "
                "several models nothing can be said by labels whose choice nobody knows: label all "
                "items, or say --labels-are random if they were drawn at random"
            )
        return self.use, found


def read_labels(plan: Plan, folder: Path, given: str, use: Existing) -> Labels:
    """Read labels by the plan's `pool.id`.

    Args:
        folder: of compiled pools.
        given: a column of the predictions, or `FILE:COLUMN`, or a file with one column beside the
            ids, or with one that is called as labels are.

    Raises:
        PredictionsError: there is no such file or column, it holds no labels, or an item has two.
    """
    plan = localised(plan, folder)
    path, column = place_of(plan, folder, _with_column(plan, given), "--labels")
    names = tuple(dict.fromkeys((plan.pool.id, column)))
    table = pa.Table.from_batches(list(pieces(path, Wanted(names))))
    ids, said = (
        table.column(name).cast(pa.large_string()).combine_chunks()
        for name in (plan.pool.id, column)
    )
    check_filled(path, "the item's id", plan.pool.id, ids)
    is_empty = is_absent(said)
    if is_empty.all():
        raise PredictionsError(f"{path}: the column {column} holds no labels, only empty values")
    is_given = pa.array(~is_empty)
    ids, said = ids.filter(is_given), said.filter(is_given)
    first = _first_of_each(path, column, ids, said)
    n_empty = int(is_empty.sum())
    return Labels(path, column, use, ids.take(first), said.take(first), n_empty, sha256_of(path))


def _whole_numbers(labels: pa.Array, classes: Sequence[str]) -> pa.Array:
    """The labels, with `3.0` as the class `3`: what is written of a column of numbers with gaps."""
    told = labels.dictionary_encode()
    names = [
        whole if name not in classes and (whole := name.removesuffix(".0")) in classes else name
        for name in told.dictionary.to_pylist()
    ]
    return pa.array(names, pa.large_string()).take(told.indices)


def _with_column(plan: Plan, given: str) -> str:
    """What is given, with the column if it is a file alone."""
    path = Path(given).expanduser()
    if not path.is_file():
        return given
    others = [name for name in column_names(path) if name != plan.pool.id]
    called = [name for name in others if name.casefold() in _NAMES]
    if len(named := others if len(others) == 1 else called) == 1:
        return f"{given}:{named[0]}"
    raise PredictionsError(
        f"{path}: which column has the labels? Name it, as in --labels {given}:"
        f"{(called or others or ['label'])[0]}; its columns beside {plan.pool.id} are "
        f"{listed(others, 30) or 'none'}"
    )


def _first_of_each(path: Path, column: str, ids: pa.Array, said: pa.Array) -> pa.Array:
    """The first row of every id, all of whose labels must be the same."""
    codes = ids.dictionary_encode().indices.to_numpy()
    labels = said.dictionary_encode().indices.to_numpy()
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    differs = np.flatnonzero(labels != labels[first[which]])
    if differs.size:
        row = int(differs[0])
        one, two = said[int(first[which[row]])], said[row]
        n_items = np.unique(codes[differs]).size
        others = f", as do {n_items:,} items in all" if n_items > 1 else ""
        raise PredictionsError(
            f"{path}: the item {ids[row]} stands there twice with different labels (column "
            f"{column}: {one} and {two}){others}; keep one label of each"
        )
    return pa.array(np.sort(first))
