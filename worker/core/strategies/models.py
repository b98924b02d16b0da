"""Choosing for several models at once: one label tells of all of them."""

from collections.abc import Sequence

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.moments import moments
from worker.core.posterior.views import Queue, View
from worker.core.questions.question import Question
from worker.core.strategies.deciding import telling
from worker.core.strategies.ours import EXPLORE
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, any_item, argmax


def for_each(
    parts: Sequence[Belief],
    views: Sequence[View],
    queues: Sequence[Queue],
    question: Question,
    left: Ints,
    rng: Rng,
) -> Choice:
    """The cell whose label tells most about the extreme groups of each model.

    A cell's worth is what its label tells of the extreme groups of each model (`telling`), added
    up: items that lie in open groups of several models come first. Where groups share a cell, its
    worth is what is expected of an item of it, which is in the group by a chance only. With a
    little chance any item of the group that the cell tells most about.

    Args:
        parts: the belief about each model's own groups, with its view and the view's queue.
        left: (C,) items of the pool's cells that can still be claimed.

    Returns:
        The pool's cell; its group is left to the caller.

    Raises:
        NothingLeft: all items are claimed.
    """
    if not left.any():
        raise NothingLeft("every item is labelled, queued or withheld; wait for the queued items.")
    worth = np.zeros((len(parts), left.size))  # of each model
    for at, (part, view, queue) in enumerate(zip(parts, views, queues, strict=True)):
        expected = with_pending(part, queue.pending)
        known = moments(expected)
        own = known.drop * telling(expected, known, question, rng)[view.group]
        np.add.at(worth[at], view.cell, own * view.chance(queue, left))
    total = worth.sum(axis=0)
    useful = np.where(total > 0, left, 0)
    if not useful.any():
        useful = left
    cell = argmax(np.where(useful > 0, total, -np.inf), rng)
    numbers = {"worth": float(total[cell])}
    if rng.random() < EXPLORE:
        at = int(worth[:, cell].argmax())  # the model that the cell tells most about
        view, own_left = views[at], queues[at].left
        rows = np.flatnonzero(view.cell == cell)
        near = np.zeros_like(left)
        own = view.group == view.group[rows[own_left[rows].argmax()]]
        near[view.cell[own]] = own_left[own]
        cell, numbers = any_item(near, rng), {"explored": 1.0}
    return Choice(cell, -1, numbers)
