"""Mean and variance of every group's value, and what one more label in a cell does to the latter.

All are closed forms. One label changes one group, so that a simulation, and a turn that claims
several items, work out anew what belongs to that group only.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, cells_of, filled_groups, group_size, starts, unlabelled

Floats = NDArray[np.float64]

# A group worked out alone takes as long as so many (cells x nodes) worked out together.
_OVERHEAD = 2500


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What is expected of the groups and of one more label.

    mean, variance: (G,) of every group's value; nan for groups without items.
    drop: (C,) expected drop of the variance of its group's value by one label in the cell; 0 for
        cells without unlabelled items. If the metric is pooled, of the groups' weighted sum.
    rate: (C,) probability that the next label in the cell is a right answer.
    weight: (G, U) posterior probabilities of the nodes; the prior's for groups without items.
    total: mean and variance of the groups' sum, weighted by their shares; if the metric is pooled.
    """

    mean: Floats
    variance: Floats
    drop: Floats
    rate: Floats
    weight: Floats
    total: tuple[float, float] | None = None


def moments(b: Belief) -> Moments:
    """Work out, once a belief, what is expected of all groups.

    The expected drop of a group's variance by a label y is Var_y(E[V | y]): the variance of its
    mean after that label. Node weights, rate and kinds of errors all move with y.

    Source:
        Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1, know it for one Beta (or Dirichlet) a
        group and an infinite population, at a drawn rate.
    """
    if "moments" not in b._memo:
        base: tuple[Moments, tuple[int, ...]] | None = b._memo.pop("stale_moments", None)
        b._memo["moments"] = _fresh(b) if base is None else _refreshed(b, *base)
    known: Moments = b._memo["moments"]
    return known


def carry_over(b: Belief, after: Belief, groups: tuple[int, ...]) -> None:
    """Let `after`, which differs from `b` in the tally of `groups` only, begin with b's moments.

    Nothing is worked out yet: many beliefs are never asked for their moments.
    """
    if b.metric.pooled:
        return  # all groups share their nodes
    old, stale = b._memo.get("moments"), groups
    if old is None and "stale_moments" in b._memo:
        old, stale = b._memo["stale_moments"]
        stale = tuple({*stale, *groups})
    if old is not None and len(stale) <= 1 + b.alpha.size // _OVERHEAD:
        after._memo["stale_moments"] = old, stale


def _fresh(b: Belief) -> Moments:
    g, c = b.n_groups, b.group.size
    blank = np.full(g, np.nan)
    of_all = Moments(blank, blank.copy(), np.zeros(c), np.zeros(c), np.tile(b.node, (g, 1)))
    filled = filled_groups(b)
    total = _work_out(b, of_all, filled, slice(0, c)) if filled.size else None
    return replace(of_all, total=total)


def _refreshed(b: Belief, old: Moments, groups: tuple[int, ...]) -> Moments:
    new = Moments(
        old.mean.copy(), old.variance.copy(), old.drop.copy(), old.rate.copy(), old.weight.copy()
    )
    for g in groups:
        _work_out(b, new, np.array([g]), cells_of(b, g))
    return new


@dataclass(slots=True, eq=False)
class _Part:
    """The cells of some neighbouring groups (c cells, g groups) and their posterior nodes."""

    size: Floats  # (g,) items
    of: NDArray[np.intp]  # (c,) which of the groups
    begin: NDArray[np.intp]  # (g,)
    left: Floats  # (c, 1)
    mass: Floats  # (c, 1) items that the rate stands for
    rho: Floats  # (c, U) mean rate of right answers
    spread: Floats  # (c, U) variance of the number of right answers to come
    gain: Floats  # (c, U) how far the expected number of right answers moves with a label
    total: Floats  # (c, U) pseudo-counts and labels
    weight: Floats  # (g, U)
    known: Any  # (c,) labels that count as they are: all of them, or none


