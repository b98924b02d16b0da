"""A weight under a Cauchy prior: shrunk where labels do not show it, and hardly where they do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from tests.core.drawn_labels import TRUTHS, labels_of, pool, standardised
from worker.core.prior.empirical import prior_of
from worker.core.prior.fitting import fit, loss
from worker.core.prior.hyperparameters import Covariate, Scores
from worker.core.prior.likelihood import evidence

SCALE = 0.4


def heavy(scores, *xs, scale=SCALE):
    """Scores with covariates (C,) whose weights have Cauchy priors."""
    return replace(scores, more=tuple(Covariate(x, 0.0, scale, is_heavy=True) for x in xs))


def normal(scores, *xs):
    return replace(scores, more=tuple(Covariate(x, 0.0, 1.0) for x in xs))


def told(seed, n, weights):
    """Labels of 20 groups of 8 strata, n a stratum, and covariates that tell as much as weights."""
    group, scores = pool(seed, n_groups=20)
    xs = np.random.default_rng([seed, 1]).normal(size=(len(weights), group.size))
    h = replace(TRUTHS[0], weights=weights)
    return group, scores, xs, labels_of(h, group, normal(scores, *xs), n, seed)


@pytest.mark.parametrize("away", [0.0, 0.3, -2.0, 7.5])
def test_value_and_slope_are_those_of_the_cauchy_density(away):
    group, scores, xs, (right, wrong) = told(0, 2, (1.0, 0.0))
    mixed = replace(scores, more=(*heavy(scores, xs[0]).more, *normal(scores, xs[1]).more))
    seen = evidence(right, wrong, group, mixed)
    of_normal = replace(seen, heavy=np.zeros(8, np.bool_))
    z = np.array([0.2, -0.1, 0.4, 0.1, -0.3, 0.2, away, 0.7])
    value, slope, _ = loss(z, seen)
    cauchy, gauss = (-(law.logpdf(away) - law.logpdf(0)) for law in (stats.cauchy, stats.norm))
    assert value - loss(z, of_normal)[0] == pytest.approx(cauchy - gauss)
    expected = optimize.approx_fprime(z, lambda q: loss(q, seen)[0], 1e-6)
    assert slope == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("scale", [SCALE, 3.0])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_of_perfectly_separated_cells_the_fit_ends_and_its_covariance_is_positive_definite(
    n, scale
):
    group, scores = pool(n_groups=20)
    apart = np.where(np.arange(group.size) % 2, 1.0, -1.0)
    right = np.where(apart > 0, n, 0)
    more = heavy(scores, apart, scale=scale)
    found = fit(right, n - right, group, more)
    (weight,) = found.mode.weights
    assert weight > 1.0
    slope = loss(standardised(found.mode, more.weak), evidence(right, n - right, group, more))[1]
    covariance = found.covariance / np.outer(more.weak[:, 1], more.weak[:, 1])
    assert (np.linalg.eigvalsh(covariance) > 0).all()
    assert slope @ covariance @ slope < 1e-3  # squared, in standard deviations
    alpha, beta, mixture = prior_of(found.mode, more, found.covariance)
    rate = (alpha / (alpha + beta)) @ mixture
    assert rate[apart > 0].mean() > 0.7
    assert rate[apart < 0].mean() < 0.3


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.lists(st.floats(-12, 12), min_size=24, max_size=24),
    st.floats(0.05, 3),
)
def test_any_labels_can_be_fitted(labels, numbers, scale):
    right, wrong = np.array(labels).T
    n = right.size
    more = heavy(Scores(np.array(numbers[:n]), np.zeros(n)), np.array(numbers[-n:]), scale=scale)
    found = fit(right, wrong, np.arange(n) // 3, more)
    assert np.isfinite(found.mode.numbers).all()
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()
    alpha, beta, _ = prior_of(found.mode, more, found.covariance)
    assert ((alpha > 0) & (beta > 0) & np.isfinite(alpha + beta)).all()


def test_useless_covariates_are_shrunk_and_a_telling_one_is_not():
    truth = (1.5, 0.0, 0.0, 0.0)
    weights = []
    for seed in range(12):
        group, scores, xs, labels = told(seed, 12, truth)  # 1,920 labels
        more = heavy(scores, *xs), normal(scores, *xs)
        weights.append([fit(*labels, group, one).mode.weights for one in more])
    h, n = np.array(weights).swapaxes(0, 1)
    assert abs(h[:, 1:]).mean() < 0.95 * abs(n[:, 1:]).mean()
    assert abs(h[:, 0] - 1.5).mean() < 1.02 * abs(n[:, 0] - 1.5).mean()
