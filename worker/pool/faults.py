"""All faults of a predictions file, by what they are, with their rows.

Rows are counted from 1, as they stand in the file without its header.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from worker.errors import PredictionsError
from worker.plan.pool_fields import Droppable

_SHOWN = 5


@dataclass(slots=True)
class _Fault:
    text: str
    kind: Droppable | None
    rows: list[NDArray[np.int64]] = field(default_factory=list)


class Faults:
    """What is wrong with one file, collected while it is read.

    Args:
        may_drop: whether `pool.drop` leaves rows of this file out.
    """

    def __init__(self, path: Path, *, may_drop: bool = False) -> None:
        self._path, self._may_drop = path, may_drop
        self._found: dict[str, _Fault] = {}

    def add(
        self,
        is_bad: NDArray[np.bool_],
        text: str,
        first: str = "",
        *,
        kind: Droppable | None = None,
        first_row: int = 1,
    ) -> None:
        """Keep a fault of the true rows, if there are any.

        Args:
            text: what is wrong with them; the same fault in several pieces has the same text.
            first: what was seen in the first of them.
            kind: by which a plan may leave such rows out.
            first_row: the number of the first entry's row.
        """
        rows = np.flatnonzero(is_bad)
        if rows.size:
            known = self._found.setdefault(text, _Fault(text + first, kind))
            known.rows.append(rows + first_row)

    def leave_out(self, kinds: Iterable[Droppable]) -> dict[Droppable, NDArray[np.int64]]:
        """Return the rows that have faults of these kinds, which are no faults any more.

        A row with several stands under the first kind.
        """
        dropped: dict[Droppable, NDArray[np.int64]] = {}
        gone = np.empty(0, dtype=np.int64)
        for kind in kinds:
            of_kind = [fault for fault in self._found.values() if fault.kind == kind]
            rows = np.concatenate([gone[:0], *(row for fault in of_kind for row in fault.rows)])
            fresh = np.setdiff1d(rows, gone)
            gone = np.union1d(gone, fresh)
            dropped[kind] = fresh
        for key, fault in list(self._found.items()):
            left = np.setdiff1d(np.concatenate(fault.rows), gone)
            if left.size:
                fault.rows = [left]
            else:
                del self._found[key]
        return {kind: rows for kind, rows in dropped.items() if rows.size}

    @property
    def kinds(self) -> tuple[Droppable, ...]:
        """Those of the faults that a plan may leave out, in their usual order."""
        present = {fault.kind for fault in self._found.values()}
        return tuple(kind for kind in get_args(Droppable) if kind in present)

    def refuse(self) -> None:
        """Raise a PredictionsError that names all of them, if there are any."""
        if not self._found:
            return
        told = [
            f"{fault.text} in {rows_told(np.concatenate(fault.rows))}"
            for fault in self._found.values()
        ]
        if len(told) == 1:
            text = f"{self._path}: {told[0]}"
        else:
            lines = "".join(f"\n  - {one}" for one in told)
            text = f"{self._path}: {len(told)} kinds of faults:{lines}"
        if self.kinds and self._may_drop:
            named = ", ".join(self.kinds)
            is_all = all(fault.kind for fault in self._found.values())
            some = "such rows" if is_all else f"what is {named}"
            text += "." if len(told) == 1 else "\n"
            text += f" Correct the file, or leave {some} out with `pool: {{drop: [{named}]}}`"
        raise PredictionsError(text)


def refuse(path: Path, is_bad: NDArray[np.bool_], text: str) -> None:
    """Raise a PredictionsError that names the true rows, if there are any."""
    faults = Faults(path)
    faults.add(is_bad, text)
    faults.refuse()


def rows_told(rows: NDArray[np.int64]) -> str:
    """Return "row 3" or "rows 3, 7, 9, 12, 20 and 34 more"."""
    shown = ", ".join(map(str, rows[:_SHOWN]))
    more = f" and {rows.size - _SHOWN:,} more" if rows.size > _SHOWN else ""
    return f"{'row' if rows.size == 1 else 'rows'} {shown}{more}"
