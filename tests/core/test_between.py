"""How different sites are, from what is known of some."""

import numpy as np
import pytest
from scipy import special

from worker.core.between import between


def test_sites_that_are_alike_say_so_and_more_of_them_more_surely():
    few = between(np.full(3, 0.9), np.full(3, 1e-4))
    many = between(np.full(30, 0.9), np.full(30, 1e-4))
    assert many.sd[2] < few.sd[2]
    assert many.new[2] - many.new[1] < few.new[2] - few.new[1]
    assert many.new[1] < 0.9 < many.new[2]
    assert many.sd[0] < 0.02


def test_what_is_only_badly_known_is_not_taken_for_a_difference():
    mean = np.array([0.85, 0.9, 0.95, 0.8, 0.9, 0.93])
    sure = between(mean, np.full(6, 1e-6))
    vague = between(mean, np.full(6, 4e-3))
    assert sure.sd[1] > 0.02
    assert vague.sd[1] < 0.005


@pytest.mark.parametrize(("mean", "variance"), [([0.9], [0.1]), ([0.9, 0.8], [0.1])])
def test_fewer_than_two_sites_have_no_spread(mean, variance):
    with pytest.raises(ValueError, match="at least two"):
        between(np.array(mean), np.array(variance))


def test_a_site_that_is_always_right_is_allowed():
    found = between(np.array([1.0, 1.0, 0.99]), np.array([0.0, 0.0, 1e-4]))
    assert 0 <= found.new[1] <= found.new[2] <= 1


def test_the_interval_of_a_new_site_holds_it_as_often_as_it_says():
    rng = np.random.default_rng(1)
    held, sds = [], []
    for run in range(300):
        tau = (0.0, 0.15, 0.4, 0.8)[run % 4]
        theta = special.expit(rng.normal(1.5, tau, 9))
        n = 80
        right = rng.binomial(n, theta[:-1])
        a, b = right + 1, n - right + 1
        found = between(a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1)))
        held.append(found.new[1] <= theta[-1] <= found.new[2])
        spread = special.expit(rng.normal(1.5, tau, 4000)).std()
        sds.append(found.sd[1] <= spread <= found.sd[2])
    assert np.mean(held) >= 0.91
    assert np.mean(sds) >= 0.91
