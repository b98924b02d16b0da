"""Labels drawn from the model of the rates of right answers, for made-up groups and scores."""

from dataclasses import replace

import numpy as np

from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import WEAK, Covariate, Hyperparameters, Scores


def pool(seed=0, n_groups=60, n_cells=8):
    """Groups and scores of a pool with `n_cells` score strata in every group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), n_cells)
    cell = np.tile(np.linspace(-1, 5, n_cells), n_groups) + rng.normal(0, 0.2, group.size)
    return group, Scores(cell, rng.normal(0, 0.6, n_groups)[group])


def of_size(group):
    """Cells of as many items each."""
    return np.full(group.size, 100)


def labels_of(h, group, scores, n, seed=1):
    """Right and wrong answers among `n` labels a cell, drawn from the model."""
    rng = np.random.default_rng(seed)
    alpha, beta, mixture = prior_of(h, scores)
    of = np.arange(group.size), rng.choice(mixture.size, group.max() + 1, p=mixture)[group]
    right = rng.binomial(n, rng.beta(alpha[of], beta[of]))
    return right, n - right


TRUTHS = [
    Hyperparameters(0.3, 0.9, 0.2, 2.0, -1.0, -5.0),
    Hyperparameters(-0.8, 0.4, -0.3, 3.0, -0.3, -4.0),
    Hyperparameters(1.2, 0.2, 0.5, 1.5, -1.5, -5.0),
]

SURE = Hyperparameters(-12.0, 1.0, 0.5, 3.0, 0.5, -6.0)  # rates held at their bounds


def standardised(h, weak=WEAK):
    """The hyperparameters as the fit sees them."""
    return (h.numbers - weak[:, 0]) / weak[:, 1]


def with_more(scores):
    """Two further covariates: a half of the cells that is apart, and a number."""
    rng = np.random.default_rng(4)
    apart = rng.integers(0, 2, scores.cell.size).astype(np.float64)
    number = Covariate(rng.normal(0, 1, scores.cell.size), 0.5, 1.0)
    return replace(scores, more=(Covariate(apart, 0.0, 3.0), number))


MORE = replace(TRUTHS[0], weights=(-3.0, 0.4))
