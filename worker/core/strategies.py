"""Which cell's next item is worth a label.

To add a strategy: write the function and add its line to `STRATEGIES`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worker.core.comparison import lookahead, pairs_asked, regions
from worker.core.posterior import (
    Belief,
    by_group,
    draw,
    draw_cells,
    group_size,
    unlabelled,
)
from worker.core.question import Question
from worker.core.rewards import variance_drop
from worker.core.supposing import with_pending

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

_EQUAL = 1e-12


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


def random(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose uniformly among the remaining items; of the compared groups only, if it is compare."""
    left = _checked(belief, left, pending)
    if question.task == "compare":
        asked = np.unique(pairs_asked(belief, question))
        left = np.where(np.isin(belief.group, asked), left, 0)
    upto = np.cumsum(left)
    _some_left(left)
    cell = int(np.searchsorted(upto, rng.integers(upto[-1]), side="right"))
    return _choice(belief, cell, share=left[cell] / upto[-1])


def thompson(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose what a posterior draw calls for: the paper's Thompson sampling for each task.

    Source:
        Ji, Logan, Smyth & Steyvers, "Active Bayesian Assessment for Black-Box Classifiers"
        (AAAI 2021), Table 1; what differs is said at each task's function.
    """
    left = _checked(belief, left, pending)
    if question.task == "identify":
        return _most_extreme(belief, question, left, pending, rng)
    if question.task == "compare":
        return _most_deciding(belief, question, left, pending, rng)
    return _most_sharpening(belief, left, pending, rng)


STRATEGIES: dict[str, Strategy] = {"random": random, "thompson": thompson}


def _most_extreme(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """Identify: one of the `top` most extreme groups of one draw, among those with items left.

    The paper's MP-TS labels all `top` groups of a draw before the next one. Here claims come one at
    a time, so one of them is chosen uniformly, and the next claim draws anew: the same share of
    labels on average, without waiting for a round to end. Pending items are not counted as
    outcomes for the draw (it is independent for every open slot), only for the cell.
    """
    _some_left(left)
    open_groups = np.flatnonzero(by_group(belief, left))
    drawn = draw(belief, rng, 1)[0]
    sign = 1 if question.which == "lowest" else -1
    shuffled = rng.permutation(open_groups)  # equal draws in random order
    extreme = shuffled[np.argsort(sign * drawn[shuffled], kind="stable")][: question.top]
    group = int(extreme[rng.integers(extreme.size)])
    drop = variance_drop(with_pending(belief, pending))
    cell = _cell_of(belief, group, left, drop, rng)
    return _choice(belief, cell, drawn=drawn[group], drop=drop[cell])


def _most_deciding(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """Compare: in the least decided pair, the group whose label is expected to decide most.

    As in the paper the expectation of lambda is taken at drawn rates, here exactly. Where it does
    not tell the groups apart (no single label can move a region), the larger expected drop of
    Var(theta_1 - theta_2) does. The paper compares one pair; among several, the pair with the
    smallest lambda of those with items left comes first. Pending items count as expected outcomes.
    """
    expected_belief = with_pending(belief, pending)
    in_group = by_group(belief, left).tolist()
    pairs = tuple(p for p in pairs_asked(belief, question) if in_group[p[0]] or in_group[p[1]])
    if not pairs:
        raise NothingLeft(
            "every item of the compared groups is labelled, queued or withheld; labels of other "
            "groups do not help. Wait for the queued items, or stop."
        )
    decided = np.array([max(r) for r in regions(expected_belief, pairs, question.epsilon)])
    at = _argmax(-decided, rng)
    pair = pairs[at]
    drop = variance_drop(expected_belief)
    cells = [_cell_of(belief, g, left, drop, rng) if in_group[g] else None for g in pair]
    theta = draw_cells(expected_belief, rng)
    expected = lookahead(expected_belief, *pair, question.epsilon, theta, (cells[0], cells[1]))
    arms = [(c, value) for c, value in zip(cells, expected, strict=True) if c is not None]
    best = max(value for _, value in arms)
    arms = [arm for arm in arms if arm[1] >= best - _EQUAL]
    cell, value = arms[_argmax(np.array([drop[c] for c, _ in arms]), rng)]
    return _choice(
        belief, cell, drawn=theta[cell], confidence=decided[at], expected=value, drop=drop[cell]
    )


def _most_sharpening(belief: Belief, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Estimate: the cell whose label is expected to lower sum p_g Var(theta_g) most.

    As in the paper the expectation is taken at drawn rates; here of cells and for a finite pool.
    Pending items count as expected outcomes.
    """
    _some_left(left)
    expected_belief = with_pending(belief, pending)
    theta = draw_cells(expected_belief, rng)
    sizes = group_size(belief)
    reward = (sizes / sizes.sum())[belief.group] * variance_drop(expected_belief, theta)
    cell = _argmax(np.where(left > 0, reward, -np.inf), rng)
    return _choice(belief, cell, drawn=theta[cell], reward=reward[cell])


def _cell_of(belief: Belief, group: int, left: Ints, drop: Floats, rng: Rng) -> int:
    allowed = (belief.group == group) & (left > 0)
    return _argmax(np.where(allowed, drop, -np.inf), rng)


def _argmax(values: Floats, rng: Rng) -> int:
    """The index of the largest value, of any of them if there are several."""
    largest = np.flatnonzero(values == values.max())
    return int(largest[rng.integers(largest.size)])


def _choice(belief: Belief, cell: int, **numbers: float) -> Choice:
    named = {name: float(number) for name, number in numbers.items()}
    return Choice(cell, int(belief.group[cell]), named)


def _some_left(left: Ints) -> None:
    if not left.any():
        raise NothingLeft(
            "every item of the pool is labelled, queued or withheld. Wait for the queued items, "
            "or stop."
        )


def _checked(belief: Belief, left: Ints, pending: Ints) -> Ints:
    left, pending = np.asarray(left), np.asarray(pending)
    for name, counts in (("left", left), ("pending", pending)):
        if counts.shape != belief.group.shape:
            raise ValueError(
                f"{name} has shape {counts.shape}, but the belief covers {belief.group.size} "
                "cells; pass one count a cell."
            )
    over = (left < 0) | (pending < 0) | (left + pending > unlabelled(belief))
    if over.any():
        c = int(over.argmax())
        raise ValueError(
            f"cell {c} has {left[c]} items left and {pending[c]} pending, but "
            f"{unlabelled(belief)[c]} without a label; derive all three from the same state."
        )
    return left
