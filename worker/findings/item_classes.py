"""The classes of single items: the likeliest, and whether predictions are right by all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.pool.known import labels_of_rows
from worker.store.records import Record
from worker.store.rules import frequencies
from worker.store.tally import tally_key

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def likeliest_classes(
    work: Assessment, tally: Mapping[str, int], records: Sequence[Record]
) -> dict[str, str]:
    """Item -> class, of all items with a label that counts, gold items among them.

    Where votes leave doubt it is the likeliest class; of a tie the first in the alphabet. Where all
    votes count (`frequencies`) it is the class that most people chose.
    """
    votes = work.votes(tally)
    found = {}
    for record in records:
        if record.outcome is None:
            continue
        if work.soft_labels is not None:
            _, said = frequencies(record.outcome)
            found[record.item] = min(said, key=lambda name: (-said[name], name))
        elif votes is None:
            found[record.item] = record.outcome
        elif (key := _key(record)) in votes.likeliest:
            found[record.item] = work.pool.classes[votes.likeliest[key]]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """Items of the pool whose class is known, or may be one of a few.

    rows: (n,). is_right: (W, n) whether the prediction is, in W equally likely worlds; one if
    nothing is in doubt. tells: (n,) whether it tells of items without a label: not if nobody knows
    why it was annotated before the assessment began.
    """

    rows: Ints
    is_right: Bools
    tells: Bools

    def among(self, is_mine: Bools) -> Answered:
        """Those of some of the pool's items (N,), with their rows among these."""
        place, kept = np.cumsum(is_mine) - 1, is_mine[self.rows]
        return Answered(place[self.rows[kept]], self.is_right[:, kept], self.tells[kept])


def answered(work: Assessment, tally: Mapping[str, int], records: Sequence[Record]) -> Answered:
    """Every item of the pool with a label, also those that had one before the assessment began.

    Worlds are those of the belief's variants, in their order.
    """
    labelled = [r for r in records if r.outcome is not None and r.cell >= 0]
    votes, index = work.votes(tally), {name: k for k, name in enumerate(work.pool.classes)}
    if votes is None:
        codes = [index.get(str(r.outcome), len(index)) for r in labelled]
        classes = np.array([codes], dtype=np.int64)
    else:
        # Items with the same votes in the same cell are exchangeable: any order of them will do.
        taken: Counter[str] = Counter()
        columns = []
        for record in labelled:
            key = _key(record)
            columns.append(votes.column[key] + taken[key])
            taken[key] += 1
        classes = votes.truth[:, columns]
    rows = np.array([r.row for r in labelled], dtype=np.int64)
    known = work.pool.known
    tells = np.ones(rows.size, dtype=bool)
    if known is not None:
        before, labels = labels_of_rows(known, work.pool.cell_start, work.pool.code)
        rows = np.concatenate([before, rows])
        said = np.tile([index.get(label, len(index)) for label in labels], (len(classes), 1))
        classes = np.concatenate([said, classes], axis=1)
        tells = np.concatenate([np.full(before.size, known.use == "random"), tells])
    return Answered(rows, classes == work.pool.predicted[rows], tells)


def _key(record: Record) -> str:
    assert record.outcome is not None, "asked of items with an outcome"
    return tally_key(record.claim, record.cell, record.predicted, record.outcome)