def _work_out(
    b: Belief, into: Moments, groups: NDArray[np.intp], cells: slice
) -> tuple[float, float] | None:
    """Fill in what belongs to some groups; return mean and variance of the pooled sum, if any."""
    total = None
    part = _part(b, groups, cells)
    rate = part.rho[:, 0] if b.node.size == 1 else (part.weight[part.of] * part.rho).sum(axis=1)
    into.rate[cells] = rate
    into.weight[groups] = part.weight
    if b.metric.kind == "ece":
        mean, variance, slope = _calibration_error(b, part, cells)
        centred = _centred(part, mean)
        if b.metric.pooled:
            share = (part.size / group_size(b).sum())[:, None]
            sums, spreads = (share * mean).sum(axis=0), (share**2 * variance).sum(axis=0)
            weight = part.weight[0]
            expected = float(weight @ sums)
            total = expected, float(weight @ (spreads + (sums - expected) ** 2))
            slope, centred = slope * share[part.of], np.tile(sums - expected, (len(slope), 1))
        drop = _linear_drop(part, slope, None, centred, rate)
    elif b.metric.kind == "confusion":
        mean, variance, drop = _confusion(b, part, cells, rate)
    else:
        worth, costs, offset = _line(b, part, cells)
        mean, variance = _linear(b, part, cells, worth, costs)
        drop = _linear_drop(part, worth, costs, _centred(part, mean), rate)
        mean = mean + offset[:, None]
    into.mean[groups], into.variance[groups] = _mixed(part, mean, variance)
    into.drop[cells] = np.where(part.left[:, 0] > 0, drop, 0.0)
    return total


def _part(b: Belief, groups: NDArray[np.intp], cells: slice) -> _Part:
    right, wrong = b.right[cells, None], b.wrong[cells, None]
    a = b.alpha[cells] + right
    total = a + (b.beta[cells] + wrong)
    rho = a / total
    left = unlabelled(b)[cells, None].astype(np.float64)
    if b.population == "finite":
        mass, gain = left, (total + left) / (total + 1)
        spread = left * rho * (1 - rho) * gain
    else:
        mass = b.size[cells, None].astype(np.float64)
        gain = mass / (total + 1)
        spread = mass * rho * (1 - rho) * gain
    begins = starts(b)
    begin = (begins[groups] - cells.start).astype(np.intp)
    counts = begins[groups + 1] - begins[groups]
    of = np.repeat(np.arange(groups.size), counts)
    size = np.maximum(group_size(b)[groups], 1).astype(np.float64)
    weight = _weights(b, groups, cells, begin, a, total)
    known = b.right[cells] if b.population == "finite" else np.zeros(left.shape[0])
    return _Part(size, of, begin, left, mass, rho, spread, gain, total, weight, known)


def _log_norm(b: Belief) -> Floats:
    """(C, U) log Gamma(alpha) Gamma(beta): the prior's part of the likelihoods, worked out once."""
    if "log_norm" not in b._memo:
        b._memo["log_norm"] = special.gammaln(b.alpha) + special.gammaln(b.beta)
    kept: Floats = b._memo["log_norm"]
    return kept


def _has_even_strength(b: Belief) -> bool:
    """Whether alpha + beta is the same at all nodes; its part of the likelihoods then cancels."""
    if "even_strength" not in b._memo:
        strength = b.alpha + b.beta
        b._memo["even_strength"] = bool(np.allclose(strength, strength[:, :1], rtol=1e-12))
    return bool(b._memo["even_strength"])


