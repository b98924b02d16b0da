"""How wide a text is in columns, and a text cut to so many of them."""

from __future__ import annotations

import unicodedata


def shortened(text: str, most: int) -> str:
    """At most so many columns, where wide letters take two."""
    text = " ".join(text[: 20 * most].split())
    if columns(text) <= most:
        return text
    while columns(text) > most - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def columns(text: str) -> int:
    """How wide a text is, in narrow letters."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
