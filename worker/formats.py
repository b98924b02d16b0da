"""How numbers look: one function a kind, so that pages, tables and pictures say them alike."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

NOTHING = "–"  # an en dash: there is no such number
_MINUS = "−"

# Control characters, and the marks that turn the direction of all text after them: they would let
# a group's name rewrite the sentence that it stands in.
_UNSEEMLY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """The text without control characters; each becomes U+FFFD, so that one sees that it was."""
    return _UNSEEMLY.sub("\ufffd", text)


def seemly(thing: Any) -> Any:
    """What a template may print: texts go through `plain`, all else is as it was."""
    return plain(thing) if isinstance(thing, str) and not isinstance(thing, Markup) else thing


def sentence(text: str) -> str:
    """The text with a capital."""
    return text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """A probability of being right: one digit after the point, never rounded up."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{_floor(1000 * share, 999 if share < 1 else 1000) / 10:g}%"


def _floor(number: float, most: int) -> int:
    """The whole number below, or the one that rounding took the number from: 0.57 * 100."""
    return min(math.floor(round(number, 9)), most)


def probability(number: float) -> float:
    """A probability to six digits, for JSON; what is not certain never becomes 0 or 1."""
    return round(number, 6) if number in (0, 1) else min(max(round(number, 6), 1e-6), 1 - 1e-6)


def at_most(share: float) -> str:
    """A probability of being wrong: one digit after the point, never rounded down."""
    return f"{math.ceil(round(1000 * share, 9)) / 10:g}%"


def value(number: float) -> str:
    """A value of the metric: three digits after the point; large costs have fewer."""
    size = abs(number)
    digits = 3 if size < 10 else 2 if size < 100 else 0
    text = f"{size:,.{digits}f}"
    is_negative = number < 0 and float(text.replace(",", "")) > 0
    return _MINUS + text if is_negative else text


def error(number: float) -> str:
    """An error or a width: four digits after the point, never rounded down."""
    return f"{math.ceil(round(1e4 * number, 6)) / 1e4:.4f}" if math.isfinite(number) else "nan"


def share(number: float) -> str:
    """A share or a probability in a column: one digit after the point, never rounded to 0 or 1."""
    if 0 < number < 0.0005:
        return "<0.1%"
    if 0.9995 <= number < 1:
        return ">99.9%"
    return f"{100 * number:.1f}%"


def count(number: float) -> str:
    """A whole number."""
    text = f"{abs(number):,.0f}"
    return _MINUS + text if number < 0 else text


def counted(n: int, one: str, many: str = "") -> str:
    """So many of something, in the right number: `1 label`, `1,200 labels`, `2 people`.

    Args:
        many: where it is not `one` with an s.
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def moment(iso: str) -> str:
    """An ISO 8601 time as people write it, in UTC; what is no such time stays as it came."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return plain(iso)
    at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def yes(is_so: bool) -> str:
    """A tick, or nothing."""
    return "yes" if is_so else "no"


def votes(by_class: Mapping[str, int]) -> str:
    """How often each class was given: `cat 2, dog 1`."""
    return ", ".join(f"{plain(name) or NOTHING} {n:,}" for name, n in by_class.items())


KINDS: Mapping[str, Callable[[Any], str]] = {
    "value": value,
    "error": error,
    "share": share,
    "sure": percent,
    "count": count,
    "rate": lambda number: f"{number:,.1f}",
    "number": lambda number: f"{number:g}",
    "seconds": lambda number: f"{number:,.0f} s",
    "when": moment,
    "yes": yes,
    "votes": votes,
    "text": lambda text: plain(str(text)),
    "prose": lambda text: plain(str(text)).replace("`", ""),  # the page has commands as code
}


def shown(thing: Any, kind: str) -> str:
    """The text for a value of a report.

    Args:
        kind: one of KINDS.
    """
    return NOTHING if thing is None or thing == "" else KINDS[kind](thing)


def found(told: Any, path: str) -> Any:
    """What stands at a path such as `groups.3.mean` in a report's JSON."""
    for step in path.split("."):
        told = told[int(step)] if isinstance(told, list | tuple) else told[step]
    return told
