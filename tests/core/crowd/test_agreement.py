"""Krippendorff's alpha, against the package of that name."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from worker.core.crowd.agreement import agreement

LEVELS = ("nominal", "ordinal", "interval")


def some_counts(seed, n_items=15, k=4, most=6):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), n_items)
    return rng.multinomial(rng.integers(0, most, n_items), p)


@pytest.mark.parametrize("level", LEVELS)
@given(seed=st.integers(0, 10_000))
def test_alpha_is_that_of_the_reference(level, seed):
    counts = some_counts(seed)
    pairable = counts[counts.sum(axis=1) >= 2]
    assume((pairable.sum(axis=0) > 0).sum() > 1)
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
    found = agreement(counts, level, n_resamples=2, seed=1)
    assert found.alpha == pytest.approx(expected, abs=1e-10)
    assert found.n_items == len(pairable)


def test_values_of_the_interval_level_count_by_their_distance():
    counts, values = some_counts(3), np.array([-2.0, 0.5, 1.0, 40.0])
    expected = krippendorff.alpha(
        value_counts=counts, value_domain=values, level_of_measurement="interval"
    )
    found = agreement(counts, "interval", values, n_resamples=2, seed=1)
    assert found.alpha == pytest.approx(expected)
    moved = agreement(counts, "interval", 3 * values - 1e6, n_resamples=2, seed=1)
    assert moved.alpha == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_perfect_agreement_is_one_and_votes_by_chance_are_near_zero(level):
    assert agreement(3 * np.eye(4, dtype=int), level, seed=1).alpha == 1.0
    chance = np.random.default_rng(1).multinomial(5, np.full(4, 0.25), 4000)
    found = agreement(chance, level, seed=1)
    assert found.alpha == pytest.approx(0, abs=0.02)
    assert found.low < 0.01
    assert found.high > -0.01


@given(seed=st.integers(0, 1000))
def test_items_with_one_vote_or_none_change_nothing(seed):
    counts = some_counts(seed)
    more = np.concatenate([counts, np.eye(4, dtype=int), np.zeros((2, 4), int)])
    first, second = (agreement(c, n_resamples=50, seed=2) for c in (counts, more))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_holds_what_many_more_items_say(level):
    rng, n_runs, n_held = np.random.default_rng(4), 100, 0

    def votes(n):
        truth = rng.integers(0, 4, n)
        p = np.full((n, 4), 0.1)
        p[np.arange(n), truth] = 0.7
        return rng.multinomial(4, p)

    alpha = agreement(votes(100_000), level, n_resamples=1, seed=1).alpha
    for run in range(n_runs):
        found = agreement(votes(80), level, n_resamples=300, seed=run)
        n_held += found.low <= alpha <= found.high
    assert n_held >= 85  # of 95 expected: the percentile bootstrap falls a little short


def test_the_same_seed_gives_the_same_interval():
    counts = some_counts(5, 40)
    assert agreement(counts, seed=1) == agreement(counts, seed=1)
    assert agreement(counts, seed=1) != agreement(counts, seed=2)


def test_without_two_votes_on_an_item_or_two_values_there_is_no_alpha():
    nothing = agreement(np.eye(3, dtype=int), seed=1)
    assert np.isnan(nothing.alpha)
    assert nothing.n_items == 0
    same = agreement(np.array([[3, 0], [2, 0]]), seed=1)
    assert np.isnan([same.alpha, same.low, same.high]).all()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"counts": np.ones((2, 2))}, "whole numbers"),
        ({"level": "ratio"}, "nominal, ordinal, interval"),
        ({"values": np.ones(3)}, "values has shape"),
        ({"confidence": 1.0}, "confidence is 1.0"),
    ],
)
def test_what_makes_no_sense_is_told(more, told):
    with pytest.raises(ValueError, match=told):
        agreement(**({"counts": np.eye(2, dtype=int), "seed": 1} | more))
