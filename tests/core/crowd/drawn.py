"""Annotators and votes drawn from the prior of the inference."""

import numpy as np
from scipy import special

from worker.core.crowd import annotators, gibbs
from worker.core.crowd.inference import Rates
from worker.core.crowd.variates import log_gammas
from worker.core.crowd.votes import Votes

NO_POOL = Rates(np.zeros(0, np.int64), np.ones((0, 1)), np.ones((0, 1)), np.ones(1))
MIXTURE = Rates(
    np.array([0, 0, 1]),
    np.array([[2.0, 6.0], [3.0, 9.0], [1.0, 4.0]]),
    np.array([[2.0, 1.0], [3.0, 2.0], [2.0, 1.0]]),
    np.array([0.4, 0.6]),
)


def crowds_of_the_prior(rng, k, a, n):
    """Strength (n,), spread (n,) and pseudo-votes (n, a, k, k) of n crowds."""
    grids = (
        (annotators.STRENGTHS, annotators.LOG_STRENGTH_PRIOR),
        (annotators.SPREADS, annotators.LOG_SPREAD_PRIOR),
    )
    strength, spread = (rng.choice(grid, n, p=special.softmax(logs)) for grid, logs in grids)
    prior = annotators.mean_prior(k)[:, :, 0]
    mean = np.maximum([rng.dirichlet(row, n) for row in prior], 1e-12).transpose(1, 0, 2)
    shape = np.tile(spread[:, None, None] ** -2, (1, a, k))
    bias = np.maximum(rng.gamma(shape) / shape, 1e-20)
    return strength, spread, strength[:, None, None, None] * mean[:, None] * bias[:, :, None]


def drawn_from_the_model(rng, k, a, n, per_item, of):
    """Votes, the items' classes, and strength and spread of the annotators, from the prior."""
    strength, spread, pseudo = crowds_of_the_prior(rng, k, a, 1)
    confusion = special.softmax(log_gammas(pseudo[0], rng), axis=2)
    component = rng.choice(of.mixture.size, of.group.max() + 1, p=of.mixture)[of.group]
    at = np.arange(of.group.size), component
    theta = rng.beta(of.alpha[at], of.beta[at])
    cell, predicted = rng.integers(0, of.group.size, n), rng.integers(0, k, n)
    prior = special.softmax(gibbs.LOG_CONCENTRATION_PRIOR)
    each = np.full(k, rng.choice(gibbs.CONCENTRATIONS, p=prior))
    error = np.tile(special.softmax(log_gammas(each, rng)), (n, 1))
    error[np.arange(n), predicted] = 0
    wrong = choice(rng, error)
    truth = np.where(rng.random(n) < theta[cell], predicted, wrong)
    item = np.repeat(np.arange(n), per_item)
    who = rng.random((n, a)).argsort(axis=1)[:, :per_item].ravel()
    label = choice(rng, confusion[who, truth[item]])
    votes = Votes(item, who, label, cell, predicted, np.full(n, -1), a, k)
    return votes, truth, strength[0], spread[0]


def choice(rng, weights):
    below = weights.cumsum(axis=1)
    return (rng.random(len(weights))[:, None] * below[:, -1:] >= below[:, :-1]).sum(axis=1)
