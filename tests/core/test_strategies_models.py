"""Choosing for several models at once."""

from __future__ import annotations

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_counts
from worker.core.posterior.views import Layout, of_model
from worker.core.prior import empirical
from worker.core.prior.hyperparameters import Hyperparameters, Scores, unfitted
from worker.core.questions.question import Question
from worker.core.strategies.models import for_each

GROUPS, STRATA, ITEMS = 4, 8, 20
WORST = Question("identify", which="lowest", top=1)


def pool_of_twins() -> Layout:
    """Two models that say the same of every item: one block everywhere."""
    logit = np.tile(np.linspace(-1, 4, STRATA), GROUPS)
    size = np.full(GROUPS * STRATA, ITEMS)
    return Layout(size, np.zeros((size.size, 2), np.int64), np.stack([logit, logit], axis=1))


def labels_of_groups(seed: int) -> np.ndarray:
    layout, rng = pool_of_twins(), np.random.default_rng(seed)
    group = np.repeat(np.arange(GROUPS), STRATA)
    views = [of_model(layout, m, group, GROUPS) for m in range(2)]
    scores = Scores(layout.logit[:, 0], np.zeros(group.size))
    alpha, beta, mixture = empirical.prior_of(Hyperparameters(), scores, unfitted().covariance)
    none = np.zeros(group.size, np.int64)
    part = Belief(group, layout.size, none, none, alpha, beta, GROUPS, "finite", mixture)
    accuracy = np.array([0.80, 0.80, 0.95, 0.95])[group]
    tally = np.zeros((group.size, 2), np.int64)
    for _ in range(240):
        parts = [with_counts(part, view.counts(tally)) for view in views]
        left = layout.size - tally.sum(axis=1)
        cell = for_each(parts, views, WORST, left, none, rng).cell
        tally[cell, int(rng.random() > accuracy[cell])] += 1
    return np.bincount(group, tally.sum(axis=1))


def test_groups_that_are_hard_to_tell_apart_are_labelled_alike():
    """A preference for the surer group would label one of them whole before the other."""
    found = np.array([labels_of_groups(seed) for seed in range(8)])
    near, far = found[:, :2], found[:, 2:]
    assert np.mean(near.max(axis=1) / near.min(axis=1)) < 1.9, found
    assert np.mean(far) < np.mean(near) / 2, found