def _weights(
    b: Belief,
    groups: NDArray[np.intp],
    cells: slice,
    begin: NDArray[np.intp],
    a: Floats,
    total: Floats,
) -> Floats:
    """(g, U) posterior probabilities of the nodes: their beta-binomial likelihoods, normalised."""
    if b.node.size == 1:
        return np.ones((groups.size, 1))
    likelihood = special.gammaln(a) + special.gammaln(total - a) - _log_norm(b)[cells]
    if not _has_even_strength(b):
        likelihood += special.gammaln(b.alpha[cells] + b.beta[cells]) - special.gammaln(total)
    by_group = np.add.reduceat(likelihood, begin, axis=0)
    if b.metric.pooled:
        by_group = np.tile(by_group.sum(axis=0), (groups.size, 1))
    logs = np.log(b.node) + by_group
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    normalised: Floats = weight / weight.sum(axis=1, keepdims=True)
    return normalised


def _sum(part: _Part, cells: Floats) -> Floats:
    """Sums over the cells of each group."""
    total: Floats = np.add.reduceat(cells, part.begin, axis=0)
    return total


def _mixed(part: _Part, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(g,) mean and variance over the nodes, of those (g, U) given each node."""
    expected = (part.weight * mean).sum(axis=1)
    spread = variance + (mean - expected[:, None]) ** 2
    return expected, (part.weight * spread).sum(axis=1)


def _centred(part: _Part, mean: Floats) -> Floats:
    """(c, U) how far each node's mean of the cell's group lies from the group's mean."""
    centred: Floats = (mean - (part.weight * mean).sum(axis=1, keepdims=True))[part.of]
    return centred


@dataclass(slots=True, eq=False)
class _Costs:
    """What errors are worth: the mean and variance of an error's value, (c, 1) each."""

    mean: Floats
    variance: Floats
    strength: Floats  # pseudo-counts and labels behind the kinds' probabilities
    known: Floats  # summed values of the labelled errors


def _line(b: Belief, part: _Part, cells: slice) -> tuple[Floats, _Costs | None, Floats]:
    """What a right answer in each cell (c, 1) and an error are worth, and an offset (g,)."""
    kind, n_cells = b.metric.kind, part.left.shape[0]
    nothing = np.zeros(part.size.size)
    if kind == "accuracy":
        return np.ones((n_cells, 1)), None, nothing
    if kind == "bias":
        score = _sum(part, np.nan_to_num(b.metric.score[cells]) * b.size[cells]) / part.size
        return np.full((n_cells, 1), -1.0), None, score
    if kind == "cost":
        values = b.metric.values[cells]
        return values[:, :1], _costs(b, cells, values[:, 1:]), nothing
    # tpr = TP / (TP + FN), linear near its mean
    is_positive = b.metric.unit[cells, None] == 1
    costs = _costs(b, cells, np.tile([1.0, 0.0], (n_cells, 1)))
    truly, falsely = (
        np.where(is_positive, part.known[:, None] + part.mass * part.rho, 0.0),
        np.where(is_positive, 0.0, costs.known + part.mass * (1 - part.rho) * costs.mean),
    )
    hits, misses = ((part.weight * _sum(part, cells_)).sum(axis=1) for cells_ in (truly, falsely))
    positives = np.maximum(hits + misses, 1e-9)
    ratio = hits / positives
    scale = (part.size / positives)[part.of, None]
    worth = np.where(is_positive, (1 - ratio)[part.of, None] * scale, 0.0)
    miss = np.where(is_positive, 0.0, -ratio[part.of, None] * scale)
    values = np.concatenate([miss, np.zeros_like(miss)], axis=1)
    line = _costs(b, cells, values)
    # at the mean the line is 0 by construction; the offset puts it at the ratio
    return worth, line, ratio


def _costs(b: Belief, cells: slice, values: Floats) -> _Costs:
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
    return _Costs(mean, np.maximum(variance, 0.0), strength, known)


def _linear(
    b: Belief, part: _Part, cells: slice, worth: Floats, costs: _Costs | None
) -> tuple[Floats, Floats]:
    """(g, U) mean and variance, given the node, of the sum of the items' worths over the size."""
    rho, mass = part.rho, part.mass
    size = part.size[:, None]
    if costs is None:
        mean = _sum(part, worth * (part.known[:, None] + mass * rho)) / size
        return mean, _sum(part, worth**2 * part.spread) / size**2
    known = worth * part.known[:, None] + costs.known
    mean = _sum(part, known + mass * (rho * worth + (1 - rho) * costs.mean)) / size
    wrong = mass * (1 - rho)
    kinds = part.spread + wrong**2  # E[wrong answers to come, squared]
    if b.population == "finite":
        kinds = kinds + costs.strength * wrong
    spread = (worth - costs.mean) ** 2 * part.spread
    spread = spread + costs.variance * kinds / (costs.strength + 1)
    return mean, _sum(part, spread) / size**2


def _linear_drop(
    part: _Part, worth: Floats, costs: _Costs | None, centred: Floats, rate: Floats
) -> Floats:
    """(c,) Var_y(E[V | y]) for a value that is linear with `worth` (c, 1 or U) a right answer.

    Each outcome y has probability p_y and moves the mean by d_y; the drop is sum_y p_y d_y^2.
    Kinds of errors move it by A + (value - mean value) B, hence A^2 + Var(value) B^2.
    """
    rho, weight = part.rho, part.weight[part.of]
    reach = (worth - (costs.mean if costs else 0.0)) * part.gain / part.size[part.of, None]
    if costs is None and rho.shape[1] == 1:
        return (reach**2 * rho * (1 - rho))[:, 0]
    wrong = weight * (1 - rho)
    p_wrong = np.maximum(1 - rate, 1e-300)
    if_right = (weight * rho * (centred + reach * (1 - rho))).sum(axis=1)
    if_wrong = (wrong * (centred - reach * rho)).sum(axis=1)
    drop: Floats = if_right**2 / np.maximum(rate, 1e-300) + if_wrong**2 / p_wrong
    if costs is not None:
        rest = _rest(part, costs.strength)
        kinds = (wrong * rest).sum(axis=1) / part.size[part.of]
        drop = drop + costs.variance[:, 0] * kinds**2 / p_wrong
    return drop


def _rest(part: _Part, strength: Floats) -> Floats:
    """(c, U) how many errors an error's kind speaks for: itself, and a share of those to come."""
    wrong = part.total * (1 - part.rho)
    to_come = (wrong + 1) / ((part.total + 1) * (strength + 1))
    if part.mass is part.left:
        rest: Floats = 1 + (part.left - 1) * to_come
    else:
        rest = part.mass * to_come
    return rest


def _calibration_error(b: Belief, part: _Part, cells: slice) -> tuple[Floats, Floats, Floats]:
    """ECE: (g, U) mean and variance, and the slope (c, U) of the value in each cell's accuracy.

    A bin's s - theta is taken for normal, so |s - theta| is folded normal; the slope has the sign
    of the mean and the size by which folding shrinks the standard deviation.
    """
    unit = b.metric.unit[cells]
    is_first = np.ones(unit.size, dtype=bool)
    is_first[1:] = (np.diff(part.of) != 0) | (np.diff(unit) != 0)
    first = np.flatnonzero(is_first)
    bin_of = np.cumsum(is_first) - 1

    def over_bins(values: Floats) -> Floats:
        summed: Floats = np.add.reduceat(values, first, axis=0)
        return summed

    items = np.maximum(over_bins(b.size[cells, None].astype(np.float64)), 1)
    score = over_bins((np.nan_to_num(b.metric.score[cells]) * b.size[cells])[:, None]) / items
    gap = score - over_bins(part.known[:, None] + part.mass * part.rho) / items
    variance = np.maximum(over_bins(part.spread) / items**2, 1e-300)
    sd = np.sqrt(variance)
    folded = sd * np.sqrt(2 / np.pi) * np.exp(-(gap**2) / (2 * variance)) + gap * special.erf(
        gap / (sd * np.sqrt(2))
    )
    folded_variance = np.maximum(variance + gap**2 - folded**2, 0.0)
    share = items / part.size[part.of[first], None]
    group_begin = np.searchsorted(part.of[first], np.arange(part.size.size))
    mean: Floats = np.add.reduceat(share * folded, group_begin, axis=0)
    total: Floats = np.add.reduceat(share**2 * folded_variance, group_begin, axis=0)
    slope = -np.sign(gap) * np.sqrt(np.minimum(folded_variance / variance, 1.0))
    return mean, total, slope[bin_of]


def _confusion(b: Belief, part: _Part, cells: slice, rate: Floats) -> tuple[Floats, Floats, Floats]:
    """Confusion: the accuracy (g, U), the summed variance of all entries (g, U), its drop (c,).

    The right answers' entry as in the accuracy, and the sums over the kinds of errors of what
    `_linear` and `_linear_drop` give for a value that is 1 for one kind and 0 for all else.
    """
    assert b.errors is not None, "checked when the belief was made"
    counts = b.errors.counts[cells]
    behind = counts + b.errors.prior[cells]
    strength = behind.sum(axis=1, keepdims=True)
    kinds = behind / strength
    certain = (kinds**2).sum(axis=1, keepdims=True)  # 1 if only one kind can be
    rho, size = part.rho, part.size[:, None]
    ones = np.ones_like(strength)

    mean, variance = _linear(b, part, cells, ones, None)
    wrong = part.mass * (1 - rho)
    squared = part.spread + wrong**2
    if b.population == "finite":
        squared = squared + strength * wrong
    entries = part.spread * certain + (1 - certain) * squared / (strength + 1)
    variance = variance + _sum(part, entries) / size**2

    # how the kinds' shares differ between the nodes: (g, U, L)
    known = counts if b.population == "finite" else np.zeros_like(counts)
    shares = _sum(part, known[:, None, :] + wrong[:, :, None] * kinds[:, None, :])
    shares = shares / size[:, :, None]
    centred = shares - (part.weight[:, :, None] * shares).sum(axis=1, keepdims=True)
    variance = variance + (centred**2).sum(axis=2)

    drop = _linear_drop(part, ones, None, _centred(part, mean), rate)
    weight = part.weight[part.of]
    reach = part.gain / part.size[part.of, None]
    p_right, p_wrong = np.maximum(rate, 1e-300), np.maximum(1 - rate, 1e-300)
    moved = (weight * rho * (1 - rho) * reach).sum(axis=1, keepdims=True)
    if_right = np.einsum("cu,cul->cl", weight * rho, centred[part.of]) - kinds * moved
    if_wrong = np.einsum("cu,cul->cl", weight * (1 - rho), centred[part.of]) + kinds * moved
    drop = drop + (if_right**2).sum(axis=1) / p_right + (if_wrong**2).sum(axis=1) / p_wrong
    own = (weight * (1 - rho) * _rest(part, strength)).sum(axis=1) / part.size[part.of]
    return mean, variance, drop + (1 - certain[:, 0]) * own**2 / p_wrong


def confusion_mean(b: Belief) -> Floats:
    """(G, 1 + L) posterior means of the share of right answers and of each kind of error.

    Raises:
        ValueError: the belief does not count kinds of errors.
    """
    if b.errors is None:
        raise ValueError("kinds of errors are not counted here; pass `errors` to the belief.")
    shares = np.full((b.n_groups, 1 + b.errors.counts.shape[1]), np.nan)
    filled = filled_groups(b)
    if not filled.size:
        return shares
    cells = slice(0, b.group.size)
    part = _part(b, filled, cells)
    counts, prior = b.errors.counts, b.errors.prior
    kinds = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
    rate = (part.weight[part.of] * part.rho).sum(axis=1, keepdims=True)
    is_finite = b.population == "finite"
    right = part.mass * rate + part.known[:, None]
    wrong = part.mass * (1 - rate) * kinds + (counts if is_finite else 0)
    shares[filled] = _sum(part, np.concatenate([right, wrong], axis=1)) / part.size[:, None]
    return shares
