"""Draws from the posterior: unlabelled items are completed with whole outcomes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import (
    Belief,
    Counts,
    Ints,
    filled_groups,
    group_size,
    starts,
    unlabelled,
)
from worker.core.posterior.class_ratios import drawn_of_classes
from worker.core.posterior.metrics import RATIOS, Errors
from worker.core.posterior.rates import draw_rates

Floats = NDArray[np.float64]

N_DRAWS = 2000
_BLOCK = 1 << 21  # numbers held at once while drawing


def draw(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    """(n, G) independent posterior draws of all groups' values; nan for groups without items.

    A confusion matrix has no single value: its accuracy is drawn.
    """
    if not b.group.size:
        return np.full((n, b.n_groups), np.nan)
    if b.soft_labels is not None:
        values = b.soft_labels.values[rng.integers(len(b.soft_labels.values), size=n)].copy()
        values[:, group_size(b) == 0] = np.nan
        return values
    if b.accuracies is not None:
        return b.accuracies.drawn(rng, n)
    if b.variants:
        shares = np.array_split(np.arange(n), len(b.variants))
        drawn = [draw(v, rng, len(share)) for v, share in zip(b.variants, shares, strict=True)]
        return np.concatenate(drawn)
    n_kinds = b.errors.counts.shape[1] if b.errors is not None else 0
    width = b.group.size * (1 + (n_kinds if b.metric.kind == "cost" else 0))
    width += b.n_groups * n_kinds if b.metric.classes != "one" else 0
    step = max(1, _BLOCK // width)
    blocks = [_drawn(b, rng, min(step, n - at)) for at in range(0, n, step)]
    values = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    if "empty" not in b._memo:
        b._memo["empty"] = np.flatnonzero(group_size(b) == 0)
    if b._memo["empty"].size:
        values[:, b._memo["empty"]] = np.nan
    return values


def joint_draws(b: Belief) -> Floats:
    """(2,000, G) draws of all groups' values together, always the same for the same tally."""
    if b.soft_labels is not None:
        return b.soft_labels.values
    if "joint_draws" not in b._memo:
        b._memo["joint_draws"] = draw(b, np.random.default_rng(N_DRAWS), N_DRAWS)
    drawn: Floats = b._memo["joint_draws"]
    return drawn


