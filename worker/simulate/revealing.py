"""Labels revealed one after the other, as an assessment with one item open at a time has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.strategies import NothingLeft


def revealed(
    assessment: Assessment, learn: Callable[[Belief, int, int, int], Belief]
) -> Iterator[tuple[int, Belief]]:
    """Reveal one label after the other, until none would help.

    Args:
        learn: the belief after a label, from the one before, the label's cell, where its item
            stands among the pool's, cell after cell, and how many labels there are then.

    Yields:
        Where the label's item stands, and the belief after it.
    """
    pool, belief = assessment.pool, assessment.first
    left, pending = np.array(pool.cell_size), np.zeros_like(pool.cell_size)
    for claim in range(pool.n_items):
        try:
            cell = assessment.choose(belief, left, pending, claim).cell
        except NothingLeft:
            return
        at = pool.next_row(cell, int(left[cell]))
        left[cell] -= 1
        belief = learn(belief, cell, at, claim + 1)
        yield at, belief
