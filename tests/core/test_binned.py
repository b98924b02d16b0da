"""Very large groups: coarse distributions against exact ones."""

import numpy as np
import pytest
from scipy import stats

from worker.core.posterior import distributions
from worker.core.posterior.belief import Belief
from worker.core.posterior.binned import LARGEST_EXACT, binned_distribution, step_of
from worker.core.posterior.count_mixtures import mixed_distribution
from worker.core.posterior.intervals import interval
from worker.core.posterior.metrics import Metric
from worker.core.posterior.summary import marginal, mean


@pytest.mark.parametrize("strength", [1.0, 30.0, 900.0, 20_000.0])
@pytest.mark.parametrize("rate", [0.5, 0.95, 0.9995])
@pytest.mark.parametrize("size", [3_000, 300])
def test_a_coarse_distribution_lies_within_a_step_or_two_of_the_exact_one(strength, rate, size):
    left = np.array([size, size, 5, size // 2], dtype=np.int64)
    rng = np.random.default_rng(5)
    rates = np.clip(rate + 0.03 * rng.standard_normal((4, 3)), 0.001, 0.9999)
    a, b = strength * rates, strength * (1 - rates)
    weight = np.array([0.2, 0.5, 0.3])
    step = 8

    exact = mixed_distribution(left, a, b, weight).pmf
    coarse = binned_distribution(left, a, b, weight, step).pmf

    k, j = np.arange(exact.size), step * np.arange(coarse.size)
    assert exact @ k == pytest.approx(coarse @ j, abs=0.01 * step)
    sd = np.sqrt(exact @ k**2 - (exact @ k) ** 2)
    coarse_sd = np.sqrt(coarse @ j**2 - (coarse @ j) ** 2)
    assert coarse_sd == pytest.approx(np.sqrt(sd**2 + 4 * step**2 / 6), rel=0.03, abs=step / 2)
    for q in (0.025, 0.5, 0.975):
        apart = np.searchsorted(exact.cumsum(), q) - step * np.searchsorted(coarse.cumsum(), q)
        assert abs(apart) <= 2 * step + 0.03 * sd


def test_only_groups_of_many_items_to_come_are_coarse():
    assert step_of(LARGEST_EXACT) == 1
    assert step_of(LARGEST_EXACT + 1) > 1


@pytest.mark.parametrize("kind", ["accuracy", "bias"])
def test_the_value_of_a_group_of_a_million_items_is_that_of_a_beta_nearly(kind):
    metric = Metric(kind, np.array([0.9]) if kind == "bias" else np.zeros(0))
    belief = Belief(
        np.zeros(1, np.int64), np.array([1_000_000]), np.array([180]), np.array([20]),
        np.array([2.0]), np.array([1.0]), 1, metric=metric,
    )  # fmt: skip
    distribution = marginal(belief, 0)
    assert distribution.n_floats < 20_000
    known = stats.beta(182, 21)
    low, high = interval(belief)[0]
    expected = known.interval(0.95)
    if kind == "bias":
        expected = (0.9 - expected[1], 0.9 - expected[0])
    assert (low, high) == pytest.approx(expected, abs=5e-4)
    x, mass = distribution.atoms()
    assert x @ mass == pytest.approx(mean(belief)[0], abs=2e-4)
    assert distributions.distribution_of_group(belief, 0) is distribution
