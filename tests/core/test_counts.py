"""The distribution of a group's unlabelled right answers."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from worker.core.posterior.count_mixtures import mixed_distribution, mixed_distributions_after
from worker.core.posterior.counts import (
    BoundedCache,
    CountDistribution,
    beta_binomial,
    beta_binomials,
    convolve,
    distribution_of,
)

shapes = st.floats(0.002, 200.0)
cells = st.tuples(st.integers(1, 12), shapes, shapes)


@given(n=st.integers(0, 60), a=shapes, b=shapes)
def test_it_is_the_beta_binomial_distribution(n, a, b):
    expected = stats.betabinom(n, a, b).pmf(np.arange(n + 1))
    assert beta_binomial(n, a, b) == pytest.approx(expected, rel=1e-8, abs=1e-14)


@given(n=st.integers(0, 300), a=shapes, b=shapes)
def test_turning_right_and_wrong_round_turns_the_distribution_round(n, a, b):
    assert beta_binomial(n, a, b) == pytest.approx(beta_binomial(n, b, a)[::-1], rel=1e-9)


def test_a_flat_prior_stays_flat_over_a_hundred_thousand_items():
    assert beta_binomial(100_000, 1.0, 1.0) == pytest.approx(np.full(100_001, 1 / 100_001))


def test_moments_of_a_sharp_distribution_over_a_hundred_thousand_items_are_kept():
    n, a, b = 100_000, 700.5, 301.25
    pmf, k = beta_binomial(n, a, b), np.arange(n + 1)
    distribution = stats.betabinom(n, a, b)
    assert pmf @ k == pytest.approx(distribution.mean(), rel=1e-11)
    assert pmf @ (k - distribution.mean()) ** 2 == pytest.approx(distribution.var(), rel=1e-9)


def test_the_fourier_transform_adds_counts_as_the_direct_sum_does():
    first, second = beta_binomial(3000, 30.0, 10.0), beta_binomial(2500, 4.0, 9.0)
    assert convolve(first, second) == pytest.approx(np.convolve(first, second), abs=1e-15)


@given(st.lists(cells, max_size=4))
def test_a_distribution_is_a_probability_and_its_tails_agree(some):
    distribution = distribution_of(tuple(some))
    assert distribution.pmf.size == 1 + sum(n for n, _, _ in some)
    assert distribution.pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert distribution.at_least[0] == 1.0
    assert distribution.at_least[-1] == 0.0
    assert -np.diff(distribution.at_least) == pytest.approx(distribution.pmf, abs=1e-12)
    assert distribution.pmf[distribution.low : distribution.high + 1].sum() == pytest.approx(
        1.0, abs=1e-12
    )


@given(st.lists(cells, min_size=2, max_size=4))
def test_the_order_of_the_cells_does_not_matter(some):
    assert (distribution_of(tuple(some)).pmf == distribution_of(tuple(some[::-1])).pmf).all()


def test_nothing_unlabelled_leaves_one_possible_count():
    distribution = distribution_of(())
    assert distribution.pmf.tolist() == [1.0]
    assert (distribution.low, distribution.high) == (0, 0)


def test_distributions_cannot_be_changed_by_their_readers():
    with pytest.raises(ValueError, match="read-only"):
        distribution_of(((3, 1.0, 2.0),)).pmf[0] = 0.5


def test_the_cache_keeps_its_bound_and_drops_what_was_unused_for_longest():
    def distribution(n: int) -> CountDistribution:
        return CountDistribution(np.ones(n), np.ones(n + 1), 0, n - 1)

    cache = BoundedCache(max_floats=50)
    first, second, third = (((i, 1.0, 1.0),) for i in (1, 2, 3))
    cache.put(first, distribution(10), 21)
    cache.put(second, distribution(10), 21)
    cache.get(first)
    cache.put(third, distribution(10), 21)
    assert cache.n_floats <= 50
    assert cache.get(first) is not None
    assert cache.get(second) is None


def test_the_cache_keeps_the_latest_of_what_has_the_same_name():
    cache = BoundedCache(max_floats=50)
    cache.put("pairs", "old", 40)
    cache.put("pairs", "new", 30)
    assert cache.get("pairs") == "new"
    assert cache.n_floats == 30


def test_what_is_larger_than_the_cache_is_not_kept():
    cache = BoundedCache(max_floats=50)
    cache.put("distributions", "large", 60)
    assert cache.get("distributions") is None
    assert cache.n_floats == 0


@st.composite
def shared_cells(draw_one):
    """Unlabelled items, Betas and component weights of a group's cells."""
    n_cells, n_components = draw_one(st.integers(1, 3)), draw_one(st.integers(1, 3))
    # of few and of many items distributions are made in two ways
    few_or_many = st.integers(0, 9) | st.integers(30, 70)
    left = np.array([draw_one(few_or_many) for _ in range(n_cells)])
    rng = np.random.default_rng(draw_one(st.integers(0, 2**32)))
    a, b = rng.uniform(0.05, 30, (2, n_cells, n_components))
    return left, a, b, rng.dirichlet(np.ones(n_components))


@given(shared_cells())
def test_the_distribution_of_cells_that_share_a_component_is_the_mixture_over_the_components(cells):
    left, a, b, weight = cells
    expected = np.zeros(left.sum() + 1)
    for u, p in enumerate(weight):
        given_component = np.ones(1)
        for c, n in enumerate(left):
            given_component = np.convolve(
                given_component, stats.betabinom(n, a[c, u], b[c, u]).pmf(range(n + 1))
            )
        expected += p * given_component
    assert mixed_distribution(left, a, b, weight).pmf == pytest.approx(expected, abs=1e-11)


@given(n=st.lists(st.integers(0, 33), min_size=1, max_size=4), a=st.floats(1e-12, 1e12), b=shapes)
def test_distributions_side_by_side_are_beta_binomials_however_steep_they_are(n, a, b):
    rows = beta_binomials(np.array(n), np.full(len(n), a), np.full(len(n), b)).T
    for row, n_items in zip(rows, n, strict=True):
        assert row[: n_items + 1] == pytest.approx(beta_binomial(n_items, a, b), abs=1e-11)
        assert not row[n_items + 1 :].any()


@given(shared_cells())
def test_with_one_component_both_ways_to_the_distribution_agree(cells):
    left, a, b, _ = cells
    one = distribution_of(
        tuple(zip(left.tolist(), a[:, 0].tolist(), b[:, 0].tolist(), strict=True))
    )
    assert mixed_distribution(left, a[:, :1], b[:, :1], np.ones(1)).pmf == pytest.approx(
        one.pmf, abs=1e-11
    )


@given(shared_cells(), st.data())
def test_a_label_takes_an_item_and_tells_of_its_cell_and_of_the_component(cells, data):
    left, a, b, weight = cells
    assume(left.any())
    cell = data.draw(st.sampled_from(np.flatnonzero(left).tolist()))
    one = np.eye(left.size, dtype=np.int64)[cell]
    rate = a[cell] / (a[cell] + b[cell])
    found = mixed_distributions_after(left, a, b, weight, cell)
    for distribution, p, more in zip(found, (rate, 1 - rate), ((1, 0), (0, 1)), strict=True):
        after = [x + one[:, None] * add for x, add in zip((a, b), more, strict=True)]
        expected = mixed_distribution(left - one, *after, weight * p / (weight @ p))
        assert distribution.pmf == pytest.approx(expected.pmf, abs=1e-13)
        assert distribution.at_least == pytest.approx(expected.at_least, abs=1e-13)
