"""State and records of one moment, for whoever reads while others write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from worker.store import Ledger, State
from worker.store.records import Record, load
from worker.store.tally import tally_key

TRIES = 10  # a reading during which an outcome changed is repeated; labels come seconds apart


def taken_together(ledger: Ledger) -> tuple[State, list[Record]]:
    """The state, and every record that belongs to it.

    If outcomes change during every one of the tries, the items whose outcome changed are left out.
    """
    for _ in range(TRIES):
        state = ledger.state()
        records = [load(text) for text in ledger.every_record()]
        if ledger.revision() == state.revision:
            return state, records
    return state, _belonging(records, state.tally)


def _belonging(records: Iterable[Record], tally: Mapping[str, int]) -> list[Record]:
    left = Counter(tally)
    kept = []
    for record in records:
        if record.outcome is not None:
            key = tally_key(record.claim, record.cell, record.predicted, record.outcome)
            if left[key] <= 0:
                continue
            left[key] -= 1
        kept.append(record)
    return kept
