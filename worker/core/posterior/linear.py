"""Values that are sums over items: accuracy, bias, cost, and near them recall, precision, F1."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, Cells
from worker.core.posterior.metrics import RATIOS
from worker.core.posterior.parts import Part, sums

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Costs:
    """What errors are worth: the mean and variance of an error's value, (c, 1) each."""

    mean: Floats
    variance: Floats
    strength: Floats  # pseudo-counts and labels behind the kinds' probabilities
    known: Floats  # summed values of the labelled errors


def line_of(b: Belief, part: Part, cells: Cells) -> tuple[Floats, Costs | None, Floats]:
    """What a right answer in each cell (c, 1) and an error are worth, and an offset (g,)."""
    kind, n_cells = b.metric.kind, part.left.shape[0]
    nothing = np.zeros(part.size.size)
    if kind == "accuracy":
        return np.ones((n_cells, 1)), None, nothing
    if kind == "bias":
        score = sums(part, np.nan_to_num(b.metric.score[cells]) * b.size[cells]) / part.size
        return np.full((n_cells, 1), -1.0), None, score
    if kind == "cost":
        values = b.metric.values[cells]
        return values[:, :1], costs_of(b, cells, values[:, 1:]), nothing
    # a ratio is linear near its mean: to choose by; what is said of it is `summary`'s
    of_predicted, is_positive = RATIOS[kind], b.metric.unit[cells] == 1
    right = np.vecdot(part.weight[part.of], part.known[:, None] + part.mass * part.rho)
    hits = sums(part, np.where(is_positive, right, 0.0))
    misses = sums(part, np.where(is_positive, 0.0, b.size[cells] - right))
    predicted = sums(part, np.where(is_positive, b.size[cells], 0))
    below = of_predicted * predicted + (1 - of_predicted) * (hits + misses)
    scale = 1 / np.maximum(below, 1e-9)
    ratio = np.where(below > 0, hits * scale, 1.0)  # nothing to find: all was found
    less = (1 - of_predicted) * ratio  # by so much of what it adds below the line
    per_item = np.where(is_positive, 1 - less[part.of], less[part.of]) * scale[part.of]
    at_mean = sums(part, per_item * right)
    return (per_item * part.size[part.of])[:, None], None, ratio - at_mean


def costs_of(b: Belief, cells: Cells, values: Floats) -> Costs:
    assert b.errors is not None, "checked when the belief was made"
    counts, prior = b.errors.counts[cells], b.errors.prior[cells]
    behind = counts + prior
    strength = behind.sum(axis=1, keepdims=True)
    share = behind / strength
    mean = (share * values).sum(axis=1, keepdims=True)
    variance = (share * values**2).sum(axis=1, keepdims=True) - mean**2
    known = (counts * values).sum(axis=1, keepdims=True)
    if b.population == "infinite":
        known = np.zeros_like(known)
    return Costs(mean, np.maximum(variance, 0.0), strength, known)


def linear(
    b: Belief, part: Part, cells: Cells, worth: Floats, costs: Costs | None
) -> tuple[Floats, Floats]:
    """(g, U) mean and variance, given the component, of the items' total worth over the size."""
    rho, mass = part.rho, part.mass
    size = part.size[:, None]
    if costs is None:
        mean = sums(part, worth * (part.known[:, None] + mass * rho)) / size
        return mean, sums(part, worth**2 * part.spread) / size**2
    known = worth * part.known[:, None] + costs.known
    mean = sums(part, known + mass * (rho * worth + (1 - rho) * costs.mean)) / size
    wrong = mass * (1 - rho)
    kinds = part.spread + wrong**2  # E[wrong answers to come, squared]
    if b.population == "finite":
        kinds = kinds + costs.strength * wrong
    spread = (worth - costs.mean) ** 2 * part.spread
    spread = spread + costs.variance * kinds / (costs.strength + 1)
    return mean, sums(part, spread) / size**2


def linear_drop(
    part: Part, worth: Floats, costs: Costs | None, centred: Floats, rate: Floats
) -> Floats:
    """(c,) Var_y(E[V | y]) for a value that is linear with `worth` (c, 1 or U) a right answer.

    Each outcome y has probability p_y and moves the mean by d_y; the drop is sum_y p_y d_y^2.
    Kinds of errors move it by A + (value - mean value) B, hence A^2 + Var(value) B^2.
    """
    rho, weight = part.rho, part.weight.take(part.of, axis=0)
    reach = (worth - (costs.mean if costs else 0.0)) * part.gain / part.size.take(part.of)[:, None]
    if costs is None and rho.shape[1] == 1:
        return (reach**2 * rho * (1 - rho))[:, 0]
    wrong = weight * (1 - rho)
    p_wrong = np.maximum(1 - rate, 1e-300)
    if_right = np.vecdot(weight * rho, centred + reach * (1 - rho))
    if_wrong = np.vecdot(wrong, centred - reach * rho)
    drop: Floats = if_right**2 / np.maximum(rate, 1e-300) + if_wrong**2 / p_wrong
    if costs is not None:
        rest = speaks_for(part, costs.strength)
        kinds = np.vecdot(wrong, rest) / part.size[part.of]
        drop = drop + costs.variance[:, 0] * kinds**2 / p_wrong
    return drop


def speaks_for(part: Part, strength: Floats) -> Floats:
    """(c, U) how many errors an error's kind speaks for: itself, and a share of those to come."""
    wrong = part.total * (1 - part.rho)
    to_come = (wrong + 1) / ((part.total + 1) * (strength + 1))
    if part.mass is part.left:
        rest: Floats = 1 + (part.left - 1) * to_come
    else:
        rest = part.mass * to_come
    return rest
