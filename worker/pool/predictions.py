"""The predictions file as checked columns: what each item is, what was predicted, how surely."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.nearest import listed
from worker.plan.pool_part import PoolPlan
from worker.pool.chats import are_chats
from worker.pool.checks import (
    check_ids,
    check_probabilities,
    check_readable,
    check_scores,
    is_absent,
)
from worker.pool.class_names import class_names
from worker.pool.coded import Coded
from worker.pool.faults import Faults
from worker.pool.ordering import Growing
from worker.pool.storing import PROBABILITY, as_column
from worker.pool.tables import Wanted, pieces
from worker.pool.texts import Texts

_FEW_CLASSES = 20  # more in a small file are no classes


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The items of a predictions file in its order; no value is missing.

    The probabilities themselves are not kept: a million items of a hundred classes would take
    more memory than the rest of the work, and accuracy needs no more than their maximum.
    """

    path: Path
    classes: tuple[str, ...]  # K names
    texts: Texts  # n rows: the ids, what annotators see by their keys, and all probabilities if
    # they were asked for
    predicted: NDArray[np.int32]  # (n,) index of a class
    score: NDArray[np.floating]  # (n,) in [0, 1]; float32 or float64 as the file has it; NaN in
    # all items if the classifier gives none
    columns: Mapping[str, pa.Array]  # (n,) text each, by the file's names: of groups and pairs

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.predicted)


def read_predictions(
    pool: PoolPlan,
    texts: Texts,
    keeps_probabilities: bool = False,
    tell: Callable[[int], None] = lambda _: None,
    faults: Faults | None = None,
) -> Predictions:
    """Read and check the predictions file that a plan names.

    Ties between probabilities go to the first class.

    Args:
        texts: empty; takes the items' ids and what annotators see.
        keeps_probabilities: all probabilities are to stand beside them, in single precision.
        tell: is told now and then how many rows are read.
        faults: takes what is wrong with the values; without it they are refused.

    Raises:
        PredictionsError: the file cannot be read, or its values are not what the plan says; the
            message names all faults with their rows (counted from 1).
    """
    path = pool.predictions
    found = Faults(path) if faults is None else faults
    columns = {name: Coded() for name in pool.coded_columns}
    predicted, scores = Growing(), Growing()
    said = Coded()  # predicted classes, as text
    nothing = Growing()  # where annotators would see nothing
    chats = {key: Growing() for key in pool.data}
    classes, n_before = class_names(pool), 0
    of_items: NDArray[np.int32]
    for piece in pieces(path, _wanted(pool)):
        kept = {"item_id": piece.column(pool.id)}
        kept |= {key: pc.fill_null(piece.column(name), "") for key, name in pool.data.items()}
        # 64-bit offsets: all texts together may be longer than 2 GB
        kept = {key: array.cast(pa.large_string()) for key, array in kept.items()}
        if pool.data:  # a simulation's pool shows nothing
            shown = [is_absent(kept[key]) for key in pool.data]
            nothing.add(np.logical_and.reduce(shown))
        for key, is_chat in chats.items():
            is_chat.add(are_chats(kept[key]))
            if pool.is_of_outputs:
                check_readable(found, pool.data[key], kept[key], n_before + 1)
        for name, codes in columns.items():
            codes.add(piece.column(name))
        if pool.probabilities is None:
            if pool.predicted is not None:
                said.add(piece.column(pool.predicted))
            scores.add(
                _floats(piece.column(pool.score))
                if pool.score is not None
                else np.full(piece.num_rows, np.nan, dtype=np.float32)
            )
        else:
            rows = _probabilities(pool, piece, len(classes or ()), found, n_before + 1)
            check_probabilities(found, rows, n_before + 1)
            predicted.add(rows.argmax(axis=1).astype(np.int32))
            # a sum of 1.0005 is let pass, so a maximum may be above 1
            scores.add(np.minimum(rows.max(axis=1), 1))
            if keeps_probabilities:
                kept[PROBABILITY] = as_column(rows)
        texts.add(pa.RecordBatch.from_arrays(list(kept.values()), names=list(kept)))
        n_before += piece.num_rows
        tell(n_before)
    score = scores.taken()
    if pool.probabilities is None:
        if pool.score is not None:
            check_scores(found, pool.score, score)
        if pool.is_of_outputs:  # every output is taken for right, the first class
            of_items = np.zeros(n_before, dtype=np.int32)
        else:
            classes, of_items = _codes(found, path, str(pool.predicted), said, classes)
    else:
        of_items = predicted.taken()
    assert classes is not None
    check_ids(found, pool.id, texts.ids, texts.n_rows)
    told = {name: "group" if name in pool.group_columns else "prompt" for name in columns}
    groups = {name: _filled(found, told[name], name, codes) for name, codes in columns.items()}
    if pool.data:
        what = f"annotators would see nothing ({', '.join(pool.data.values())} empty)"
        found.add(nothing.taken(), what, kind="empty")
    for key, column in pool.data.items():
        if (are_turns := chats[key].taken()).any():
            text = f"the column {column} holds no turns of a chat, as other rows do; write"
            found.add(~are_turns, f"{text} all values alike:")
    if faults is None:
        found.refuse()
    return Predictions(path, classes, texts, of_items, score, groups)


