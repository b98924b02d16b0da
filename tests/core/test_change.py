"""A change is flagged where there is one, and seldom where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.amount import IS_SHORT
from worker.core.drift.change import LEVEL, change, holm
from worker.core.drift.history import Prior, full_worth, with_history
from worker.core.posterior.belief import Belief

N_GROUPS, N_CELLS = 10, 3
GROUP = np.repeat(np.arange(N_GROUPS), N_CELLS)
SIZE = np.full(GROUP.size, 200)


def beliefs(then_rate, now_rate, n_then, n_now, rng):
    """What was known, and what the new labels say by themselves; uniform cells."""
    one = np.ones((GROUP.size, 1))
    right = rng.binomial(n_then, then_rate)
    history = np.stack([right, n_then - right], axis=1)
    prior = with_history(Prior(one, one, np.ones(1)), GROUP, N_GROUPS, history, full_worth())
    none = np.zeros(GROUP.size, dtype=np.int64)
    then = Belief(GROUP, SIZE, none, none, prior.alpha, prior.beta, N_GROUPS, mixture=prior.mixture)
    is_right = rng.binomial(n_now, now_rate)
    now = Belief(GROUP, SIZE, is_right, n_now - is_right, one, one, N_GROUPS)
    return then, now


def told(then, now, epsilon=0.05):
    return change([then], [now], np.ones(N_GROUPS, dtype=bool), epsilon)


def test_with_no_change_few_assessments_have_any_flag():
    rng, n_runs, flagged, whole = np.random.default_rng(1), 200, 0, 0
    for _ in range(n_runs):
        rate = rng.beta(1, 1, GROUP.size)  # as the prior has it, or p-values mean nothing
        found = told(*beliefs(rate, rate, 20, 20, rng))
        flagged += bool(found.changed.any())
        whole += found.whole_changed
    limit = stats.binom(n_runs, LEVEL).ppf(0.999)
    assert flagged <= limit
    assert whole <= limit


def looks(rate, n_then, n_each, n_looks, rng):
    """What is said after every so many labels, if nothing changed."""
    then, now = beliefs(rate, rate, n_then, 0, rng)
    right = np.zeros(GROUP.size, dtype=np.int64)
    for k in range(1, n_looks + 1):
        right = right + rng.binomial(n_each, rate)
        yield told(then, with_counts(now, right, k * n_each - right), 0.005)


def with_counts(b, right, wrong):
    return Belief(b.group, b.size, right, wrong, b.alpha, b.beta, b.n_groups)


def test_the_p_value_of_a_group_holds_at_every_look_if_nothing_changed():
    rng, least = np.random.default_rng(2), []
    for rate in rng.beta(1, 1, (30, GROUP.size)):
        least.append(np.min([found.p for found in looks(rate, 15, 6, 8, rng)], axis=0))
    p = np.concatenate(least)
    for level in (0.3, 0.1, 0.03):
        assert (p <= level).sum() <= stats.binom(p.size, level).ppf(0.999)
    assert (p <= 0.3).any()


@pytest.mark.slow
@pytest.mark.parametrize("a", [1.0, 9.0])
def test_twenty_looks_at_a_pair_without_change_seldom_flag_anything(a):
    """Group or pool; at rates as the prior has them, and mostly high ones, groups alone."""
    rng, n_runs, flagged = np.random.default_rng(8), 15 if IS_SHORT else 80, 0
    for _ in range(n_runs):
        seen = list(looks(rng.beta(a, 1, GROUP.size), 20, 4, 20, rng))
        flagged += any(f.changed.any() or (a == 1 and f.whole_changed) for f in seen)
    assert flagged <= stats.binom(n_runs, LEVEL).ppf(0.999)


def test_a_group_that_lost_a_third_is_flagged_and_the_others_are_not():
    rng = np.random.default_rng(3)
    then = np.full(GROUP.size, 0.9)
    now = np.where(GROUP == 4, 0.6, 0.9)
    found = told(*beliefs(then, now, 40, 40, rng))
    assert np.flatnonzero(found.changed).tolist() == [4]
    assert found.below[4] > 0.95
    assert found.difference[4, 2] < -0.05
    assert not found.whole_changed


def test_a_small_change_is_no_flag_however_sure_it_is():
    rng = np.random.default_rng(4)
    found = told(*beliefs(np.full(GROUP.size, 0.9), np.full(GROUP.size, 0.8), 190, 190, rng), 0.2)
    assert (found.adjusted < LEVEL).any()
    assert not found.changed.any()
    assert not found.whole_changed


def test_a_pool_that_became_worse_everywhere_is_flagged_as_a_whole():
    rng = np.random.default_rng(5)
    found = told(*beliefs(np.full(GROUP.size, 0.9), np.full(GROUP.size, 0.75), 30, 15, rng))
    assert found.whole_changed
    assert found.whole_difference[2] < 0


def test_groups_without_labels_of_both_say_nothing():
    rng = np.random.default_rng(6)
    n_now = np.where(GROUP == 2, 0, 20)
    then, now = beliefs(np.full(GROUP.size, 0.9), np.full(GROUP.size, 0.1), 20, n_now, rng)
    has_then = np.arange(N_GROUPS) != 3
    found = change([then], [now], has_then, 0.05)
    assert np.isnan(found.below[[2, 3]]).all()
    assert not found.changed[[2, 3]].any()
    assert found.changed.sum() == N_GROUPS - 2


def test_without_new_labels_nothing_is_a_surprise():
    then, now = beliefs(np.full(GROUP.size, 0.9), np.full(GROUP.size, 0.9), 20, 0,
                        np.random.default_rng(7))  # fmt: skip
    found = told(then, now)
    assert found.p.min() == 1
    assert not found.changed.any()
    assert not found.whole_changed


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array))
def test_holms_p_values_are_in_order_and_never_smaller(p):
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert adjusted.max() <= 1
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert adjusted.min() == pytest.approx(min(1.0, p.min() * p.size))
