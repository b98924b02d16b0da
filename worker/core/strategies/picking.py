"""What all strategies share: their signature, and choosing among cells that are open."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, by_group, cells_of, filled_groups, unlabelled
from worker.core.questions.comparison import pairs_asked
from worker.core.questions.question import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator


class NothingLeft(ValueError):
    """No item that could help to answer the question can still be claimed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The cell to take the next item from, its group, and the numbers that explain it."""

    cell: int
    group: int
    numbers: dict[str, float]


class Strategy(Protocol):
    """Chooses the cell whose next item is worth a label.

    Args:
        belief: C cells in G groups.
        left: (C,) items of each cell that can still be claimed.
        pending: (C,) items claimed and not yet judged.

    Raises:
        NothingLeft: `left` is 0 wherever a label would help.
        ValueError: `left` and `pending` do not fit the belief.
    """

    def __call__(
        self, belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng
    ) -> Choice: ...


def choice(belief: Belief, cell: int, **numbers: float) -> Choice:
    """The choice of a cell, with the numbers that explain it."""
    named = {name: float(number) for name, number in numbers.items()}
    return Choice(int(cell), int(belief.group[cell]), named)


def checked(belief: Belief, question: Question, left: Ints, pending: Ints) -> Ints:
    """(C,) items that can be claimed and would help to answer the question.

    Raises:
        NothingLeft: there are none.
        ValueError: the counts do not fit the belief.
    """
    left, pending = np.asarray(left), np.asarray(pending)
    for name, counts in (("left", left), ("pending", pending)):
        if counts.shape != belief.group.shape:
            raise ValueError(
                f"{name} has shape {counts.shape}, but the belief covers {belief.group.size} "
                "cells; pass one count a cell."
            )
    over = (left < 0) | (pending < 0) | (left + pending > unlabelled(belief))
    if np.count_nonzero(over):
        c = int(over.argmax())
        raise ValueError(
            f"cell {c} has {left[c]} items left and {pending[c]} pending, but "
            f"{unlabelled(belief)[c]} without a label; derive all three from the same state."
        )
    if question.task == "compare" and belief.metric.classes != "each":
        asked = np.zeros(belief.n_groups, dtype=bool)
        asked[np.array(pairs_asked(belief, question)).ravel()] = True
        left = np.where(asked[belief.group], left, 0)
    if not np.count_nonzero(left):
        raise NothingLeft(
            "every item that could help is labelled, queued or withheld"
            + ("; labels of other groups do not help" if question.task == "compare" else "")
            + ". Wait for the queued items, or stop."
        )
    return left


def any_item(left: Ints, rng: Rng) -> int:
    """The cell of one of the remaining items, each as likely as any other.

    Raises:
        NothingLeft: there are none.
    """
    upto = np.cumsum(left)
    if not upto[-1]:
        raise NothingLeft("every item that could help is labelled, queued or withheld.")
    return int(np.searchsorted(upto, rng.integers(upto[-1]), side="right"))


def argmax(values: Floats, rng: Rng) -> int:
    """The index of the largest value, of any of them if there are several."""
    largest = np.flatnonzero(values == values.max())
    return int(largest[0] if largest.size == 1 else largest[rng.integers(largest.size)])


def best_cell(belief: Belief, g: int, left: Ints, worth: Floats, rng: Rng) -> int:
    """The open cell of group `g` with the largest worth."""
    cells = cells_of(belief, g)
    return int(cells.start) + argmax(np.where(left[cells] > 0, worth[cells], -np.inf), rng)


def open_groups(belief: Belief, left: Ints) -> NDArray[np.intp]:
    """The groups with items that can be claimed."""
    if filled_groups(belief).size == left.size == belief.n_groups:
        return np.flatnonzero(left)  # one cell a group
    return np.flatnonzero(by_group(belief, left))
