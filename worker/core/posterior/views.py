"""What the labels of one pool say of several models: the same counts, looked at in other ways.

An item's label says of every model at once whether it is right. So there is one tally, counted by
portions: items on which the models agree alike, in one group of each. A view takes from it what
concerns one model, or the difference of two.

A portion usually is a cell of its own. Where there are too many, rare ones are drawn together, as
one cell: its labels are a uniform sample of the cell, and so of its part in each model's groups,
which are rows of that model's view. Counted by cells, labels of one group would speak for another;
drawn by portions, those that another model asks for would be more than their share of a row.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.differences import CLOSENESS
from worker.core.posterior.metrics import Errors, Metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE_RIGHT = 1  # the outcome of an item of which every model is wrong
_LEAST = 0.02  # of a share that is made up


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The P portions of a pool that M models predict.

    size: (P,) items. block: (P, M) which models agree: those of one block predict the same class;
    blocks are numbered in the order of their first models. logit: (P, M) mean logit of each model's
    scores, 0 where it gives none. cell: (P,) ascending, the cell that each is drawn with; None if
    every portion is a cell of its own.

    Outcomes of an item are 0: block 0 is right, 1: no model is, 1 + b: block b is.
    """

    size: Ints
    block: Ints
    logit: Floats
    cell: Ints | None = None

    @property
    def cells(self) -> Ints:
        """(P,) the cell of each portion."""
        return np.arange(self.size.size) if self.cell is None else self.cell

    @property
    def n_outcomes(self) -> int:
        """How many outcomes an item may have."""
        return 2 + int(self.block.max(initial=0))

    def right(self, model: int) -> Ints:
        """(P,) the outcome with which a model is right."""
        block = self.block[:, model]
        return np.where(block == 0, 0, block + 1)


def outcome_of_block(block: Ints) -> Ints:
    """The outcome of items whose class is that of a block; of -1, if no block has it."""
    outcome: Ints = np.where(block < 0, NONE_RIGHT, np.where(block == 0, 0, block + 1))
    return outcome


class Queue(NamedTuple):
    """Of each row of a view (c,): items that can still be claimed, and claimed ones to come."""

    left: Ints
    pending: Ints


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The tally of one model, or of the difference of two, in groups of its own.

    Its c rows are what a belief calls cells: the items of one of the pool's cells that are in one
    group.

    cell: (c,) the pool's cell of each row; -1 if it stands for items on which the two agree: there
        is no difference, whatever their labels are.
    group: (c,) ascending. size: (c,) items.
    portion: (p,) the portions that are counted. row: (p,) ascending, the row of each.
    first: (p,) the outcome with which the (first) model is right. second: likewise; None in the
        view of one model.
    """

    cell: Ints
    group: Ints
    size: Ints
    n_groups: int
    portion: Ints
    row: Ints
    first: Ints
    second: Ints | None = None

    def counts(self, tally: Ints) -> Ints:
        """The view's tally of the pool's (P, O).

        Returns:
            (c, 2) right and wrong; of a difference (c, 3): only the first is right, only the
            second, both or neither.
        """
        portions = tally[self.portion]
        at, all_ = np.arange(self.portion.size), self._summed(portions.sum(axis=1))
        first = self._summed(portions[at, self.first])
        if self.second is None:
            return np.stack([first, all_ - first], axis=1)
        second = self._summed(portions[at, self.second])
        rest = np.where(self.cell < 0, self.size, all_ - first - second)
        return np.stack([first, second, rest], axis=1)

    def of_portions(self, counts: Ints) -> Ints:
        """(c,) counts of the pool's portions (P,), such as of items that are left; known ones 0."""
        return self._summed(counts[self.portion])

    def means(self, values: Floats, layout: Layout) -> Floats:
        """(c,) means over the items of each row, of numbers of the portions (P,); known ones 0."""
        share = layout.size[self.portion] / self.size[self.row]
        weighted = values[self.portion] * share
        means = np.bincount(self.row, weights=weighted, minlength=self.cell.size)
        return means.astype(np.float64)

    def chance(self, queue: Queue, left: Ints) -> Floats:
        """(c,) how likely an item drawn from a row's cell is in the row; `left` (C,) are cells'."""
        in_cell = np.where(self.cell < 0, 0, left[self.cell])
        chance: Floats = queue.left / np.maximum(in_cell, 1)
        return chance

    def _summed(self, values: Ints) -> Ints:
        summed = np.bincount(self.row, weights=values, minlength=self.cell.size)
        return summed.astype(np.int64)


def of_model(layout: Layout, model: int, group: Ints, n_groups: int) -> View:
    """The accuracy of one model in its own groups; `group` (P,) is that of each portion."""
    portion, row, cell, of = _rows(layout, np.arange(layout.size.size), group)
    size = np.bincount(row, weights=layout.size[portion]).astype(np.int64)
    return View(cell, of, size, n_groups, portion, row, layout.right(model)[portion])