def _absent(values: list[str], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return where (n,) a coded text is null, empty or blank."""
    is_blank = [*is_absent(pa.array(values, pa.large_string())).tolist(), True]
    found: NDArray[np.bool_] = np.array(is_blank)[codes]  # -1 is the last
    return found


def _filled(faults: Faults, what: str, column: str, coded: Coded) -> pa.DictionaryArray:
    values, codes = coded.taken()
    text = f"the {what} (column {column}) is missing or empty"
    faults.add(_absent(values, codes), text, kind="empty")
    known = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(known, pa.array(values, pa.large_string()))


def _wanted(pool: PoolPlan) -> Wanted:
    texts = tuple(dict.fromkeys((pool.id, *pool.coded_columns, *pool.data.values())))
    if isinstance(pool.probabilities, tuple):
        return Wanted(texts, pool.probabilities)
    if pool.probabilities is not None:
        return Wanted(texts, (), pool.probabilities)
    said = () if pool.predicted is None else (pool.predicted,)
    return Wanted((*texts, *said), (pool.score,) if pool.score is not None else ())


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
    faults, first_row = Faults(pool.predictions), 1
    for piece in pieces(pool.predictions, wanted):
        yield _probabilities(pool, piece, len(named), faults, first_row)
        faults.refuse()
        first_row += piece.num_rows


def _floats(array: pa.Array) -> NDArray[np.floating]:
    floats: NDArray[np.floating] = array.to_numpy(zero_copy_only=False)  # null becomes NaN
    return floats


def _probabilities(
    pool: PoolPlan, piece: pa.RecordBatch, n_classes: int, faults: Faults, first_row: int
) -> NDArray[np.floating]:
    """Return the piece's probabilities, (n, K); where a list is no such row, equal ones."""
    if isinstance(pool.probabilities, tuple):
        return np.column_stack([_floats(piece.column(name)) for name in pool.probabilities])
    lists = piece.column(pool.probabilities)
    is_other = _floats(pc.fill_null(pc.list_value_length(lists), 0)) != n_classes
    text = f"the list (column {pool.probabilities}) has not {n_classes} values, one for each class,"
    faults.add(is_other, text, first_row=first_row)
    whole = lists.filter(pa.array(~is_other)) if is_other.any() else lists
    given = _floats(whole.flatten()).reshape(-1, n_classes)
    if not is_other.any():
        return given
    rows = np.full((piece.num_rows, n_classes), 1 / n_classes)
    rows[~is_other] = given
    return rows


def _codes(
    faults: Faults, path: Path, column: str, said: Coded, classes: tuple[str, ...] | None
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    values, at = said.taken()
    is_absent_ = _absent(values, at)
    faults.add(is_absent_, f"the prediction (column {column}) is missing or empty", kind="empty")
    named = sorted(value for value in values if value is not None and value.strip())
    known = tuple(named) if classes is None else classes
    if len(known) < 2:
        one = f"one class only ({known[0]})" if known else "no class"
        raise PredictionsError(
            f"{path}: the column {column} holds {one}, expected at least "
            "two; if the classifier knows more, list them under `pool.classes`"
        )
    if classes is None and len(known) > max(_FEW_CLASSES, at.size // 2):
        raise PredictionsError(
            f"{path}: the column {column} holds {len(known):,} different values in {at.size:,} "
            "rows; is it the predicted class? If it is, list the classes under `pool.classes`"
        )
    place = {name: index for index, name in enumerate(known)}
    code_of = np.array([*(place.get(value, -1) for value in values), -1], dtype=np.int32)
    codes: NDArray[np.int32] = code_of[at]
    is_unknown = (codes < 0) & ~is_absent_
    if is_unknown.any():
        first = f" (first: {values[int(at[is_unknown][0])]!r})"
        text = f"the prediction (column {column}) is not among the classes {listed(known)}"
        faults.add(is_unknown, text, first)
    return known, codes
