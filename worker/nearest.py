"""Names the known word that somebody probably meant."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`, or None if none is."""
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def nearest_first(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words, those most like `word` first; equally like ones keep their order."""
    return sorted(known, key=lambda name: -SequenceMatcher(None, word, name).ratio())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?", or an empty text if nothing known is like `word`."""
    name = nearest(word, known)
    return f"; did you mean {name}?" if name is not None else ""


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the first names separated by commas, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