def of_difference(layout: Layout, first: int, second: int, group: Ints, n_groups: int) -> View:
    """How much more accurate one model is than another, in groups that both share."""
    differs = layout.block[:, first] != layout.block[:, second]
    agreed = np.bincount(group[~differs], weights=layout.size[~differs], minlength=n_groups)
    known = np.flatnonzero(agreed)
    portion, row, cell, of = _rows(layout, np.flatnonzero(differs), group)
    size = np.bincount(row, weights=layout.size[portion], minlength=cell.size)
    cell = np.concatenate([cell, np.full(known.size, -1)])
    of = np.concatenate([of, known])
    size = np.concatenate([size, agreed[known]]).astype(np.int64)
    order = np.argsort(of, kind="stable")
    place = np.argsort(order)
    right = [layout.right(model)[portion] for model in (first, second)]
    return View(cell[order], of[order], size[order], n_groups, portion, place[row], *right)


def _rows(layout: Layout, portion: Ints, group: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Portions (p,) by group and cell, the row of each, and cell and group of each row."""
    cell, of = layout.cells[portion], group[portion]
    order = np.lexsort((cell, of))
    cell, of = cell[order], of[order]
    is_new = np.diff(cell, prepend=-1) != 0
    is_new |= np.diff(of, prepend=-1) != 0
    return portion[order], np.cumsum(is_new) - 1, cell[is_new], of[is_new]


def joined(views: list[View]) -> View:
    """Differences side by side, and a last group that is no difference: what they are held to."""
    upto = np.cumsum([0, *(view.n_groups for view in views)])
    rows = np.cumsum([0, *(view.cell.size for view in views)])
    none, one = np.zeros(0, np.int64), np.array([1])
    nothing = View(-one, np.array([0]), one, 1, none, none, none, none)
    parts = [*views, nothing]

    def all_of(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    group = np.concatenate([part.group + n for part, n in zip(parts, upto, strict=True)])
    row = np.concatenate([part.row + n for part, n in zip(parts, rows, strict=True)])
    return View(
        all_of("cell"), group, all_of("size"), int(upto[-1]) + 1, all_of("portion"), row,
        all_of("first"), all_of("second"),
    )  # fmt: skip


def believed_difference(view: View, common: Floats) -> Belief:
    """A belief about differences, before any label.

    Args:
        common: (G, 3) pseudo-counts of what all cells of a group have in common.
    """
    is_known = view.cell < 0
    closeness = np.tile(CLOSENESS, (view.cell.size, 1))
    counts = np.zeros((view.cell.size, 3), np.int64)
    counts[is_known, 2] = view.size[is_known]
    mixture = np.full(CLOSENESS.size, 1 / CLOSENESS.size)
    metric = Metric("difference", unit=is_known.astype(np.int64), common=common)
    return Belief(
        view.group, view.size, counts[:, 0], counts[:, 2], closeness / 3, closeness * 2 / 3,
        view.n_groups, mixture=mixture, metric=metric,
        errors=Errors(counts[:, 1:], np.full((view.cell.size, 2), 1 / 3)),
    )  # fmt: skip


def fused_logit(layout: Layout, model: int) -> Floats:
    """(P,) logit of the probability that a model is right, as all models' scores have it together.

    A block's weight is the geometric mean, over the models, of their scores if they are in it and
    of the rest if they are not; one weight more stands for no block.

    Source: a product of experts (Hinton 2002) with the power 1 / M.
    """
    n_blocks = int(layout.block.max(initial=0)) + 1
    m = layout.block.shape[1]
    weights = np.ones((layout.size.size, n_blocks + 1))
    for b in range(n_blocks):
        inside = layout.block == b
        weight = np.exp(np.where(inside, layout.logit, 0.0).sum(axis=1) / m)
        weights[:, b] = np.where(inside.any(axis=1), weight, 0.0)
    own = weights[np.arange(layout.size.size), layout.block[:, model]]
    fused: Floats = np.log(own) - np.log(weights.sum(axis=1) - own)
    return fused


def apart_from(layout: Layout, model: int) -> Floats:
    """(P,) the share of the other models that predict another class than one does, in [0, 1]."""
    own = layout.block[:, [model]]
    apart: Floats = (layout.block != own).sum(axis=1) / max(layout.block.shape[1] - 1, 1)
    return apart


def plausible_shares(layout: Layout) -> Floats:
    """(P, O) how likely each outcome is by all scores together, for pools that are made up."""
    share = np.zeros((layout.size.size, layout.n_outcomes))
    for m in range(layout.block.shape[1]):
        at = np.arange(layout.size.size), layout.right(m)
        share[at] = 1 / (1 + np.exp(-fused_logit(layout, m)))
    share[:, NONE_RIGHT] = np.maximum(1 - share.sum(axis=1) + share[:, NONE_RIGHT], _LEAST)
    whole: Floats = share / share.sum(axis=1, keepdims=True)
    return whole
