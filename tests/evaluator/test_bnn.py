"""The Bayesian neural network: it fits what it should, and refuses what it could not sample."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evaluator.contract import EVALUATORS, Options
from worker.evaluator.convergence import effective_size, r_hat
from worker.evaluator.errors import ExtraMissing, NotConverged
from worker.evaluator.grouping import grouped
from worker.evaluator.measures import normalised_l2
from worker.evaluator.network import Network


def nearly_the_identity(concentration, n, seed=0):
    """Human labels of three classes, and a predictor that gives them back with a little noise."""
    rng = np.random.default_rng(seed)
    human = rng.dirichlet(np.full(3, concentration), n)
    noisy = np.maximum(human + rng.normal(0, 0.01, human.shape), 0)
    return human, noisy / noisy.sum(axis=1, keepdims=True)


# Supplement 4.4.1: people who are unsure, and people who are sure (which takes 5 hidden units);
# sigma2 as there. Noise of 0.01 alone is 0.02 away at the 95th percentile.
@pytest.mark.parametrize(
    ("concentration", "hidden", "most"),
    [(10.0, 2, 0.03), pytest.param(0.2, 5, 0.06, marks=pytest.mark.long)],
)
def test_it_fits_a_slightly_noisy_identity_nearly_perfectly(concentration, hidden, most):
    human, predicted = nearly_the_identity(concentration, 400)
    options = Options(sigma2=1e-3, hidden=hidden, chains=4, warmup=500, draws=800)
    found = EVALUATORS["bnn"](human, predicted, options=options, seed=1)
    drawn = found.sample(human, 100, np.random.default_rng(1), noise=False)
    assert np.quantile(normalised_l2(predicted, drawn), 0.95) < most
    assert found.diagnostics.r_hat <= 1.05
    assert found.diagnostics.ess >= 100
    assert found.diagnostics.divergent <= 0.01


def test_chains_that_are_too_short_are_refused_with_what_to_change():
    human, predicted = nearly_the_identity(1.0, 200)
    options = Options(sigma2=1e-3, chains=2, warmup=10, draws=10)
    with pytest.raises(NotConverged, match="R-hat") as caught:
        EVALUATORS["bnn"](human, predicted, options=options, seed=1)
    assert "warmup" in str(caught.value)
    assert "draws" in str(caught.value)


def test_without_the_extra_it_says_how_to_install_it(monkeypatch):
    for name in ("jax", "numpyro", "numpyro.infer", "numpyro.infer.hmc"):
        monkeypatch.setitem(sys.modules, name, None)
    human, predicted = nearly_the_identity(1.0, 20)
    with pytest.raises(ExtraMissing, match=r"assay\[evaluator\]"):
        EVALUATORS["bnn"](human, predicted, options=Options(), seed=1)


@given(st.integers(0, 10_000))
def test_items_with_one_label_count_together_without_a_loss(seed):
    rng = np.random.default_rng(seed)
    human = rng.dirichlet(np.ones(3), 4)[rng.integers(0, 4, 30)]
    predicted = rng.dirichlet(np.ones(3), (30, 2))
    data = grouped(human, predicted)
    network = Network(3, 2)
    losses = []
    for weights in rng.normal(size=(3, network.n_weights)):
        each = ((network.predict(weights[None], human) - predicted) ** 2).sum()
        of_groups = network.predict(weights[None], data.human)[:, 0]
        losses.append((each, (data.count[:, None] * (of_groups - data.mean) ** 2).sum()))
    (first, second, third) = (all_of - together for all_of, together in losses)
    assert first == pytest.approx(second)
    assert first == pytest.approx(third)


def test_r_hat_and_effective_size_tell_good_chains_from_bad_ones():
    rng = np.random.default_rng(1)
    good = rng.normal(size=(4, 500, 2))
    apart = good + np.array([0.0, 0.0, 0.0, 2.0])[:, None, None]
    slow = np.cumsum(rng.normal(size=(4, 500, 2)), axis=1)
    assert r_hat(good).max() < 1.02
    assert effective_size(good).min() > 1000
    assert r_hat(apart).min() > 1.2
    assert effective_size(slow).max() < 100
