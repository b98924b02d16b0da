"""What the labels would say, item by item: derived from the pool's true classes, or drawn.

An outcome is 0 where the classifier is right, and 1, 2, ... for the kinds of errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.belief import Belief
from worker.core.drawing import draw_cells
from worker.core.metrics import Errors
from worker.core.posterior import mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

_BLOCK = 10_000  # wrong items looked at together: each takes a row of shares


def outcomes(assessment: Assessment, truth: Ints) -> Ints:
    """(N,) the outcome of every item, in the order of the pool's rows.

    Args:
        truth: (N,) index of the true class (`worker.pool.truth.read_truth`).
    """
    is_wrong: Ints = (assessment.pool.predicted != truth).astype(np.int64)
    return is_wrong


def plausible(assessment: Assessment, rng: Rng) -> Ints:
    """(N,) outcomes of a pool such as the prior expects: a rate for every cell, then its items."""
    believed = assessment.believe({})
    cell = cell_of_rows(assessment)
    outcome = (rng.random(cell.size) >= draw_cells(believed, rng)[cell]).astype(np.int64)
    if believed.errors is not None:
        share = rng.standard_gamma(believed.errors.prior)
        below = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)[:, :-1]
        wrong = np.flatnonzero(outcome)
        drawn = rng.random((wrong.size, 1))
        for at in range(0, wrong.size, _BLOCK):
            some = slice(at, at + _BLOCK)
            outcome[wrong[some]] += (drawn[some] > below[cell[wrong[some]]]).sum(axis=1)
    return outcome


def cell_of_rows(assessment: Assessment) -> Ints:
    """(N,) the cell of every row of the pool."""
    size = assessment.pool.cell_size
    return np.repeat(np.arange(size.size), size)


def true_values(assessment: Assessment, outcome: Ints) -> Floats:
    """(G,) every group's value once all items are labelled; nan for groups without items."""
    return mean(all_labelled(assessment, outcome))


def all_labelled(assessment: Assessment, outcome: Ints) -> Belief:
    """The belief when every item of the pool has its outcome; then nothing is left to believe."""
    b = assessment.believe({})
    cell, n_cells = cell_of_rows(assessment), b.group.size
    wrong = np.bincount(cell, weights=outcome > 0, minlength=n_cells).astype(np.int64)
    errors = b.errors
    if errors is not None:
        n_kinds = errors.prior.shape[1]
        is_wrong = outcome > 0
        at = cell[is_wrong] * n_kinds + outcome[is_wrong] - 1
        counts = np.bincount(at, minlength=n_cells * n_kinds).reshape(n_cells, n_kinds)
        errors = Errors(counts, errors.prior)
    return Belief(
        group=b.group,
        size=b.size,
        right=b.size - wrong,
        wrong=wrong,
        alpha=b.alpha,
        beta=b.beta,
        n_groups=b.n_groups,
        population="finite",
        node=b.node,
        metric=b.metric,
        errors=errors,
    )
