"""The predictions file as checked columns: what each item is, what was predicted, how surely."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.pool_part import PoolPlan
from worker.pool.checks import (
    check_filled,
    check_ids,
    check_probabilities,
    check_scores,
    is_absent,
    refuse,
)
from worker.pool.tables import Wanted, pieces


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The items of a predictions file in its order; no value is missing.

    The probabilities themselves are not kept: a million items of a hundred classes would take
    more memory than the rest of the work, and accuracy needs no more than their maximum.
    """

    path: Path
    classes: tuple[str, ...]  # K names
    ids: pa.Array  # (n,) text, unique
    predicted: NDArray[np.int32]  # (n,) index of a class
    score: NDArray[np.floating]  # (n,) in [0, 1]; float32 or float64 as the file has it; NaN in
    # all items if the classifier gives none
    columns: Mapping[str, pa.Array]  # (n,) text each, by the file's names: those the groups need
    data: Mapping[str, pa.Array]  # (n,) text each, by the annotators' keys

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.predicted)


def class_names(pool: PoolPlan) -> tuple[str, ...] | None:
    """Return the classes in order, if the plan alone tells them.

    Probability columns name their classes by what is left without the longest beginning that they
    share and that ends in "_" or ".": `p_cat`, `p_dog` are cat and dog.
    """
    if pool.classes is not None:
        return pool.classes
    if isinstance(pool.probabilities, tuple):
        return without_shared_prefix(pool.probabilities)
    return None


