"""The guesses about the columns of one file, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from worker.setup.roles import Ask


@dataclass(slots=True)
class Guesses:
    """What is guessed of one file so far."""

    path: Path
    rows: pa.Table  # the first ones
    used: set[str]  # columns whose meaning is known
    ask: Ask
    given: frozenset[str] = frozenset()  # columns that somebody named
    reasons: list[str] = field(default_factory=list)  # a sentence for each guess

    def take(self, role: str, name: str, why: str) -> str:
        """Guess what a column is, anew where it was not to be shown; return its name."""
        self.used.add(name)
        self.reasons = [one for one in self.reasons if not one.startswith(f"not shown: {name} (")]
        self.reasons.append(f"{role}: {name} ({why})")
        return name

    def free(self) -> list[str]:
        """The columns whose meaning is not known."""
        return [name for name in self.rows.column_names if name not in self.used]

    def column(self, name: str) -> pa.ChunkedArray:
        """The first values of a column."""
        return self.rows.column(name)
