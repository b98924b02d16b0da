"""Draws from the posterior: unlabelled items are completed with whole outcomes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.belief import Belief, filled_groups, group_size, starts, unlabelled
from worker.core.moments import moments

Floats = NDArray[np.float64]
_BLOCK = 1 << 21  # numbers held at once while drawing


def draw(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    """(n, G) independent posterior draws of all groups' values; nan for groups without items.

    A confusion matrix has no single value: its accuracy is drawn.
    """
    if not b.group.size:
        return np.full((n, b.n_groups), np.nan)
    n_kinds = b.errors.counts.shape[1] if b.errors is not None else 0
    width = b.group.size * (1 + (n_kinds if b.metric.kind in ("cost", "tpr") else 0))
    step = max(1, _BLOCK // width)
    blocks = [_drawn(b, rng, min(step, n - at)) for at in range(0, n, step)]
    values = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    if b.n_groups > filled_groups(b).size or not group_size(b).all():
        values[:, group_size(b) == 0] = np.nan
    return values


def draw_cells(b: Belief, rng: np.random.Generator) -> Floats:
    """(C,) one posterior draw of each cell's rate of right answers, in [0, 1]."""
    rates: Floats = _rates(b, rng, 1)[0]
    return rates


def _rates(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    """(n, C) draws of the cells' rates, which share the node drawn for their group."""
    if b.node.size == 1:
        a, c = b.alpha[:, 0] + b.right, b.beta[:, 0] + b.wrong
        return rng.beta(a, c, size=(n, b.group.size))
    weight = moments(b).weight
    if b.metric.pooled:  # one node for all groups
        below = np.cumsum(weight[b.group[0]])
        node = np.searchsorted(below[:-1], rng.random(n))[:, None].repeat(b.n_groups, axis=1)
    else:
        node = (rng.random((n, b.n_groups, 1)) > np.cumsum(weight, axis=1)[:, :-1]).sum(axis=2)
    cell, of = np.arange(b.group.size), node[:, b.group]
    rates: Floats = rng.beta(b.alpha[cell, of] + b.right, b.beta[cell, of] + b.wrong)
    return rates


def _drawn(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    rates = _rates(b, rng, n)
    right: NDArray[Any]
    if b.population == "finite":
        right = b.right + rng.binomial(unlabelled(b), rates)
    else:
        right = b.size * rates
    kind = b.metric.kind
    if kind in ("accuracy", "confusion"):
        return _shares(b, right)
    if kind == "bias":
        return _shares(b, np.nan_to_num(b.metric.score) * b.size - right)
    if kind == "ece":
        return _calibration_errors(b, right)
    errors = _errors(b, rng, right)
    if kind == "cost":
        worth = right * b.metric.values[:, 0] + (errors * b.metric.values[:, 1:]).sum(axis=2)
        return _shares(b, worth)
    is_positive = b.metric.unit == 1
    hits = _sums(b, np.where(is_positive, right, 0))
    misses = _sums(b, np.where(is_positive, 0, errors[:, :, 0]))
    ratio = np.full(hits.shape, 1.0)  # no positive item: none was missed
    np.divide(hits, hits + misses, out=ratio, where=hits + misses > 0)
    return ratio


def _errors(b: Belief, rng: np.random.Generator, right: NDArray[Any]) -> NDArray[Any]:
    """(n, C, L) errors of each kind among all items, labelled or to come."""
    assert b.errors is not None, "checked when the belief was made"
    shares = dirichlets(b.errors.counts + b.errors.prior, rng, len(right))
    if b.population == "infinite":
        errors: NDArray[Any] = (b.size - right)[:, :, None] * shares
        return errors
    rest = np.rint(b.size - right - b.wrong).astype(np.int64)
    errors = rng.multinomial(rest, shares) + b.errors.counts
    return errors


def dirichlets(behind: Floats, rng: np.random.Generator, n: int) -> Floats:
    """(n, C, L) shares of the kinds; `behind` (C, L) are counts and pseudo-counts, >= 0.

    Drawn in logarithms, because a Gamma of a tiny shape underflows: if X ~ Gamma(a + 1) and
    E ~ Exp(1), then X exp(-E / a) ~ Gamma(a).
    """
    size = (n, *behind.shape)
    with np.errstate(divide="ignore"):
        logs = np.log(rng.standard_gamma(behind + 1, size=size))
        logs -= rng.standard_exponential(size) / behind
    logs -= logs.max(axis=2, keepdims=True)
    shares = np.exp(logs)
    drawn: Floats = shares / shares.sum(axis=2, keepdims=True)
    return drawn


def _calibration_errors(b: Belief, right: NDArray[Any]) -> Floats:
    is_first = np.ones(b.group.size, dtype=bool)
    is_first[1:] = (np.diff(b.group) != 0) | (np.diff(b.metric.unit) != 0)
    gap = np.nan_to_num(b.metric.score) * b.size - right
    of_bins = np.abs(np.add.reduceat(gap, np.flatnonzero(is_first), axis=1))
    at = np.zeros((len(right), b.group.size))
    at[:, is_first] = of_bins
    return _shares(b, at)


def _sums(b: Belief, cells: NDArray[Any]) -> Floats:
    """(n, G) sums over the cells of each group."""
    filled = filled_groups(b)
    if filled.size == b.group.size == b.n_groups:
        return cells  # one cell a group
    summed = np.zeros((len(cells), b.n_groups))
    summed[:, filled] = np.add.reduceat(cells, starts(b)[filled], axis=1)
    return summed


def _shares(b: Belief, cells: NDArray[Any]) -> Floats:
    """(n, G) sums over the cells of each group, over the group's items."""
    shares: Floats = _sums(b, cells) / np.maximum(group_size(b), 1)
    return shares
