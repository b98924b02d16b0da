"""What the labels would say, item by item: derived from the pool's true classes, or drawn.

An outcome is 0 where the classifier is right, and 1, 2, ... for the kinds of errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.continuing import drawn_prior
from worker.assessment.covariates import scores
from worker.core.posterior.belief import Belief
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.drawing import dirichlets
from worker.core.posterior.hypothetical import with_prior, with_tally
from worker.core.posterior.rates import draw_cells
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters
from worker.pool import Pool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

_BLOCK = 10_000  # wrong items looked at together: each takes a row of shares


def outcomes(assessment: Assessment, truth: Ints) -> Ints:
    """(N,) the outcome of every item, in the order of the pool's rows; of many models its class.

    Args:
        truth: (N,) index of the true class (`worker.pool.truth.read_truth`).
    """
    if assessment.best_model is not None:
        return truth  # models are right by their own classes
    return assessment.meaning.of_each(assessment.pool.predicted.astype(np.int64), truth)


def plausible(assessment: Assessment, rng: Rng) -> Ints:
    """(N,) outcomes of a pool such as the plan's prior expects."""
    return drawn_from(plausible_prior(assessment, rng), rng)


def plausible_prior(assessment: Assessment, rng: Rng) -> Belief:
    """What is believed before any label.

    What an empirical prior would learn from labels is not known yet: its hyperparameters are drawn
    from their weak priors. That of a pool's ECE has them in its components.
    """
    prior = assessment.first
    if assessment.pool.since is not None:
        return drawn_prior(assessment.plan, assessment.pool, assessment.meaning, rng)
    if assessment.plan.prior.kind == "empirical" and not prior.metric.pooled:
        known = scores(assessment.pool)
        drawn = known.weak[:, 0] + known.weak[:, 1] * rng.standard_normal(len(known.weak))
        of_cells = prior_of(Hyperparameters.of(drawn), known)
        return with_prior(prior, *of_cells)
    return prior


def drawn_from(prior: Belief, rng: Rng) -> Ints:
    """(N,) outcomes of all items, cell after cell, drawn from a belief without labels.

    A group's component is drawn once for its cells, a rate for every cell, then its items.
    """
    cell = _cell_of_items(prior)
    outcome = (rng.random(cell.size) >= draw_cells(prior, rng)[cell]).astype(np.int64)
    if prior.errors is None:
        return outcome
    below = np.cumsum(dirichlets(prior.errors.prior, rng, 1)[0], axis=1)[:, :-1]
    wrong = np.flatnonzero(outcome)
    drawn = rng.random((wrong.size, 1))
    for at in range(0, wrong.size, _BLOCK):
        some = slice(at, at + _BLOCK)
        outcome[wrong[some]] += (drawn[some] > below[cell[wrong[some]]]).sum(axis=1)
    return outcome


def cell_of_rows(assessment: Assessment) -> Ints:
    """(N,) the cell of every row of the pool: they stand cell after cell."""
    return _cell_of_items(assessment.first)


def cell_of_pool(pool: Pool) -> Ints:
    """(N,) the pool's cell of every row."""
    return np.repeat(np.arange(pool.n_cells), pool.cell_size)


def _cell_of_items(b: Belief) -> Ints:
    return np.repeat(np.arange(b.size.size), b.size)


def right_of_cells(assessment: Assessment, outcome: Ints) -> Ints:
    """(C,) items of each stratum whose prediction is right."""
    cell, n_cells = cell_of_rows(assessment), assessment.pool.n_cells
    return np.bincount(cell[outcome == 0], minlength=n_cells)


def true_values(assessment: Assessment, outcome: Ints) -> Floats:
    """(G,) every group's value once all items are labelled; nan for groups without items.

    Confusion: (G, 1 + L), as `estimates`.
    """
    return estimates(all_labelled(assessment, outcome))


def estimates(b: Belief) -> Floats:
    """(G,) posterior means of the groups' values; confusion: (G, 1 + L), of the matrix's rows."""
    return confusion_mean(b) if b.metric.kind == "confusion" else mean(b)


def all_labelled(assessment: Assessment, outcome: Ints) -> Belief:
    """The belief when every item of the pool has its outcome; then nothing is left to believe."""
    b = assessment.first
    n_cells, width = b.group.size, 1 + max(assessment.meaning.n_kinds, 1)
    at = _cell_of_items(b) * width + outcome
    counts = np.bincount(at, minlength=n_cells * width).reshape(n_cells, width)
    done = with_tally(b, counts)
    return Belief(
        done.group, done.size, done.right, done.wrong, done.alpha, done.beta, done.n_groups,
        "finite", done.mixture, done.metric, done.errors,
    )  # fmt: skip
