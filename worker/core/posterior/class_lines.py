"""Recall, precision and F1 of all classes near their means, where they are linear: to choose by."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Cells, filled_groups, group_size, replaced
from worker.core.posterior.linear import Costs, costs_of, speaks_for
from worker.core.posterior.metrics import RATIOS, Metric
from worker.core.posterior.parts import Part, part_of

if TYPE_CHECKING:
    from worker.core.posterior.moments import Moments

Floats = NDArray[np.float64]

_OCCURS = 0.5  # items, expected: of fewer a class is not there
_LEAST = 1e-300  # of a probability


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """What is expected of c cells in S scopes, and how far it moves each class's ratio.

    right: (c,) answers, errors: (c, K) of each kind, once all items are labelled. ratio, per_hit,
    per_miss: (S, K) of each class, at that; by so much a further item moves it. is_there: (S, K)
    whether the class is in any item.
    """

    right: Floats
    errors: Floats
    ratio: Floats
    per_hit: Floats
    per_miss: Floats
    is_there: NDArray[np.bool_]


def _lines(b: Belief, part: Part, cells: Cells, scope: NDArray[np.intp], n_scopes: int) -> _Lines:
    """Args: scope: (c,) in which matrix of true and predicted classes each cell counts."""
    assert b.errors is not None, "checked when the belief was made"
    of_predicted, unit = RATIOS[b.metric.kind], b.metric.unit[cells]
    counts, prior = b.errors.counts[cells], b.errors.prior[cells]
    right = np.vecdot(part.weight[part.of], part.known[:, None] + part.mass * part.rho)
    kinds = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
    known = counts if b.population == "finite" else np.zeros_like(counts)
    errors = known + (b.size[cells] - right - known.sum(axis=1))[:, None] * kinds
    hits, predicted, missed = np.zeros((3, n_scopes, counts.shape[1]))
    np.add.at(hits, (scope, unit), right)
    np.add.at(predicted, (scope, unit), b.size[cells])
    np.add.at(missed, scope, errors)
    below = of_predicted * predicted + (1 - of_predicted) * (hits + missed)
    ratio = np.divide(hits, below, out=np.zeros(hits.shape), where=below > 0)
    less = (1 - of_predicted) * ratio  # by so much of what it adds below the line
    below = np.maximum(below, 1.0)
    return _Lines(
        right, errors, ratio, (1 - less) / below, -less / below, predicted + missed > _OCCURS
    )


def line_of_classes(b: Belief, part: Part, cells: Cells) -> tuple[Floats, Costs, Floats]:
    """What an answer is worth for the mean over the classes, near its own mean: as `line_of`.

    A right one is a hit of its class, an error of any kind misses an item of that class.
    """
    at = _lines(b, part, cells, part.of, part.size.size)
    n_there = np.maximum(at.is_there.sum(axis=1), 1)[:, None]
    scale = part.size[:, None] / n_there
    worth = (at.per_hit * scale)[part.of, b.metric.unit[cells]]
    values = (at.per_miss * scale)[part.of]
    at_mean = np.bincount(part.of, worth * at.right + (values * at.errors).sum(axis=1)) / part.size
    offset: Floats = at.ratio.sum(axis=1) / n_there[:, 0] - at_mean
    return worth[:, None], costs_of(b, cells, values), offset


def accuracies_of(b: Belief) -> Belief:
    """The belief about the accuracy of the same groups."""
    if "of_accuracy" not in b._memo:
        b._memo["of_accuracy"] = replaced(b, metric=Metric("accuracy"), errors=None, _memo={})
    of_accuracy: Belief = b._memo["of_accuracy"]
    return of_accuracy


def moments_of_classes(b: Belief, known: "Moments") -> "Moments":
    """What is expected of each class's ratio, and of one more label anywhere.

    A label in a cell tells of the hits of the class that is predicted there, and of the misses of
    every other one by how probable it is that the item is of that class. What moves the cells of a
    group together counts among the hits only.

    Args:
        known: the moments of `accuracies_of` the belief.
    """
    assert b.errors is not None, "checked when the belief was made"
    filled, every = filled_groups(b), slice(0, b.group.size)
    part = part_of(accuracies_of(b), filled, every)
    at = _lines(b, part, every, np.zeros(b.group.size, np.intp), 1)
    of_hit = at.per_hit[0] * group_size(b)
    behind = b.errors.counts + b.errors.prior
    strength = behind.sum(axis=1, keepdims=True)
    kinds = behind / strength
    other = kinds * (1 - kinds)

    # of each kind of errors among a cell's items to come, as in `confusion`
    weight = part.weight[part.of]
    expected = part.mass * part.rho
    spread = np.vecdot(weight, part.spread + (expected - np.vecdot(weight, expected)[:, None]) ** 2)
    wrong = np.vecdot(weight, part.mass - expected)
    squared = (spread + wrong**2)[:, None]
    if b.population == "finite":
        squared = squared + strength * wrong[:, None]
    missed = kinds**2 * spread[:, None] + other * squared / (strength + 1)

    rate = known.rate
    moved = np.vecdot(weight, part.gain) ** 2 * rate * (1 - rate)
    own = np.vecdot(weight * (1 - part.rho), speaks_for(part, strength))
    drop = kinds**2 * moved[:, None] + other * (own**2 / np.maximum(1 - rate, _LEAST))[:, None]
    drop *= at.per_miss[0] ** 2
    cell = np.arange(b.group.size)
    drop[cell, b.metric.unit] = known.drop * of_hit[b.group] ** 2
    drop[part.left[:, 0] == 0] = 0.0

    is_empty = group_size(b) == 0
    mean = np.where(is_empty, np.nan, at.ratio[0])
    variance = of_hit**2 * np.nan_to_num(known.variance) + at.per_miss[0] ** 2 * missed.sum(axis=0)
    variance = np.where(is_empty, np.nan, variance)
    share = group_size(b) / b.size.sum()
    given = np.stack([mean, variance])[:, :, None].repeat(known.given.shape[2], axis=2)
    return replace(
        known, mean=mean, variance=variance, drop=drop @ share / share[b.group], given=given,
        between=np.zeros(b.n_groups), own=variance, moved=np.zeros_like(known.moved),
        of_classes=drop,
    )  # fmt: skip
