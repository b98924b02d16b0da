"""Reads what `pool.groups` says: `predicted_class`, `score_bin(10)`, a column, or a product."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from worker.nearest import did_you_mean

MOST_BINS = 1000
_CALL = re.compile(r"(?P<name>[A-Za-z_]+)\((?P<argument>.*)\)")
_CALLS = ("score_bin", "equal_mass_bin", "superclass")

GroupKind = Literal[
    "predicted_class", "score_bin", "equal_mass_bin", "superclass", "column", "all_items"
]


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One factor of the grouping."""

    kind: GroupKind
    column: str = ""  # kind "column"
    n_bins: int = 0  # the two kinds of bins
    map_path: str = ""  # kind "superclass"

    @property
    def is_score_bin(self) -> bool:
        """Whether the items are grouped by their score."""
        return self.kind in ("score_bin", "equal_mass_bin")

    def __str__(self) -> str:
        match self.kind:
            case "column":
                return self.column
            case "superclass":
                return f"superclass({self.map_path})"
            case "predicted_class" | "all_items":
                return self.kind
            case _:
                return f"{self.kind}({self.n_bins})"


def group_factor(text: str) -> GroupBy:
    """Read one factor.

    Raises:
        ValueError: a form with brackets that is not known, or a bad number of bins.
    """
    text = text.strip()
    call = _CALL.fullmatch(text)
    if call is None:
        if not text:
            raise ValueError("came an empty text, expected predicted_class, a column's name, ...")
        if text in _CALLS:
            example = "map.csv" if text == "superclass" else "10"
            raise ValueError(f"came {text}, expected brackets after it, as in {text}({example})")
        if text == "all_items":
            return GroupBy("all_items")
        return GroupBy("predicted_class") if text == "predicted_class" else GroupBy("column", text)
    name, argument = call["name"], call["argument"].strip()
    if name == "superclass":
        if not argument:
            raise ValueError("came superclass(), expected a file in it, as in superclass(map.csv)")
        return GroupBy("superclass", map_path=argument)
    if name in ("score_bin", "equal_mass_bin"):
        if not argument.isdecimal() or not 1 <= int(argument) <= MOST_BINS:
            raise ValueError(
                f"came {text}, expected a whole number of bins from 1 to {MOST_BINS}, "
                f"as in {name}(10)"
            )
        kind: GroupKind = "score_bin" if name == "score_bin" else "equal_mass_bin"
        return GroupBy(kind, n_bins=int(argument))
    raise ValueError(
        f"came {text}, but the forms with brackets are score_bin(10), equal_mass_bin(10) "
        f"and superclass(map.csv){did_you_mean(name, _CALLS)}"
    )


def bins_spec(bins: object) -> GroupBy:
    """Read `question.bins`: a number of bins of equal width, or `equal_mass(10)`.

    Raises:
        ValueError: something else, or a bad number of bins.
    """
    if isinstance(bins, int) and not isinstance(bins, bool) and 1 <= bins <= MOST_BINS:
        return GroupBy("score_bin", n_bins=bins)
    call = _CALL.fullmatch(bins.strip()) if isinstance(bins, str) else None
    if call is not None and call["name"] == "equal_mass":
        argument = call["argument"].strip()
        if argument.isdecimal() and 1 <= int(argument) <= MOST_BINS:
            return GroupBy("equal_mass_bin", n_bins=int(argument))
    raise ValueError(
        f"came {bins!r}, expected a whole number of bins from 1 to {MOST_BINS}, as in 10 (of equal "
        "width) or equal_mass(10)"
    )


def group_factors(spec: str | Sequence[str]) -> tuple[GroupBy, ...]:
    """Read the whole of `pool.groups`; a list is the product of its factors.

    Raises:
        ValueError: no factor, the same factor twice, or one that cannot be read.
    """
    texts = (spec,) if isinstance(spec, str) else tuple(spec)
    if not texts:
        raise ValueError("came an empty list, expected at least one thing to group by")
    factors = tuple(group_factor(text) for text in texts)
    if len(set(factors)) != len(factors):
        raise ValueError(f"came the same thing twice in {', '.join(texts)}; name each once")
    return factors
