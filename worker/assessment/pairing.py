"""Outputs of the same prompts: which are labelled, and what is so of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Outcomes
from worker.core.posterior.paired import PairedOutputs
from worker.pool import Pool
from worker.store.tally import read_tally_key

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """The outputs of a pool by its rows. known: the outcomes (N,) before the first label.

    ascending, row: (N,) the numbers of cell and prompt together, and whose they are.
    """

    outputs: PairedOutputs
    meaning: Outcomes
    known: NDArray[np.int8]
    ascending: Ints
    row: NDArray[np.intp]

    def outcome(self, tally: Mapping[str, int], before: int | None = None) -> NDArray[np.int8]:
        """(N,) 0: right, 1: wrong, -1: no label, as `PairedOutputs.joined` takes them.

        Args:
            before: count the claims of the epochs below it only; None for all.
        """
        index = {name: k for k, name in enumerate(self.meaning.classes)}
        numbers: list[int] = []
        for key in tally:
            of = read_tally_key(key)
            if of.cell >= 0 and (before is None or of.epoch < before):
                numbers += of.cell, of.predicted, index.get(of.label, len(index))
        cell, prompt, label = np.array(numbers, dtype=np.int64).reshape(-1, 3).T
        at = np.searchsorted(self.ascending, cell * self.outputs.n_prompts + prompt)
        found = self.known.copy()
        found[self.row[at]] = self.meaning.of_each(prompt, label) > 0
        return found


def pairing(pool: Pool, meaning: Outcomes) -> Pairing:
    """The outputs of a pool that has pairs."""
    cell = np.repeat(np.arange(pool.n_cells), pool.cell_size)
    prompt = pool.code.astype(np.int64)
    number = cell * pool.n_prompts + prompt
    row = np.argsort(number, kind="stable")
    outputs = PairedOutputs(prompt, cell, pool.n_prompts)
    nothing = np.full(pool.n_items, -1, dtype=np.int8)
    found = Pairing(outputs, meaning, nothing, number[row], row)
    if pool.known is None:
        return found
    return replace(found, known=found.outcome(pool.known.tally))
