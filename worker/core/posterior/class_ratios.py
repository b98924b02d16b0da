"""Recall, precision and F1 of all classes, from how the true ones share the predicted ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.metrics import RATIOS

Floats = NDArray[np.float64]

_LEAST = 1e-300  # of a share
_SHAPES = 1e-3, 1e9  # of a Gamma: beyond, a share is 0 or 1, or known


def of_classes(of_predicted: float, hits: Floats, predicted: Any, missed: Floats) -> Floats:
    """(..., K) hits / (w predicted + (1 - w) truly there) of each class; nan where no item is it.

    0 where there is nothing to divide by, as a class of which nothing is predicted has no hit.

    Args:
        of_predicted: w. hits, predicted, missed: (..., K) items of the class that are predicted so;
            all that are predicted so; those of the class that are predicted otherwise.

    Source:
        scikit-learn's `f1_score`, `precision_score` and `recall_score` with `average=None`, of the
        classes that are in the labels or in the predictions.
    """
    truly = hits + missed
    below = of_predicted * predicted + (1 - of_predicted) * truly
    ratio = np.divide(hits, below, out=np.zeros(truly.shape), where=below > 0)
    found: Floats = np.where((predicted > 0) | (truly > 0), ratio, np.nan)
    return found


def drawn_of_classes(b: Belief, rng: np.random.Generator, right: NDArray[Any]) -> Floats:
    """(n, G) each class's ratio, or the mean over the classes in each group.

    Args:
        right: (n, C) right answers of each cell once all items are labelled.

    Source:
        scikit-learn's `average="macro"`: each class counts the same, however frequent it is.
    """
    scope, n_scopes = _scopes(b)
    hits = _by_class(b, right, scope, n_scopes)
    predicted = _by_class(b, b.size[None], scope, n_scopes)
    missed = _missed(b, rng, right, scope, n_scopes)
    values = of_classes(RATIOS[b.metric.kind], hits, predicted, missed)
    if b.metric.classes == "each":
        return values[:, 0]
    is_there = ~np.isnan(values)
    n_there = np.maximum(is_there.sum(axis=2), 1)
    mean: Floats = np.where(is_there, values, 0.0).sum(axis=2) / n_there
    return mean


def _scopes(b: Belief) -> tuple[NDArray[np.int64], int]:
    """(C,) in which matrix of true and predicted classes each cell counts, and how many there are.

    Every group has its own, but where the groups are the classes of one.
    """
    if b.metric.classes == "each":
        return np.zeros_like(b.group), 1
    return b.group, b.n_groups


def _by_class(b: Belief, cells: NDArray[Any], scope: NDArray[np.int64], n_scopes: int) -> Floats:
    """(n, S, K) sums over the cells (n, C) of each scope that are predicted as each class."""
    k = _n_classes(b)
    at = scope * k + b.metric.unit  # ascending
    first = np.flatnonzero(np.diff(at, prepend=-1))
    summed = np.zeros((len(cells), n_scopes * k))
    summed[:, at[first]] = np.add.reduceat(cells, first, axis=1)
    by_class: Floats = summed.reshape(-1, n_scopes, k)
    return by_class


def _n_classes(b: Belief) -> int:
    assert b.errors is not None, "checked when the belief was made"
    return int(b.errors.counts.shape[1])


def _missed(
    b: Belief,
    rng: np.random.Generator,
    right: NDArray[Any],
    scope: NDArray[np.int64],
    n_scopes: int,
) -> Floats:
    """(n, S, K) draws of the items of each class that are predicted otherwise, in each scope.

    The errors to come of its cells are each Dirichlet-multinomial. Their sum is drawn as one, of
    the same number of errors, means and variances: a hundred classes in a hundred cells would be
    twenty million numbers.
    """
    assert b.errors is not None, "checked when the belief was made"
    errors, is_finite, n = b.errors, b.population == "finite", len(right)
    to_come = np.rint(b.size - right - b.wrong) if is_finite else b.size - right
    tilt: Floats = np.ones((1, _n_classes(b)))
    if errors.common.size:  # what all cells have in common, as in `drawing`
        tilt = rng.standard_gamma(errors.common, (n, errors.common.size)) / errors.common
    missed = np.zeros((n, n_scopes, _n_classes(b)))
    for s in np.unique(scope).tolist():
        own = scope == s
        counts, prior = errors.counts[own], errors.prior[own]
        if is_finite:
            missed[:, s] += counts.sum(axis=0)
        if (some := to_come[:, own]).any():
            missed[:, s] += _to_come(some, counts, prior, tilt, rng, is_finite)
    return missed


def _to_come(
    errors: Floats,
    counts: Any,
    prior: Floats,
    tilt: Floats,
    rng: np.random.Generator,
    is_finite: bool,
) -> Floats:
    """(n, K) errors of each kind among so many (n, c) of each cell.

    Args:
        counts, prior: (c, K). tilt: (n or 1, K) of the prior's kinds.
    """
    behind = (counts + prior).sum(axis=1)
    seen, prior_share = counts / behind[:, None], prior / behind[:, None]
    level = prior.sum(axis=1) / (tilt @ prior.T)  # so the tilted prior is worth as many errors
    spread = errors * (errors + behind if is_finite else errors) / (behind + 1)
    mean = errors @ seen + tilt * ((errors * level) @ prior_share)
    variance = spread @ (seen - seen**2)
    variance += tilt * ((spread * level) @ (prior_share - 2 * seen * prior_share))
    variance -= tilt**2 * ((spread * level**2) @ prior_share**2)
    total = errors.sum(axis=1, keepdims=True)
    n = np.maximum(total, 1.0)
    p = mean / n
    if is_finite:  # what a multinomial adds by itself, it adds below
        variance = (variance - n * p * (1 - p)) / np.maximum(n * (n - 1), 1.0)
    else:
        variance = variance / n**2
    shape = p**2 * (1 - p) / np.maximum(variance, _LEAST) - p
    shape = np.clip(np.nan_to_num(shape, nan=_SHAPES[0]), *_SHAPES)
    share = p * rng.standard_gamma(shape) / shape + _LEAST * (p > 0)
    share /= np.maximum(share.sum(axis=1, keepdims=True), _LEAST)
    if is_finite:
        whole = total[:, 0].astype(np.int64)
        return rng.multinomial(whole, share).astype(np.float64)
    drawn: Floats = total * share
    return drawn
