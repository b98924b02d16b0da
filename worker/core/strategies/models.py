"""Choosing for several models at once: one label tells of all of them."""

from collections.abc import Sequence

import numpy as np

from worker.core.belief import Belief, by_group
from worker.core.moments import moments
from worker.core.question import Question
from worker.core.strategies.ours import EXPLORE, disputed
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, any_item, argmax
from worker.core.supposing import with_pending
from worker.core.views import View


def for_each(
    parts: Sequence[Belief],
    views: Sequence[View],
    question: Question,
    left: Ints,
    pending: Ints,
    rng: Rng,
) -> Choice:
    """The cell whose label tells most about the extreme groups of each model.

    For every model two posterior draws that disagree about its extreme groups (as `ours.assay`).
    One coin for all models says on which side of the dispute an item is looked for: the group of
    the first draw or of the other, so that the leader, which is in every dispute, gets half of the
    labels. A cell is worth the share of the variance of the two groups' difference that its label
    is expected to take away, summed over the models and weighed by how soon draws disagreed: items
    that lie in open groups of several models come first. With a little chance any item of the group
    that the cell tells most about.

    Source:
        Top-two Thompson sampling with beta = 1/2 (Russo 2016), summed over models. By shares of
        each group's own variance the surer group would be labelled whole before the other.

    Args:
        parts: the belief about each model's own groups, with its view in `views`.
        left, pending: (C,) of the pool's cells.

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
    for at, (part, view) in enumerate(zip(parts, views, strict=True)):
        expected = with_pending(part, view.of_cells(pending))
        known = moments(expected)
        in_group = by_group(expected, view.of_cells(left))
        groups, found = disputed(expected, known, question, in_group, rng)
        doubt = 1 / max(2.0, found.get("draws", 64.0)) / found.get("stretched", 8.0) ** 2
        numbers[f"doubt_{at}"] = doubt
        own = np.flatnonzero(view.group == groups[min(side, groups.size - 1)])
        share = known.drop[own] / max(float(known.variance[groups].sum()), 1e-12)
        worth[at, view.cell[own]] = doubt * share
    total = worth.sum(axis=0)
    useful = np.where(total > 0, left, 0)
    if not useful.any():
        useful = left
    cell = argmax(np.where(useful > 0, total, -np.inf), rng)
    numbers["worth"] = float(total[cell])
    if rng.random() < EXPLORE:
        most = views[int(worth[:, cell].argmax())]  # of the model that the cell tells most about
        group = most.group[most.cell == cell]
        near = np.zeros_like(left)
        near[most.cell[most.group == group]] = 1
        cell, numbers = any_item(left * near, rng), numbers | {"explored": 1.0}
    return Choice(cell, -1, numbers)
