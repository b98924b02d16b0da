"""Choosing for several models at once: one label tells of all of them."""

from collections.abc import Sequence

import numpy as np

from worker.core.belief import Belief, by_group
from worker.core.moments import moments
from worker.core.question import Question
from worker.core.strategies.ours import EXPLORE, disputed
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, any_item, argmax
from worker.core.supposing import with_pending
from worker.core.views import Queue, View


def for_each(
    parts: Sequence[Belief],
    views: Sequence[View],
    queues: Sequence[Queue],
    question: Question,
    left: Ints,
    rng: Rng,
) -> Choice:
    """The cell whose label tells most about the extreme groups of each model.

    For every model two posterior draws that disagree about its extreme groups (as `ours.assay`).
    One coin for all models says on which side of the dispute an item is looked for: the group of
    the first draw or of the other, so that the leader, which is in every dispute, gets half of the
    labels. A cell is worth the share of the variance of the two groups' difference that its label
    is expected to take away, summed over the models and weighed by how soon draws disagreed: items
    that lie in open groups of several models come first. Where groups share a cell, its worth is
    what is expected of an item of it, which is in the group by a chance only. With a little chance
    any item of the group that the cell tells most about.

    Source:
        Top-two Thompson sampling with beta = 1/2 (Russo 2016), summed over models. By shares of
        each group's own variance the surer group would be labelled whole before the other.

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
    numbers: dict[str, float] = {}
    side = int(rng.integers(2))  # 0: a group of the first draw
    looked_for: list[int] = []  # a group of each model
    for at, (part, view, queue) in enumerate(zip(parts, views, queues, strict=True)):
        expected = with_pending(part, queue.pending)
        known = moments(expected)
        in_group = by_group(expected, queue.left)
        groups, found = disputed(expected, known, question, in_group, rng)
        doubt = 1 / max(2.0, found.get("draws", 64.0)) / found.get("stretched", 8.0) ** 2
        numbers[f"doubt_{at}"] = doubt
        looked_for.append(int(groups[min(side, groups.size - 1)]))
        own = np.flatnonzero(view.group == looked_for[at])
        share = known.drop[own] / max(float(known.variance[groups].sum()), 1e-12)
        worth[at, view.cell[own]] = doubt * share * view.chance(queue, left)[own]
    total = worth.sum(axis=0)
    useful = np.where(total > 0, left, 0)
    if not useful.any():
        useful = left
    cell = argmax(np.where(useful > 0, total, -np.inf), rng)
    numbers["worth"] = float(total[cell])
    if rng.random() < EXPLORE:
        at = int(worth[:, cell].argmax())  # the model that the cell tells most about
        view, own_left = views[at], queues[at].left
        rows = np.flatnonzero(view.cell == cell)
        nearest = int(view.group[rows[own_left[rows].argmax()]])
        own = view.group == (looked_for[at] if total[cell] > 0 else nearest)
        near = np.zeros_like(left)
        near[view.cell[own]] = own_left[own]
        cell, numbers = any_item(near, rng), numbers | {"explored": 1.0}
    return Choice(cell, -1, numbers)
