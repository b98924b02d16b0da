"""Guesses what the columns of a predictions file mean, from their names and first rows."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from worker.errors import DraftingError
from worker.nearest import did_you_mean, listed
from worker.pool.checks import SUM_TOLERANCE
from worker.pool.tables import first_rows

N_LOOKED_AT = 1000
_ENOUGH_ROWS = 20
_NAME = re.compile(r"\S{1,64}")
_IDS = ("item_id", "id", "itemid", "uuid", "guid", "task_id", "sample_id", "image_id", "doc_id",
        "document_id", "text_id", "example_id", "index", "key")  # fmt: skip
_PREDICTED = ("predicted", "predicted_class", "predicted_label", "prediction", "pred",
              "pred_label", "pred_class", "label_pred", "y_pred", "yhat",
              "category_id")  # fmt: skip
_SCORES = ("score", "confidence", "conf", "probability", "prob", "pred_score", "max_prob",
           "predicted_score", "p")  # fmt: skip
_CONTENT = ("image", "image_url", "img", "img_url", "picture", "photo", "text", "content",
            "title", "body", "sentence", "document", "review", "comment", "question", "html",
            "message", "query", "tweet", "headline", "abstract",
            "audio", "audio_url", "video", "video_url", "url", "uri", "coco_url",
            "file_name")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A column for each class."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbabilityList:
    """One column that holds the probabilities of all classes."""

    column: str
    n_classes: int


@dataclass(frozen=True, slots=True)
class PredictedClass:
    """The predicted class, and how sure the classifier was."""

    predicted: str
    score: str


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a predictions file mean."""

    id: str
    data: tuple[str, ...]
    prediction: Probabilities | ProbabilityList | PredictedClass


def roles_of(
    path: Path,
    *,
    id: str | None = None,
    probabilities: Sequence[str] | str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    data: Sequence[str] | None = None,
) -> Roles:
    """Return what the columns mean; what is given is taken as it is.

    Raises:
        PredictionsError: the file cannot be read.
        DraftingError: a given column is not there, or a meaning is neither given nor clear.
    """
    rows = first_rows(path, N_LOOKED_AT)
    names = rows.column_names
    columns = (probabilities,) if isinstance(probabilities, str) else tuple(probabilities or ())
    given = [*columns, *(data or ()), *(name for name in (id, predicted, score) if name)]
    for name in given:
        if name not in names:
            raise DraftingError(
                f"{path}: no column {name}{did_you_mean(name, names)}; its columns are "
                f"{listed(names)}"
            )
    free = rows.drop_columns(given)
    found_id = id or _first_that(free, _IDS, _is_unique) or _naming(free)
    prediction = _prediction(rows, free, columns, predicted, score)
    content = tuple(data or ()) or tuple(
        name for name in free.column_names if name.casefold() in _CONTENT and name != found_id
    )
    unclear = []
    if found_id is None:
        unclear.append("--id=COLUMN (a unique id for each item)")
    if prediction is None:
        unclear.append(
            "--predicted=COLUMN and --score=COLUMN (the predicted class, and how sure the "
            "classifier was), or probability columns that begin alike, as in p_cat and p_dog, "
            "with the sum 1 in every row"
        )
    if not content:
        unclear.append("--data=COLUMN (what annotators see: a text, or the address of an image)")
    if found_id is None or prediction is None or unclear:
        raise DraftingError(
            f"{path}: its columns are {listed(names, 30)}; what they mean is not clear. "
            f"Please give {'; '.join(unclear)}"
        )
    return Roles(found_id, content, prediction)


def _prediction(
    rows: pa.Table,
    free: pa.Table,
    columns: tuple[str, ...],
    predicted: str | None,
    score: str | None,
) -> Probabilities | ProbabilityList | PredictedClass | None:
    if len(columns) == 1:
        return ProbabilityList(columns[0], _list_length(rows.column(columns[0])) or 2)
    if columns:
        return Probabilities(columns)
    if predicted is None and score is None:
        if found := _probability_columns(free):
            return Probabilities(found)
        for name in free.column_names:
            if length := _list_length(free.column(name)):
                return ProbabilityList(name, length)
    said = predicted or _first_that(free, _PREDICTED, _is_class)
    certainty = score or _first_that(free, _SCORES, _is_share)
    return PredictedClass(said, certainty) if said and certainty else None


def _probability_columns(rows: pa.Table) -> tuple[str, ...]:
    """Return the largest set of columns that share a prefix and whose rows have the sum 1."""
    by_prefix: dict[str, list[str]] = {}
    for name in rows.column_names:
        if _is_share(rows.column(name)):
            for at in (at for at, letter in enumerate(name) if letter in "_."):
                by_prefix.setdefault(name[: at + 1], []).append(name)
    for names in sorted(by_prefix.values(), key=len, reverse=True):
        sums = np.sum([_floats(rows.column(name)) for name in names], axis=0)
        if len(names) > 1 and (np.abs(sums - 1) <= SUM_TOLERANCE).all():
            return tuple(names)
    return ()


def _first_that(
    rows: pa.Table, known: Sequence[str], fits: Callable[[pa.ChunkedArray], bool]
) -> str | None:
    """Return the first known name of a column that fits; upper and lower case are the same."""
    by_folded = {name.casefold(): name for name in rows.column_names}
    present = (by_folded[name] for name in known if name in by_folded)
    return next((name for name in present if fits(rows.column(name))), None)


def _naming(rows: pa.Table) -> str | None:
    """Return the first column whose values are names of the rows: one that is called so before.

    In a few rows any column may have no value twice.
    """
    others = {*_CONTENT, *_PREDICTED, *_SCORES}
    free = [name for name in rows.column_names if name.casefold() not in others]
    called_so = [name for name in free if re.search(r"(?i:[\W_]id|^id[\W_].*)$|[a-z]I[Dd]$", name)]
    names = [*called_so, *(free if rows.num_rows >= _ENOUGH_ROWS else [])]
    return next((name for name in names if _is_naming(rows.column(name))), None)


def _is_naming(column: pa.ChunkedArray) -> bool:
    return _is_unique(column) and all(_NAME.fullmatch(str(value)) for value in column.to_pylist())


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _is_unique(column: pa.ChunkedArray) -> bool:
    is_name = _is_text(column.type) or pa.types.is_integer(column.type)
    return bool(is_name) and not column.null_count and len(column.unique()) == len(column)


def _is_class(column: pa.ChunkedArray) -> bool:
    kind = column.type
    is_name = _is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    return bool(is_name or pa.types.is_dictionary(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_share(column: pa.ChunkedArray) -> bool:
    kind = column.type
    if column.null_count or not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        return False
    values = _floats(column)
    return bool(((values >= 0) & (values <= 1)).all())


def _list_length(column: pa.ChunkedArray) -> int:
    """Return the length of lists of probabilities, or 0 if the column holds something else."""
    first = next((value for value in column.to_pylist() if value is not None), None)
    if isinstance(first, str) and first.startswith("["):
        first = [_number(text) for text in first.strip("[] ").replace(",", " ").split()]
    if not isinstance(first, list) or len(first) < 2:
        return 0
    numbers = [value for value in first if isinstance(value, float | int)]
    is_whole = len(numbers) == len(first) and abs(sum(numbers) - 1) <= SUM_TOLERANCE
    return len(first) if is_whole else 0


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
