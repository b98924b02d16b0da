"""Which numbers of a document the paths of the register name.

`groups[].low` is the key `low` of every entry of the list `groups`, `*` any one key, and
`{low,high}` either of the two.
"""

from __future__ import annotations

import re
from itertools import product


def is_of(path: str, patterns: tuple[str, ...] | list[str]) -> bool:
    """Whether a path is one of those that the patterns name."""
    return any(re.fullmatch(_regex(one), path) for pattern in patterns for one in spelled(pattern))


def spelled(pattern: str) -> list[str]:
    """The paths of a pattern, without braces."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    choices = [part.split(",") if n % 2 else [part] for n, part in enumerate(parts)]
    return ["".join(chosen) for chosen in product(*choices)]


def _regex(path: str) -> str:
    return re.escape(path).replace(r"\*", r"[^.\[\]]+")
