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

    For every model the groups about which two posterior draws of it disagree (as `ours.assay`); a
    cell is worth the share of their variance that its label is expected to take away, summed over
    the models and weighed by how soon draws disagreed. So items that lie in open groups of several
    models come first. With a little chance any item of those groups.

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
    worth = np.zeros(left.size)
    numbers: dict[str, float] = {}
    for at, (part, view) in enumerate(zip(parts, views, strict=True)):
        expected = with_pending(part, view.of_cells(pending))
        known = moments(expected)
        in_group = by_group(expected, view.of_cells(left))
        groups, found = disputed(expected, known, question, in_group, rng)
        doubt = 1 / max(2.0, found.get("draws", 64.0)) / found.get("stretched", 8.0) ** 2
        numbers[f"doubt_{at}"] = doubt
        own = np.flatnonzero(np.isin(view.group, groups))
        share = known.drop[own] / np.maximum(known.variance[view.group[own]], 1e-12)
        worth[view.cell[own]] += doubt * share
    useful = np.where(worth > 0, left, 0)
    if not useful.any():
        useful = left
    if rng.random() < EXPLORE:
        cell, numbers = any_item(useful, rng), numbers | {"explored": 1.0}
    else:
        cell = argmax(np.where(useful > 0, worth, -np.inf), rng)
        numbers = numbers | {"worth": float(worth[cell])}
    return Choice(cell, -1, numbers)
