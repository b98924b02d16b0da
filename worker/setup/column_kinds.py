"""What the values of a column are, as its first rows show it: pictures, texts, classes, shares."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.pool.checks import SUM_TOLERANCE

Shown = Literal["image", "audio", "video", "html", "text"]

# A column is of a kind if so many of its values are: the rest are faults, which `check` tells.
_MOSTLY = 0.9
# Shorter texts on average are names rather than something to be read.
_READ_LETTERS = 15
_ENOUGH = 20  # rows, to tell a habit from chance
# A class has no longer name, and no more classes are told from free texts.
_CLASS_LETTERS, _MOST_CLASSES = 80, 1000
_NAME = re.compile(r"\S{1,64}")
_ENDINGS: dict[Shown, str] = {
    "image": r"\.(?:jpe?g|png|gif|bmp|webp|svg|tiff?)(?:[?#].*)?$|^data:image/",
    "audio": r"\.(?:wav|mp3|ogg|flac|m4a|aac)(?:[?#].*)?$|^data:audio/",
    "video": r"\.(?:mp4|webm|mov|m4v)(?:[?#].*)?$|^data:video/",
    "html": r"^\s*<(?:!doctype|html|body|div|p|span|table|section|article|h\d)\b",
}


def shown_kind(column: pa.ChunkedArray) -> Shown | None:
    """Return how people can look at the values; None if they are no texts, or names only."""
    if not is_text(column.type):
        return None
    filled = _filled(column)
    if not len(filled):
        return None
    for kind, pattern in _ENDINGS.items():
        if _share(pc.match_substring_regex(filled, pattern, ignore_case=True)) >= _MOSTLY:
            return kind
    is_read = mean_letters(filled) >= _READ_LETTERS and " " in "".join(filled[:20].to_pylist())
    return "text" if is_read and not is_class(column) else None


def mean_letters(column: pa.ChunkedArray) -> float:
    """Return how many letters a text has on average."""
    return float(pc.mean(pc.utf8_length(column.cast(pa.large_string()))).as_py() or 0)


def is_class(column: pa.ChunkedArray) -> bool:
    """Whether the values may be classes: short names, whole numbers, yes and no, that repeat."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return False
    filled = _filled(column) if is_text(kind) else column.drop_null()
    n, n_values = len(filled), len(filled.unique())
    if is_text(kind) and n and mean_letters(filled) > _CLASS_LETTERS:
        return False
    return 2 <= n_values <= min(_MOST_CLASSES, max(2, n // 2) if n >= 20 else n)


def is_share(column: pa.ChunkedArray) -> bool:
    """Whether the values are numbers from 0 to 1, but for some that are missing."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        return False
    values = floats(column)
    known = values[~np.isnan(values)]
    within = (known >= 0) & (known <= 1)
    return bool(known.size and within.mean() >= _MOSTLY and known.size >= _MOSTLY * values.size)


def are_probabilities(columns: list[pa.ChunkedArray]) -> bool:
    """Whether the columns have the sum 1 in each row, but for some that are missing."""
    sums = np.sum([floats(column) for column in columns], axis=0)
    known = sums[~np.isnan(sums)]
    fits = np.abs(known - 1) <= SUM_TOLERANCE
    return bool(known.size >= _MOSTLY * sums.size and fits.mean() >= _MOSTLY)


def names_rows(column: pa.ChunkedArray) -> bool:
    """Whether most values are there once: some may be missing or double by mistake."""
    if not (is_text(column.type) or pa.types.is_integer(column.type)):
        return False
    return len(column.drop_null().unique()) > max(1, len(column) // 2) or len(column) == 1


def are_names(column: pa.ChunkedArray) -> bool:
    """Whether the values are short words without blanks, each there once."""
    if not names_rows(column) or len(column.unique()) < len(column):
        return False
    return all(_NAME.fullmatch(str(value)) for value in column.to_pylist())


def repeats(column: pa.ChunkedArray) -> bool:
    """Whether few of the texts are different ones, as reasons from templates are."""
    return len(column) >= _ENOUGH and len(column.unique()) < len(column) // 2


def names_another(column: pa.ChunkedArray, classes: pa.ChunkedArray) -> bool:
    """Whether the texts mostly name the class of their row, as a model's reasons do."""
    pairs = zip(column.to_pylist(), classes.to_pylist(), strict=True)
    named = [
        re.search(rf"(?<!\w){re.escape(str(one))}(?!\w)", text, re.IGNORECASE) is not None
        for text, one in pairs
        if text and one is not None
    ]
    return len(named) >= _ENOUGH and sum(named) > len(named) / 2


def list_length(column: pa.ChunkedArray) -> int:
    """Return the length of lists of probabilities, or 0 if the column holds something else."""
    first = next((value for value in column.to_pylist() if value is not None), None)
    if isinstance(first, str) and first.startswith("["):
        first = [_number(text) for text in first.strip("[] ").replace(",", " ").split()]
    if not isinstance(first, list) or len(first) < 2:
        return 0
    numbers = [value for value in first if isinstance(value, float | int)]
    is_whole = len(numbers) == len(first) and abs(sum(numbers) - 1) <= SUM_TOLERANCE
    return len(first) if is_whole else 0


def floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the numbers, (n,), NaN where there is none."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _filled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    known = column.drop_null()
    return known.filter(pc.not_equal(pc.utf8_trim_whitespace(known), ""))


def _share(is_so: pa.ChunkedArray) -> float:
    return float(pc.mean(is_so.cast(pa.float64())).as_py() or 0)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
