"""How different sites are, from what their labels say."""

import numpy as np
import pytest
from scipy import special

from tests.amount import IS_SHORT
from worker.core.posterior.heterogeneity import heterogeneity, labels_worth


def test_sites_that_are_alike_say_so_and_more_of_them_more_surely():
    few = heterogeneity(np.full(3, 810.0), np.full(3, 90.0))
    many = heterogeneity(np.full(30, 810.0), np.full(30, 90.0))
    assert many.sd[2] < few.sd[2]
    assert many.new[2] - many.new[1] < few.new[2] - few.new[1]
    assert many.new[1] < 0.9 < many.new[2]
    assert many.sd[0] < 0.02


def test_what_is_only_badly_known_is_not_taken_for_a_difference():
    rate = np.array([0.85, 0.9, 0.95, 0.8, 0.9, 0.93])
    sure, vague = (heterogeneity(n * rate, n * (1 - rate)) for n in (1e5, 20.0))
    assert sure.sd[1] > 0.02
    assert vague.sd[1] < 0.005


@pytest.mark.parametrize(("right", "wrong"), [([9.0], [1.0]), ([9.0, 8.0], [1.0])])
def test_fewer_than_two_sites_have_no_spread(right, wrong):
    with pytest.raises(ValueError, match="at least two"):
        heterogeneity(np.array(right), np.array(wrong))


def test_sites_that_are_always_right_and_sites_without_labels_are_allowed():
    found = heterogeneity(np.array([500.0, 30.0, 0.0]), np.zeros(3))
    assert 0 <= found.new[1] <= found.new[2] <= 1
    assert found.new[0] > 0.8


def test_labels_are_found_again_from_what_they_made_of_a_beta():
    before = np.array([[1.5, 0.5], [3.0, 2.0], [0.7, 0.4]])
    told = np.array([[20.0, 4.0], [0.0, 0.0], [7.0, 0.0]])
    right, wrong = labels_worth(moments(before + told), moments(before))
    assert right == pytest.approx(told[:, 0], abs=1e-6)
    assert wrong == pytest.approx(told[:, 1], abs=1e-6)


def moments(parameters):
    a, b = parameters.T
    return np.stack([a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("n_sites", "n"), [(8, 30), (8, 80), (30, 6)])
def test_the_intervals_hold_a_new_site_and_the_spread_as_often_as_they_say(n_sites, n):
    rng, n_runs = np.random.default_rng(1), 80 if IS_SHORT else 300
    held, sds = [], []
    for run in range(n_runs):
        tau = (0.0, 0.15, 0.4, 0.8)[run % 4]
        theta = special.expit(rng.normal(1.5, tau, n_sites + 1))
        right = rng.binomial(n, theta[:-1]).astype(np.float64)
        found = heterogeneity(right, n - right)
        held.append(found.new[1] <= theta[-1] <= found.new[2])
        spread = special.expit(rng.normal(1.5, tau, 4000)).std()
        sds.append(found.sd[1] <= spread <= found.sd[2])
    assert np.mean(held) >= 0.91
    assert np.mean(sds) >= 0.91
