"""Majority votes, and what is said of annotators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.crowd.majority import majority, shares
from worker.core.crowd.inference import Rates, infer
from worker.core.crowd.quality import confusion_interval
from worker.core.crowd.votes import Votes, counts

NO_POOL = Rates(np.zeros(0, np.int64), np.ones((0, 1)), np.ones((0, 1)), np.ones(1))


def crowd(n_gold, seed=1, n=120):
    """Four annotators of different quality who vote on everything; `n_gold` items are known."""
    rng, chance = np.random.default_rng(seed), np.array([0.95, 0.85, 0.7, 0.55])
    truth = rng.integers(0, 2, n)
    item, who = np.repeat(np.arange(n), 4), np.tile(np.arange(4), n)
    label = np.where(rng.random(item.size) < chance[who], truth[item], 1 - truth[item])
    none = np.full(n, -1)
    known = np.where(np.arange(n) < n_gold, truth, -1)
    return Votes(item, who, label, none, none, known, 4, 2), chance


votes_of_items = st.lists(
    st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=8
)


@given(votes_of_items)
def test_no_class_has_more_votes_than_the_majoritys(rows):
    n = np.array(rows)
    label, is_tied = majority(n)
    for row, found, tied in zip(n, label, is_tied, strict=True):
        best = np.flatnonzero(row == row.max())
        assert found == (best[0] if row.any() else -1)
        assert tied == (bool(row.any()) and best.size > 1)
    assert shares(n).sum(axis=1).tolist() == n.any(axis=1).astype(float).tolist()


def test_a_majority_of_many_replays_is_found_at_once():
    n = np.random.default_rng(1).integers(0, 4, (5, 7, 3))
    label, is_tied = majority(n)
    assert (label[2] == majority(n[2])[0]).all()
    assert (is_tied[2] == majority(n[2])[1]).all()


def test_confusions_lie_in_their_intervals():
    votes, chance = crowd(60)
    low, high = confusion_interval(infer(votes, NO_POOL, seed=1), 0.999)
    right = chance[:, None]
    assert (low[:, [0, 1], [0, 1]] < right).all()
    assert (right < high[:, [0, 1], [0, 1]]).all()


def test_all_votes_together_tell_who_is_better():
    votes, chance = crowd(20)
    drawn = infer(votes, NO_POOL, seed=1).quality
    low, high = np.quantile(drawn, [0.0005, 0.9995], axis=0)
    assert (np.argsort(drawn.mean(axis=0)) == np.argsort(chance)).all()
    assert ((low - 0.02 < chance) & (chance < high + 0.02)).all()


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(ValueError, match="level is 1"):
        confusion_interval(infer(crowd(5)[0], NO_POOL, seed=1), 1.0)


def test_votes_are_counted_by_item_and_class():
    votes, _ = crowd(0)
    n = counts(votes)
    assert n.sum(axis=1).tolist() == [4] * 120
    assert n[:, 1].sum() == votes.label.sum()
