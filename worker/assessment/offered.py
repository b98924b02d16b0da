"""In which order items are offered where several models' groups share cells, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, replaced, unlabelled
from worker.core.posterior.views import Queue, View
from worker.pool import Pool
from worker.pool.models import Models

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """The items of a pool, cell after cell in the order in which they are offered.

    code: (N,) of each; None if every portion is a cell of its own, so that its cell says it all.
    """

    pool: Pool
    models: Models
    code: NDArray[np.int32] | None

    def in_order(self, order: Ints) -> Offered:
        """The pool's rows (N,) in another order within each cell."""
        return self if self.code is None else replaced(self, code=self.code[order])

    def portions(self) -> Ints:
        """(N,) the portion of each item."""
        if self.code is None:
            return np.repeat(np.arange(self.pool.n_cells), self.pool.cell_size)
        return self._portion(slice(None))

    def queues(
        self, beliefs: Sequence[Belief], views: Sequence[View], left: Ints, pending: Ints
    ) -> list[Queue]:
        """What is left and pending in each view, of what is in the pool's cells (C,).

        What is left in a shared cell is known item by item, but not in which order they come:
        nobody may choose by that. Pending are taken to be the last ones that were claimed, because
        answers come about in the order of the claims.
        """
        if self.code is None:
            return [Queue(v.of_portions(left), v.of_portions(pending)) for v in views]
        end = self.pool.cell_start + self.pool.cell_size - left
        rest = self.models.layout.size - self._among(self.pool.cell_start, end)
        late = self._among(end - pending, end)
        queues = []
        for belief, view in zip(beliefs, views, strict=True):
            own = view.of_portions(rest)
            to_come = np.minimum(view.of_portions(late), unlabelled(belief) - own)
            queues.append(Queue(own, to_come))
        return queues

    def _among(self, begin: Ints, end: Ints) -> Ints:
        """(P,) items of each portion among some rows of every cell (C,)."""
        n = end - begin
        before = np.cumsum(n) - n
        rows = np.arange(n.sum()) + np.repeat(begin - before, n)
        return np.bincount(self._portion(rows), minlength=self.models.layout.size.size)

    def _portion(self, rows: Ints | slice) -> Ints:
        of_code = self.models.portion
        assert of_code is not None, "asked of shared cells"
        assert self.code is not None, "asked of shared cells"
        return of_code[self.code[rows]]


def offered(pool: Pool, models: Models) -> Offered:
    """The items in the compiled pool's own order."""
    return Offered(pool, models, None if models.portion is None else pool.predicted)