def _drawn(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    is_finite = b.population == "finite"
    right = _completed(b, rng, n) if is_finite else b.size * draw_rates(b, rng, n)
    kind = b.metric.kind
    if kind in ("accuracy", "confusion"):
        return _shares(b, right)
    if kind == "bias":
        return _shares(b, np.nan_to_num(b.metric.score) * b.size - right)
    if kind == "ece":
        return calibration_errors(b, right)
    if kind == "cost":
        errors = _errors(b, rng, right)
        worth = right * b.metric.values[:, 0] + (errors * b.metric.values[:, 1:]).sum(axis=2)
        return _shares(b, worth)
    return _ratios(b, rng, right)


def _ratios(b: Belief, rng: np.random.Generator, right: NDArray[Any]) -> Floats:
    """(n, G) recall, precision or F1 once all items are labelled, if so many (n, C) are right."""
    if b.metric.classes != "one":
        return drawn_of_classes(b, rng, right)
    is_positive, of_predicted = b.metric.unit == 1, RATIOS[b.metric.kind]
    hits = _sums(b, np.where(is_positive, right, 0))
    misses = _sums(b, np.where(is_positive, 0, b.size - right))
    predicted = _sums(b, np.where(is_positive, b.size, 0)[None])
    below = of_predicted * predicted + (1 - of_predicted) * (hits + misses)
    ratio = np.full(hits.shape, 1.0)  # nothing to find: all was found
    np.divide(hits, below, out=ratio, where=below > 0)
    return ratio


def draw_ratio(b: Belief, weight: Floats, rng: np.random.Generator) -> Floats:
    """(2,000,) draws of the recall, precision or F1 of a belief of one group.

    Args:
        weight: (U,) posterior probabilities of its components. Worked out for the group alone they
            would use its labels twice: what all labels say of what is shared is in the prior.
    """
    component = rng.choice(weight.size, N_DRAWS, p=weight)
    rates = rng.beta(
        (b.alpha + b.right[:, None]).T[component], (b.beta + b.wrong[:, None]).T[component]
    )
    if b.population == "infinite":
        return _ratios(b, rng, b.size * rates)[:, 0]
    return _ratios(b, rng, b.right + rng.binomial(unlabelled(b), rates))[:, 0]


def _completed(b: Belief, rng: np.random.Generator, n: int) -> NDArray[Any]:
    """(n, C) right answers once all items are labelled; nothing is drawn for cells that are."""
    left = unlabelled(b)
    is_open = np.flatnonzero(left)
    some = None if is_open.size == left.size else is_open
    if b.mixture.size == 1:
        a, c = b.alpha[:, 0] + b.right, b.beta[:, 0] + b.wrong
        return complete(b.right, left, a, c, some, rng, n)
    if some is None:
        return b.right + rng.binomial(left, draw_rates(b, rng, n))
    right = np.repeat(b.right[None], n, axis=0)
    right[:, some] += rng.binomial(left[some], draw_rates(b, rng, n, some))
    return right


def complete(
    right: Counts,
    left: Ints,
    a: Floats,
    c: Floats,
    some: NDArray[np.intp] | None,
    rng: np.random.Generator,
    n: int,
) -> NDArray[Any]:
    """(n, C) draws of the right answers once all items are labelled.

    Args:
        right, left: (C,) right answers, and items without a label.
        a, c: (C,) the parameters of each cell's Beta.
        some: the cells with items without a label; None if all cells have some.
    """
    if some is None:
        return right + rng.binomial(left, rng.beta(a, c, size=(n, a.size)))
    whole = np.repeat(right[None], n, axis=0)
    whole[:, some] += rng.binomial(left[some], rng.beta(a[some], c[some], size=(n, some.size)))
    return whole


def draw_entries(b: Belief, rng: np.random.Generator, n: int) -> Floats:
    """(n, G, 1 + L) draws of each group's shares of right answers and of every kind of error."""
    if b.variants:
        shares = np.array_split(np.arange(n), len(b.variants))
        drawn = [draw_entries(v, rng, len(s)) for v, s in zip(b.variants, shares, strict=True)]
        return np.concatenate(drawn)
    is_finite = b.population == "finite"
    right = _completed(b, rng, n) if is_finite else b.size * draw_rates(b, rng, n)
    every = np.concatenate([right[:, :, None], _errors(b, rng, right)], axis=2)
    return np.stack([_shares(b, every[:, :, j]) for j in range(every.shape[2])], axis=2)


def _errors(b: Belief, rng: np.random.Generator, right: NDArray[Any]) -> NDArray[Any]:
    """(n, C, L) errors of each kind among all items, labelled or to come."""
    assert b.errors is not None, "checked when the belief was made"
    shares = dirichlets(b.errors.counts + _kinds_prior(b.errors, rng, len(right)), rng, len(right))
    if b.population == "infinite":
        errors: NDArray[Any] = (b.size - right)[:, :, None] * shares
        return errors
    rest = np.rint(b.size - right - b.wrong).astype(np.int64)
    errors = rng.multinomial(rest, shares) + b.errors.counts
    return errors


def _kinds_prior(errors: Errors, rng: np.random.Generator, n: int) -> Floats:
    """(n or none, C, L) draws of the prior: what all cells have in common moves them together.

    How frequent each kind is, to what was foreseen, is a Gamma: a rate, of which so many errors
    are known.
    """
    if not errors.common.size:
        return errors.prior
    prior = errors.prior * (rng.standard_gamma(errors.common, (n, 1, errors.common.size)))
    prior /= errors.common
    prior *= errors.prior.sum(axis=1, keepdims=True) / prior.sum(axis=2, keepdims=True)
    return prior


def dirichlets(behind: Floats, rng: np.random.Generator, n: int) -> Floats:
    """(n, C, L) shares of the kinds; `behind` (n or none, C, L) are counts and pseudo-counts, >= 0.

    Drawn in logarithms, because a Gamma of a tiny shape underflows: if X ~ Gamma(a + 1) and
    E ~ Exp(1), then X exp(-E / a) ~ Gamma(a).
    """
    size = (n, *behind.shape[-2:])
    with np.errstate(divide="ignore"):
        logs = np.log(rng.standard_gamma(behind + 1, size=size))
        logs -= rng.standard_exponential(size) / behind
    logs -= logs.max(axis=2, keepdims=True)
    shares = np.exp(logs)
    drawn: Floats = shares / shares.sum(axis=2, keepdims=True)
    return drawn


def calibration_errors(b: Belief, right: NDArray[Any]) -> Floats:
    """(n, G) the groups' ECE, once all items are labelled, if so many (n, C) answers are right."""
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
    shares: Floats = _sums(b, cells) / _at_least_one(b)
    return shares


def _at_least_one(b: Belief) -> Floats:
    """(G,) items of each group, to divide by; 1 if there are none."""
    if "divisor" not in b._memo:
        b._memo["divisor"] = np.maximum(group_size(b), 1).astype(np.float64)
    sizes: Floats = b._memo["divisor"]
    return sizes
