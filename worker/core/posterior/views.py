"""What the labels of one pool say of several models: the same counts, looked at in other ways.

An item's label says of every model at once whether it is right. So there is one tally, counted by
cells: items on which the models agree alike, in one group of each. A view takes from it what
concerns one model, or the difference of two.
"""

from dataclasses import dataclass
from typing import Any

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
    """The C cells of a pool that M models predict.

    size: (C,) items. block: (C, M) which models agree: those of one block predict the same class;
    blocks are numbered in the order of their first models. logit: (C, M) mean logit of each model's
    scores, 0 where it gives none.

    Outcomes of an item are 0: block 0 is right, 1: no model is, 1 + b: block b is.
    """

    size: Ints
    block: Ints
    logit: Floats

    @property
    def n_outcomes(self) -> int:
        """How many outcomes an item may have."""
        return 2 + int(self.block.max(initial=0))

    def right(self, model: int) -> Ints:
        """(C,) the outcome with which a model is right."""
        block = self.block[:, model]
        return np.where(block == 0, 0, block + 1)


def outcome_of_block(block: Ints) -> Ints:
    """The outcome of items whose class is that of a block; of -1, if no block has it."""
    outcome: Ints = np.where(block < 0, NONE_RIGHT, np.where(block == 0, 0, block + 1))
    return outcome


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The tally of one model, or of the difference of two, in groups of its own.

    Its c rows are what a belief calls cells.

    cell: (c,) the pool's cell of each row; -1 if it stands for items on which the two agree: there
        is no difference, whatever their labels are.
    group: (c,) ascending. size: (c,) items.
    first: (c,) the outcome with which the (first) model is right. second: likewise; None in the
        view of one model.
    """

    cell: Ints
    group: Ints
    size: Ints
    n_groups: int
    first: Ints
    second: Ints | None = None

    def counts(self, tally: Ints) -> Ints:
        """The view's tally of the pool's (C, O).

        Returns:
            (c, 2) right and wrong; of a difference (c, 3): only the first is right, only the
            second, both or neither.
        """
        is_known, rows = self.cell < 0, np.arange(self.cell.size)
        own = np.where(is_known[:, None], 0, tally[self.cell])
        all_, first = own.sum(axis=1), own[rows, self.first]
        if self.second is None:
            return np.stack([first, all_ - first], axis=1)
        second = own[rows, self.second]
        rest = np.where(is_known, self.size, all_ - first - second)
        return np.stack([first, second, rest], axis=1)

    def of_cells(self, values: NDArray[Any]) -> NDArray[Any]:
        """(c,) numbers of the pool's cells (C,), such as of items that are left; known rows 0."""
        return np.where(self.cell < 0, 0, values[self.cell])


def of_model(layout: Layout, model: int, group: Ints, n_groups: int) -> View:
    """The accuracy of one model in its own groups; `group` (C,) is that of each cell."""
    cell = np.argsort(group, kind="stable")
    return View(cell, group[cell], layout.size[cell], n_groups, layout.right(model)[cell])


def of_difference(layout: Layout, first: int, second: int, group: Ints, n_groups: int) -> View:
    """How much more accurate one model is than another, in groups that both share."""
    differs = layout.block[:, first] != layout.block[:, second]
    agreed = np.bincount(group[~differs], weights=layout.size[~differs], minlength=n_groups)
    known = np.flatnonzero(agreed)
    cell = np.concatenate([np.flatnonzero(differs), np.full(known.size, -1)])
    of = np.concatenate([group[differs], known])
    size = np.concatenate([layout.size[differs], agreed[known]]).astype(np.int64)
    order = np.argsort(of, kind="stable")
    cell = cell[order]
    right = [np.where(cell < 0, 0, layout.right(model)[cell]) for model in (first, second)]
    return View(cell, of[order], size[order], n_groups, *right)


def joined(views: list[View]) -> View:
    """Differences side by side, and a last group that is no difference: what they are held to."""
    upto = np.cumsum([0, *(view.n_groups for view in views)])
    zero, one = np.array([0]), np.array([1])
    parts = [*views, View(-one, zero, one, 1, zero, zero)]

    def all_of(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])

    group = np.concatenate([part.group + n for part, n in zip(parts, upto, strict=True)])
    return View(
        all_of("cell"), group, all_of("size"), int(upto[-1]) + 1, all_of("first"), all_of("second")
    )


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
    """(C,) logit of the probability that a model is right, as all models' scores have it together.

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
    """(C,) the share of the other models that predict another class than one does, in [0, 1]."""
    own = layout.block[:, [model]]
    apart: Floats = (layout.block != own).sum(axis=1) / max(layout.block.shape[1] - 1, 1)
    return apart


def plausible_shares(layout: Layout) -> Floats:
    """(C, O) how likely each outcome is by all scores together, for pools that are made up."""
    share = np.zeros((layout.size.size, layout.n_outcomes))
    for m in range(layout.block.shape[1]):
        at = np.arange(layout.size.size), layout.right(m)
        share[at] = 1 / (1 + np.exp(-fused_logit(layout, m)))
    share[:, NONE_RIGHT] = np.maximum(1 - share.sum(axis=1) + share[:, NONE_RIGHT], _LEAST)
    whole: Floats = share / share.sum(axis=1, keepdims=True)
    return whole
