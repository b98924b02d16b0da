"""Refuses what annotators would see if its *values* tell the prediction, whatever it is called.

Looked at are at most 10,000 rows, drawn evenly over the pool, so that it takes no time and memory
to speak of in a pool of any size; that a column agrees in nine of ten rows is known from so many
to within one in a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.pool.files_finding import Shown
from worker.pool.shown_names import (
    AGREES,
    Leak,
    Told,
    agrees,
    names_classes,
    tells_names,
)
from worker.pool.texts import Texts

Numbers = Callable[[NDArray[np.int64]], Iterator[tuple[str, NDArray[np.floating]]]]

LEAST_ROWS = 10  # fewer agree by chance
_MOST_ROWS = 10_000
_MOST_LETTERS = 500
_STREAM = 65  # of the rows that are looked at
_POINT = 0.0051  # scores that agree to two digits after the point
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")


def refuse_told(
    where: str,
    columns: Sequence[tuple[str, str]],
    texts: Texts | Shown,
    told: Sequence[Told],
    numbers: Numbers,
) -> None:
    """Refuse what annotators see if it tells them the prediction.

    Args:
        where: the file, or project, that it comes from.
        columns: of each of `texts`' first columns what it is called, and what to do about it.
        numbers: of given rows (m,), ascending, the values (m,) of scores and probabilities, and
            what they are called; asked only if a column holds numbers.

    Raises:
        PredictionsError: names the column, how it tells the prediction, in which share of the rows,
            and what to do.
    """
    rows = _rows(texts.n_rows)
    if rows.size < LEAST_ROWS:
        return
    for at, seen in enumerate(_sampled(texts, rows, len(columns))):
        leak = _leak(seen, told, rows, numbers)
        if leak is not None:
            name, cure = columns[at]
            of = "rows" if rows.size == texts.n_rows else "rows that were looked at"
            raise PredictionsError(
                f"{where}: {name} {leak.how} in {leak.agree / leak.of:.1%} of the {of} "
                f"({leak.agree:,} of {leak.of:,}). Annotators would see it, and be biased: "
                f"{cure or leak.cure}"
            )


def _rows(n: int) -> NDArray[np.int64]:
    """The rows that are looked at, ascending."""
    if n <= _MOST_ROWS:
        return np.arange(n)
    # cheaper than without replacement, and as good: some of so many come twice
    drawn = np.random.default_rng(_STREAM).integers(0, n, _MOST_ROWS)
    return np.unique(drawn)


def _sampled(texts: Texts | Shown, rows: NDArray[np.int64], n_columns: int) -> list[list[str]]:
    """The beginnings of the texts in these rows, of each of the first columns."""
    found: list[list[str]] = [[] for _ in range(n_columns)]
    n_before = 0
    for piece in texts:
        begin, end = np.searchsorted(rows, (n_before, n_before + piece.num_rows))
        here = pa.array(rows[begin:end] - n_before)
        for kept, column in zip(found, piece.columns, strict=False):
            some = pc.utf8_slice_codeunits(column.take(here), 0, _MOST_LETTERS)
            kept.extend(text.strip() for text in some.to_pylist())
        n_before += piece.num_rows
    return found


def _leak(
    seen: Sequence[str],
    told: Sequence[Told],
    rows: NDArray[np.int64],
    numbers: Numbers,
) -> Leak | None:
    """How one column tells any of what it must not tell; None if it does not."""
    filled = np.array([bool(text) for text in seen])
    if filled.sum() < LEAST_ROWS:
        return None
    texts = [text.casefold() for text in seen if text]
    here = rows[filled]
    for one in told:
        found = tells_names(texts, one, one.codes[here])
        if found is not None:
            return found
    return names_classes(texts, told[0]) or _tells_numbers(texts, here, numbers)


def _tells_numbers(
    texts: Sequence[str],
    rows: NDArray[np.int64],
    numbers: Numbers,
) -> Leak | None:
    read = [_NUMBER.fullmatch(text.removesuffix("%").strip()) for text in texts]
    if sum(match is not None for match in read) < AGREES * len(texts):
        return None
    values = np.array([float(match[0]) if match else np.nan for match in read])
    for what, every in numbers(rows):
        score = np.asarray(every, dtype=np.float64)
        if np.isnan(score).all():
            continue
        codes = np.unique(score.round(2), return_inverse=True)[1].reshape(-1)
        for scale in (1.0, 100.0):
            close = np.abs(values / scale - score) <= _POINT
            if np.unique(codes).size > 1 and agrees(close, codes):
                return Leak(f"is {what}", int(close.sum()), len(texts))
    return None
