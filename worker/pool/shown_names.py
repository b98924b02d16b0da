"""Whether the values of a column tell a name that annotators must not be told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Flags = NDArray[np.bool_]

# A column is refused if it agrees in so many of the rows where it holds something. The true class,
# which people must not see either, and what another model says agree as often as one of the two is
# right: so a column that in so many rows names any class is refused, too.
AGREES = 0.9
# A column that always names the commonest class agrees often and tells nothing: so it must agree
# in at least half of all other rows, too.
AGREES_ELSEWHERE = 0.5
# A code (a number, a translation) is a column of few values that goes with the prediction: content
# by which the classifier decides may do so too, but seldom so closely.
STANDS, STANDS_ELSEWHERE = 0.98, 0.9
_LEAST_ROWS_OF_CODES = 20
# Or of some values a class, each of which comes again and again: a model's reasons, from templates.
_VALUES_A_CLASS, _ROWS_A_VALUE = 5, 10
_APART = re.compile(r"[\W_]+")

_CURE = "take it out of `pool.data`, or show them another column"
_RENAME = (
    "such a folder mostly is the true class, which would bias them even more: give the files names "
    "that tell nothing"
)
_OF_WHOM = "(the true ones, or what another model says)"


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


def tells_names(texts: Sequence[str], told: Told, codes: Ints) -> Leak | None:
    """Return how the values of a column tell names, (m,) `codes` of `told.names`; or None."""
    names = [name.strip().casefold() for name in told.names]
    expected = [names[code] for code in codes.tolist()]
    pairs = list(zip(texts, expected, strict=True))
    values = flags(_plain(text) == _plain(name) for text, name in pairs)
    if agrees(values, codes):
        return Leak(f"is {told.what}", int(values.sum()), len(texts))
    marked = {name: _marked(name) for name in set(expected)}
    within = flags(marked[name].search(text) is not None for text, name in pairs)
    if agrees(within, codes):
        return Leak(f"holds {told.what} as a value", int(within.sum()), len(texts))
    parts = {name: f" {_apart(name)} " for name in set(expected)}
    paths = flags(_is_path(text) and parts[name] in f" {_apart(text)} " for text, name in pairs)
    if agrees(paths, codes):
        how = f"is an address or a name in which {told.what} stands"
        return Leak(how, int(paths.sum()), len(texts), _RENAME)
    stands = _stands_for(texts, codes)
    if stands is not None and agrees(stands, codes, STANDS, STANDS_ELSEWHERE):
        at = int(np.flatnonzero(stands)[0])
        how = f"stands for {told.what}, one to one ({texts[at]!r} for {expected[at]!r},"
        return Leak(f"{how} say)", int(stands.sum()), len(texts))
    goes = _goes_with(texts, codes)
    if goes is not None and agrees(goes, codes, STANDS, STANDS_ELSEWHERE):
        n = len(set(texts))
        return Leak(f"has {n} values, each with {told.what}", int(goes.sum()), len(texts))
    return None


def names_classes(texts: Sequence[str], told: Told) -> Leak | None:
    """Return how a column names classes, right or wrong ones; or None.

    Of numbers it is not said: they count anything.
    """
    names = {_apart(name.casefold()): name for name in told.names}
    names = {own: name for own, name in names.items() if own and not own.isdecimal()}
    if len(names) < 2:
        return None
    values = [_apart(_plain(text)) for text in texts]
    n_values = sum(value in names for value in values)
    if n_values >= AGREES * len(texts) and len(set(values) & set(names)) > 1:
        return Leak(f"holds names of classes {_OF_WHOM}", n_values, len(texts))
    every = re.compile(rf" (?:{'|'.join(map(re.escape, names))})(?= )")
    found = [every.findall(f" {_apart(text)} ") if _is_path(text) else [] for text in texts]
    # what stands in all of them is a host, or a folder around them
    common = set(found[0]).intersection(*found[1:])
    of_rows = [set(one) - common for one in found]
    n_paths = sum(map(bool, of_rows))
    if n_paths >= AGREES * len(texts) and len(set().union(*of_rows)) > 1:
        how = f"is an address or a name in which a class stands {_OF_WHOM}"
        return Leak(how, n_paths, len(texts), _RENAME)
    return None


def agrees(
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
    return flags(code_of[text] == code and text_of[code] == text for text, code in pairs)


def _goes_with(texts: Sequence[str], codes: Ints) -> Flags | None:
    """Where a value goes with the code that it mostly has; None if too few repeat to tell."""
    n_values, n_codes = len(set(texts)), np.unique(codes).size
    few = min(_VALUES_A_CLASS * n_codes, len(texts) // _ROWS_A_VALUE)
    if n_values > few or n_codes < 2:
        return None
    code_of: dict[str, int] = {}
    for (text, code), _ in Counter(zip(texts, codes.tolist(), strict=True)).most_common():
        code_of.setdefault(text, code)
    return flags(code_of[text] == code for text, code in zip(texts, codes.tolist(), strict=True))


def flags(found: Iterator[bool]) -> Flags:
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
