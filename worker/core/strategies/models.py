"""Choosing for several models at once: one label tells of all of them."""

from collections.abc import Sequence

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.moments import moments
from worker.core.posterior.views import View
from worker.core.questions.question import Question
from worker.core.strategies.deciding import telling
from worker.core.strategies.ours import EXPLORE
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, any_item, argmax


def for_each(
    parts: Sequence[Belief],
    views: Sequence[View],
    question: Question,
    left: Ints,
    pending: Ints,
    rng: Rng,
) -> Choice:
    """The cell whose label tells most about the extreme groups of each model.

    A cell's worth is what its label tells of the extreme groups of each model (`telling`), added
    up: items that lie in open groups of several models come first. With a little chance any item
    of the group that the cell tells most about.

    Args:
        parts: the belief about each model's own groups, with its view.
        left, pending: (C,) items of the pool's cells that can still be claimed, and claimed ones.

    Returns:
        The pool's cell; its group is left to the caller.

    Raises:
        NothingLeft: all items are claimed.
    """
    if not left.any():
        raise NothingLeft("every item is labelled, queued or withheld; wait for the queued items.")
    worth = np.zeros((len(parts), left.size))  # of each model
    for at, (part, view) in enumerate(zip(parts, views, strict=True)):
        expected = with_pending(part, view.of_cells(pending))
        known = moments(expected)
        own = known.drop * telling(expected, known, question, rng)[view.group]
        worth[at, view.cell] = np.where(view.of_cells(left) > 0, own, 0.0)
    total = worth.sum(axis=0)
    useful = np.where(total > 0, left, 0)
    if not useful.any():
        useful = left
    cell = argmax(np.where(useful > 0, total, -np.inf), rng)
    numbers = {"worth": float(total[cell])}
    if rng.random() < EXPLORE:
        at = int(worth[:, cell].argmax())  # the model that the cell tells most about
        view = views[at]
        own = view.cell[view.group == view.group[view.cell == cell]]
        near = np.zeros_like(left)
        near[own] = left[own]
        cell, numbers = any_item(near, rng), {"explored": 1.0}
    return Choice(cell, -1, numbers)