def without_shared_prefix(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names without the longest beginning that they share and that ends in "_" or "."."""
    first, last = min(names), max(names)  # all others lie between them, letter by letter
    n_common = next(
        (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    length = max(first.rfind("_", 0, n_common), first.rfind(".", 0, n_common)) + 1
    shorter = tuple(name[length:] for name in names)
    return shorter if all(shorter) else names


def read_predictions(pool: PoolPlan) -> Predictions:
    """Read and check the predictions file that a plan names.

    Ties between probabilities go to the first class.

    Raises:
        PredictionsError: the file cannot be read, or its values are not what the plan says; the
            message names the rows (counted from 1).
    """
    path = pool.predictions
    texts = dict.fromkeys((pool.id, *pool.group_columns, *pool.data.values()))
    kept: dict[str, list[pa.Array]] = {name: [] for name in texts}
    predicted: list[NDArray[np.int32]] = []
    said: list[pa.Array] = []  # predicted classes, as text
    scores: list[NDArray[np.floating]] = []
    classes, n_before = class_names(pool), 0
    for piece in pieces(path, _wanted(pool)):
        for name, arrays in kept.items():
            # 64-bit offsets: all texts together may be longer than 2 GB
            arrays.append(piece.column(name).cast(pa.large_string()))
        if pool.probabilities is None:
            said.append(piece.column(pool.predicted).dictionary_encode())
            scores.append(
                _floats(piece.column(pool.score))
                if pool.score is not None
                else np.full(piece.num_rows, np.nan, dtype=np.float32)
            )
        else:
            rows = _probabilities(pool, piece, len(classes or ()), n_before + 1)
            check_probabilities(path, rows, n_before + 1)
            predicted.append(rows.argmax(axis=1).astype(np.int32))
            # a sum of 1.0005 is let pass, so a maximum may be above 1
            scores.append(np.minimum(rows.max(axis=1), 1))
        n_before += piece.num_rows
    score = np.concatenate(scores)
    if pool.probabilities is None:
        if pool.score is not None:
            check_scores(path, pool.score, score)
        classes, codes = _codes(path, str(pool.predicted), said, classes)
    else:
        codes = np.concatenate(predicted)
    assert classes is not None
    columns = {name: pa.chunked_array(arrays, pa.large_string()) for name, arrays in kept.items()}
    return _checked(pool, classes, codes, score, columns)


def _wanted(pool: PoolPlan) -> Wanted:
    texts = tuple(dict.fromkeys((pool.id, *pool.group_columns, *pool.data.values())))
    if isinstance(pool.probabilities, tuple):
        return Wanted(texts, pool.probabilities)
    if pool.probabilities is not None:
        return Wanted(texts, (), pool.probabilities)
    assert pool.predicted is not None
    return Wanted((*texts, pool.predicted), (pool.score,) if pool.score is not None else ())


def probability_pieces(pool: PoolPlan) -> Iterator[NDArray[np.floating]]:
    """Yield the probabilities of all classes, (some, K), in the file's order of items.

    The file is read through again for it: all of them together may not fit into memory.

    Raises:
        PredictionsError: as `read_predictions`.
    """
    named = class_names(pool)
    assert pool.probabilities is not None, "asked of a pool with probabilities"
    assert named is not None, "probabilities come with names of classes"
    wanted = Wanted(
        numbers=() if isinstance(pool.probabilities, str) else pool.probabilities,
        numbers_list=pool.probabilities if isinstance(pool.probabilities, str) else None,
    )
    first_row = 1
    for piece in pieces(pool.predictions, wanted):
        yield _probabilities(pool, piece, len(named), first_row)
        first_row += piece.num_rows


def _floats(array: pa.Array) -> NDArray[np.floating]:
    floats: NDArray[np.floating] = array.to_numpy(zero_copy_only=False)  # null becomes NaN
    return floats


def _probabilities(
    pool: PoolPlan, piece: pa.RecordBatch, n_classes: int, first_row: int
) -> NDArray[np.floating]:
    """Return the piece's probabilities, (n, K)."""
    if isinstance(pool.probabilities, tuple):
        return np.column_stack([_floats(piece.column(name)) for name in pool.probabilities])
    lists = piece.column(pool.probabilities)
    length = _floats(pc.fill_null(pc.list_value_length(lists), 0))
    text = f"the list (column {pool.probabilities}) has not {n_classes} values, one for each class,"
    refuse(pool.predictions, length != n_classes, text, first_row)
    return _floats(lists.flatten()).reshape(-1, n_classes)


def _codes(
    path: Path, column: str, said: list[pa.Array], classes: tuple[str, ...] | None
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    whole = pa.chunked_array(said).unify_dictionaries().combine_chunks()
    values: list[str] = whole.dictionary.to_pylist()
    is_blank = is_absent(whole.dictionary)
    at = pc.fill_null(whole.indices, -1).to_numpy()
    absent = at < 0
    absent[~absent] = is_blank[at[~absent]]
    refuse(path, absent, f"the prediction (column {column}) is missing or empty")
    known = tuple(sorted(set(values))) if classes is None else classes
    if len(known) < 2:
        raise PredictionsError(
            f"{path}: the column {column} holds one class only ({known[0]}), expected at least "
            "two; if the classifier knows more, list them under `pool.classes`"
        )
    place = {name: index for index, name in enumerate(known)}
    code_of = np.array([place.get(value, -1) for value in values], dtype=np.int32)
    codes: NDArray[np.int32] = code_of[at]
    if (codes < 0).any():
        unknown = values[int(at[codes < 0][0])]
        text = (
            f"the prediction (column {column}) is not among the classes {listed(known)} "
            f"(first: {unknown!r})"
        )
        refuse(path, codes < 0, text)
    return known, codes


def _checked(
    pool: PoolPlan,
    classes: tuple[str, ...],
    codes: NDArray[np.int32],
    score: NDArray[np.floating],
    columns: Mapping[str, pa.ChunkedArray],
) -> Predictions:
    path = pool.predictions
    whole = {name: chunks.combine_chunks() for name, chunks in columns.items()}
    check_ids(path, pool.id, whole[pool.id])
    for name in pool.group_columns:
        check_filled(path, "the group", name, whole[name])
    shown = {key: pc.fill_null(whole[name], "") for key, name in pool.data.items()}
    if shown:  # a simulation's pool shows nothing
        nothing = np.logical_and.reduce([is_absent(array) for array in shown.values()])
        text = f"annotators would see nothing ({', '.join(pool.data.values())} empty)"
        refuse(path, nothing, text)
    return Predictions(
        path=path,
        classes=classes,
        ids=whole[pool.id],
        predicted=codes,
        score=score,
        columns={name: whole[name] for name in pool.group_columns},
        data=shown,
    )
