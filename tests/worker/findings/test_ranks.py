"""Where groups stand: P(lowest), P(highest), ranks with intervals, and the pool as a whole."""

import numpy as np
import pytest

from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import whole
from worker.core.posterior.summary import mean
from worker.core.questions.ranking import set_confidence
from worker.findings.ranks import group_ranks


def belief(right: list[int], wrong: list[int], size: list[int]) -> Belief:
    n = len(size)
    ones = np.ones(n)
    return Belief(
        np.arange(n), np.array(size), np.array(right), np.array(wrong), ones, ones, n_groups=n
    )


def test_the_chance_to_be_lowest_is_that_of_the_exact_sum():
    b = belief([3, 8, 2, 5], [5, 2, 4, 3], [20, 30, 25, 10])
    found = group_ranks(b)
    for g in range(4):
        assert found.p_lowest[g] == pytest.approx(set_confidence(b, [g]), abs=0.04)
        assert found.p_highest[g] == pytest.approx(set_confidence(b, [g], "highest"), abs=0.04)


def test_a_rank_is_certain_once_all_is_labelled_and_ties_share_it():
    b = belief([3, 6, 5, 10], [7, 14, 5, 0], [10, 20, 10, 10])
    found = group_ranks(b)

    assert found.rank.tolist() == [1, 1, 3, 4]
    assert found.rank_low.tolist() == found.rank_high.tolist() == [1, 1, 3, 4]
    assert found.p_lowest.tolist() == [1, 1, 0, 0]
    assert found.p_highest.tolist() == [0, 0, 0, 1]
    assert whole(b) == pytest.approx((24 / 50,) * 3)


def test_groups_without_items_have_no_rank():
    found = group_ranks(belief([1, 0, 2], [1, 0, 0], [5, 0, 5]))
    assert np.isnan([found.rank[1], found.p_lowest[1], found.rank_high[1]]).all()
    assert found.rank_high[[0, 2]].max() <= 2


def test_the_pool_as_a_whole_is_the_groups_mean_by_their_shares():
    b = belief([3, 8, 2], [5, 2, 4], [20, 30, 50])
    average, low, high = whole(b)
    assert average == pytest.approx(float(mean(b) @ [0.2, 0.3, 0.5]), abs=0.01)
    assert low < average < high


def test_the_same_tally_has_the_same_ranks():
    once, again = (group_ranks(belief([3, 8], [5, 2], [20, 30])) for _ in range(2))
    assert (once.p_lowest == again.p_lowest).all()
