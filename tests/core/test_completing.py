"""Draws of all cells agree with the exact moments of what they draw from."""

import numpy as np
import pytest
from scipy import stats

from worker.core.posterior.completing import completions
from worker.core.prior.empirical import prior_of
from worker.core.prior.fitting import plausible
from worker.core.prior.hyperparameters import WEAK, Covariate, Fit, Hyperparameters, Scores

GROUP, SIZE = np.array([0, 0, 0, 1, 1]), np.array([30, 12, 9, 40, 15])
RIGHT, WRONG = np.array([7, 2, 5, 0, 3]), np.array([1, 4, 4, 0, 1])
AGREES = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
SCORES = Scores(
    np.array([2.0, 0.5, 1.0, 1.5, -0.5]), np.array([0.2, 0.2, 0.2, -0.3, -0.3]),
    (Covariate(AGREES, 0.0, 1.0),),
)  # fmt: skip
MODE = Hyperparameters(0.2, 0.8, 0.2, 2.0, 0.0, -5.0, (1.0,))
ALL = np.ones(5, np.bool_)


def fit_of(spread):
    """The weight and the level uncertain together, the others nearly known."""
    covariance = np.diag(np.full(7, 1e-6))
    covariance[0, 0] = covariance[6, 6] = spread
    covariance[0, 6] = covariance[6, 0] = -spread / 2
    return Fit(MODE, covariance)


def exact(fit, tallies, tells, cells):
    """Mean and variance of the right answers in `cells`, over every plausible hyperparameter.

    Given these and a group's component its cells are independent beta-binomials.
    """
    means, variances = [], []
    for k, h in enumerate(plausible(fit, 64)):
        right, wrong = tallies[k % len(tallies)]
        alpha, beta, mixture = prior_of(h, SCORES)
        mean = variance = 0.0
        for g in np.unique(GROUP):
            chance = mixture.copy()
            for c in np.flatnonzero((g == GROUP) & tells):
                n = right[c] + wrong[c]
                chance *= stats.betabinom(n, alpha[c], beta[c]).pmf(right[c])
            chance /= chance.sum()
            at = np.flatnonzero((g == GROUP) & cells)
            a, b = alpha[at] + right[at, None], beta[at] + wrong[at, None]
            left = stats.betabinom((SIZE - right - wrong)[at, None], a, b)
            total = (right[at, None] + left.mean()).sum(axis=0)
            mean += chance @ total
            variance += chance @ left.var().sum(axis=0)
            variance += chance @ (total - chance @ total) ** 2
        means.append(mean)
        variances.append(variance)
    return np.mean(means), np.mean(variances) + np.var(means)


SURE = ((RIGHT, WRONG),)
FLIPPED = np.array([0, 2, 3, 0, 1])
DOUBT = (*SURE, (RIGHT - FLIPPED, WRONG + FLIPPED))


@pytest.mark.parametrize("cells", [AGREES == 1, ALL], ids=["agrees", "all"])
@pytest.mark.parametrize(
    ("spread", "tallies", "tells"),
    [(1e-6, SURE, ALL), (1.0, SURE, ALL), (1.0, DOUBT, ALL), (1.0, SURE, np.arange(5) != 2)],
    ids=["known fit", "uncertain fit", "labels in doubt", "labels that do not tell"],
)
def test_mean_and_spread_of_a_sum_over_cells_are_the_exact_ones(cells, spread, tallies, tells):
    fit = fit_of(spread)
    drawn = np.concatenate(
        [
            block @ cells
            for seed in range(8)
            for block in completions(
                fit, SCORES, GROUP, SIZE, tallies, tells, np.random.default_rng(seed)
            )
        ]
    )
    mean, variance = exact(fit, tallies, tells, cells)
    assert drawn.size >= 8_000
    assert drawn.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / drawn.size))
    assert drawn.var() == pytest.approx(variance, rel=0.08)


def test_of_labelled_items_nothing_is_drawn():
    wrong = SIZE - RIGHT
    for block in completions(
        fit_of(1.0), SCORES, GROUP, SIZE, ((RIGHT, wrong),), ALL, np.random.default_rng(0)
    ):
        assert (block == RIGHT).all()


def test_of_many_cells_there_are_fewer_draws_and_at_least_two_of_each_fit():
    group = np.repeat(np.arange(2_000), 8)
    more = Scores(np.zeros(group.size), np.zeros(group.size))
    fit = Fit(Hyperparameters(), np.diag(WEAK[:, 1] ** 2))
    none, size = np.zeros(group.size, np.int64), np.full(group.size, 3)
    rng = np.random.default_rng(0)
    blocks = completions(fit, more, group, size, ((none, none),), none == 0, rng)
    assert [len(block) for block in blocks] == [2] * 64
