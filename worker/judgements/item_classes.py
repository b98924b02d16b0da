"""The classes of single items: the likeliest, and all that the votes leave possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.judgements.changes import tally_key
from worker.judgements.records import Record
from worker.judgements.rules import frequencies

Ints = NDArray[np.int64]


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
        if work.judging is not None:
            _, said = frequencies(record.outcome)
            found[record.item] = min(said, key=lambda name: (-said[name], name))
        elif votes is None:
            found[record.item] = record.outcome
        elif (key := _key(record)) in votes.likeliest:
            found[record.item] = work.pool.classes[votes.likeliest[key]]
    return found


def possible_classes(
    work: Assessment, tally: Mapping[str, int], records: Sequence[Record]
) -> tuple[list[Record], Ints]:
    """The pool's labelled items (n), and (M, n) their classes in equally likely worlds.

    One world if nothing is in doubt; else those of the belief's variants, in their order. K stands
    for a label that is no class of the pool.
    """
    labelled = [r for r in records if r.outcome is not None and r.cell >= 0]
    votes = work.votes(tally)
    if votes is None:
        index = {name: code for code, name in enumerate(work.pool.classes)}
        codes = [index.get(str(r.outcome), len(index)) for r in labelled]
        return labelled, np.array([codes], dtype=np.int64)
    # Items with the same votes in the same cell are exchangeable: any order of them will do.
    taken: dict[str, int] = {}
    columns = []
    for record in labelled:
        key = _key(record)
        columns.append(votes.column[key] + taken.get(key, 0))
        taken[key] = taken.get(key, 0) + 1
    return labelled, votes.truth[:, columns].astype(np.int64)


def _key(record: Record) -> str:
    assert record.outcome is not None, "asked of items with an outcome"
    return tally_key(record.claim, record.cell, record.predicted, record.outcome)
