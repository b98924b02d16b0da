"""Refuses what annotators would see if its *values* tell the prediction, whatever it is called.

Looked at are at most 10,000 rows, drawn evenly over the pool, so that it takes no time and memory
to speak of in a pool of any size; that a column agrees in nine of ten rows is known from so many
to within one in a hundred.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.pool.files_finding import Shown
from worker.pool.texts import Texts

Ints = NDArray[np.integer]
Flags = NDArray[np.bool_]
Numbers = Callable[[NDArray[np.int64]], Iterator[tuple[str, NDArray[np.floating]]]]

# A column is refused if it agrees in so many of the rows where it holds something. What differs in
# more than a tenth is merely like the prediction (another model's, say); the true class, which
# people must not see either, agrees as often as the classifier is right.
AGREES = 0.9
# A column that always names the commonest class agrees often and tells nothing: so it must agree
# in at least half of all other rows, too.
AGREES_ELSEWHERE = 0.5
# A code (a number, a translation) is a column of few values that goes with the prediction: content
# by which the classifier decides may do so too, but seldom so closely.
STANDS, STANDS_ELSEWHERE = 0.98, 0.9
LEAST_ROWS = 10  # fewer agree by chance
_LEAST_ROWS_OF_CODES = 20
_MOST_ROWS = 10_000
_MOST_LETTERS = 500
_STREAM = 65  # of the rows that are looked at
_POINT = 0.0051  # scores that agree to two digits after the point
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
_APART = re.compile(r"[\W_]+")

_CURE = "take it out of `pool.data`, or show them another column"


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What annotators must not be told of n items: one of several names for each.

    what: such as "the predicted class". names: K. codes: (n,) index of a name.
    """

    what: str
    names: Sequence[str]
    codes: Ints


@dataclass(frozen=True, slots=True)
class Leak:
    """How a column tells what it must not: in so many of the rows that hold something."""

    how: str
    agree: int
    of: int
    cure: str = _CURE


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
        found = _tells_names(texts, one, one.codes[here])
        if found is not None:
            return found
    return _tells_numbers(texts, here, numbers)


def _tells_names(texts: Sequence[str], told: Told, codes: Ints) -> Leak | None:
    names = [name.strip().casefold() for name in told.names]
    expected = [names[code] for code in codes.tolist()]
    pairs = list(zip(texts, expected, strict=True))
    values = _flags(_plain(text) == _plain(name) for text, name in pairs)
    if _agrees(values, codes):
        return Leak(f"is {told.what}", int(values.sum()), len(texts))
    marked = {name: _marked(name) for name in set(expected)}
    within = _flags(marked[name].search(text) is not None for text, name in pairs)
    if _agrees(within, codes):
        return Leak(f"holds {told.what} as a value", int(within.sum()), len(texts))
    parts = {name: f" {_apart(name)} " for name in set(expected)}
    paths = _flags(_is_path(text) and parts[name] in f" {_apart(text)} " for text, name in pairs)
    if _agrees(paths, codes):
        how = f"is an address or a name in which {told.what} stands"
        cure = (
            "such a folder mostly is the true class, which would bias them even more: give the "
            "files names that tell nothing"
        )
        return Leak(how, int(paths.sum()), len(texts), cure)
    stands = _stands_for(texts, codes)
    if stands is not None and _agrees(stands, codes, STANDS, STANDS_ELSEWHERE):
        at = int(np.flatnonzero(stands)[0])
        how = f"stands for {told.what}, one to one ({texts[at]!r} for {expected[at]!r},"
        return Leak(f"{how} say)", int(stands.sum()), len(texts))
    return None


def _agrees(
    flags: Flags, codes: Ints, most: float = AGREES, elsewhere: float = AGREES_ELSEWHERE
) -> bool:
    """Whether a column agrees in nearly all rows, and not for want of any other value."""
    if flags.mean() < most:
        return False
    others = flags[codes != np.bincount(codes).argmax()]
    return others.size == 0 or bool(others.mean() >= elsewhere)


def _stands_for(texts: Sequence[str], codes: Ints) -> Flags | None:
    """Where value and code are each other's commonest; None if too few repeat to tell."""
    n_values = len(set(texts))
    n_codes = np.unique(codes).size
    if len(texts) < max(_LEAST_ROWS_OF_CODES, 2 * n_values) or min(n_values, n_codes) < 2:
        return None
    both = Counter(zip(texts, codes.tolist(), strict=True))
    code_of: dict[str, int] = {}
    text_of: dict[int, str] = {}
    for (text, code), _ in both.most_common():
        code_of.setdefault(text, code)
        text_of.setdefault(code, text)
    pairs = zip(texts, codes.tolist(), strict=True)
    return _flags(code_of[text] == code and text_of[code] == text for text, code in pairs)


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
            if np.unique(codes).size > 1 and _agrees(close, codes):
                return Leak(f"is {what}", int(close.sum()), len(texts))
    return None


def _flags(found: Iterator[bool]) -> Flags:
    return np.fromiter(found, dtype=bool)


def _plain(text: str) -> str:
    """A value without quotes, and a whole number without its point."""
    bare = text.strip("\"'[]{}() ")
    return bare[:-2] if bare.endswith(".0") and bare[:-2].isdecimal() else bare


def _marked(name: str) -> re.Pattern[str]:
    """Where a name stands as a value: behind a colon or an equals sign, or in quotes."""
    own = re.escape(name)
    return re.compile(rf"[:=]\s*[\"']?{own}[\"']?\s*(?:$|[,;}}\])\n])|[\"']{own}[\"']")


def _apart(text: str) -> str:
    return _APART.sub(" ", text).strip()


def _is_path(text: str) -> bool:
    """Whether it may be a name of a file, an address or an id: one word, but no data."""
    return not text.startswith("data:") and not any(letter.isspace() for letter in text)
