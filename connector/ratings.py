"""Controls that give numbers (Rating, Number), and how these become classes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connector.errors import BadConfig

_MOST_STARS = 10
_USUAL_STARS = 5  # of a Rating without maxRating
# What a control of this tag calls the number that it gives.
_NUMBERS = {"Rating": "rating", "Number": "number"}


@dataclass(frozen=True, slots=True)
class Bins:
    """How a number that an annotator gives becomes a class.

    edges: ascending, one more than there are classes; a class holds the numbers from its lower edge
    up to, but without, its upper one; the last class holds its upper edge, too. is_whole: only
    whole numbers are meant, each is a class, and the last edge is beyond the last one.
    """

    edges: tuple[float, ...]
    is_whole: bool

    @property
    def highest(self) -> float:
        """The greatest number of the scale."""
        return self.edges[-1] - 1 if self.is_whole else self.edges[-1]

    @property
    def is_rating(self) -> bool:
        """Whether a row of stars has exactly these numbers."""
        return self.is_whole and self.edges[0] == 1 and self.highest <= _MOST_STARS

    def place(self, number: float) -> int | None:
        """The class of a number; None if it is not on the scale."""
        if not self.edges[0] <= number <= self.highest or (self.is_whole and number % 1):
            return None
        return min(bisect_right(self.edges, number), len(self.edges) - 1) - 1


def rating_control(controls: Sequence[Any], control: str | None, bins: Bins) -> Any:
    """The one control of a labelling configuration that gives numbers of the scale.

    Args:
        controls: as label-studio-sdk reads them.
        control: its name; None when there is only one.

    Raises:
        BadConfig: there is none, or more than one, or it gives other numbers.
    """
    named = [c for c in controls if c.tag in _NUMBERS and control in (None, c.name)]
    if len(named) != 1:
        names = ", ".join(f"{c.name} ({c.tag})" for c in controls) or "none"
        meant = f" named {control!r}" if control else ""
        raise BadConfig(
            f"The plan has a scale (`evaluate.scale`), so one Rating or Number{meant} must answer "
            f"the question; the labelling configuration has {names}. Name it (`annotation: "
            "{control: NAME}`), or add one."
        )
    found = named[0]
    stars = int(found.attr.get("maxRating", _USUAL_STARS))
    if found.tag == "Rating" and not (bins.is_rating and stars == bins.highest):
        raise BadConfig(
            f"The Rating {found.name!r} gives the numbers 1 to {stars}, but the plan's scale goes "
            f"from {bins.edges[0]:g} to {bins.highest:g}. Correct `evaluate.scale` or maxRating, "
            "or use a Number."
        )
    return found


def rating_tag(bins: Bins, names: str) -> str:
    """The XML of a control for the scale: stars where they have its numbers, else a number.

    Args:
        names: its attributes `name` and `toName`.
    """
    if bins.is_rating:
        return f'<Rating {names} maxRating="{bins.highest:g}" required="true"/>'
    step = ' step="1"' if bins.is_whole else ""
    ends = f'min="{bins.edges[0]:g}" max="{bins.highest:g}"'
    return f'<Number {names} {ends}{step} required="true"/>'


def number_in(value: Mapping[str, object]) -> float | None:
    """The number that an answer holds; None if it is none, or not the only one."""
    given = [value[key] for key in _NUMBERS.values() if key in value]
    number = given[0] if len(given) == 1 else None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        return float(number)
    except OverflowError:  # a whole number of 400 digits: beyond every scale
        return math.inf if number > 0 else -math.inf
