"""What one more label is expected to bring."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.belief import Belief, unlabelled
from worker.core.metrics import Metric
from worker.core.moments import moments
from worker.core.posterior import variance
from worker.core.rewards import drawn_drop, question_drop
from worker.core.supposing import labelled

counts = st.integers(0, 9).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda done: st.integers(0, done).map(lambda right: (n, right, done - right))
    )
)


def belief(cells, group, population="finite", metric=None):
    size, right, wrong = (np.array(column) for column in zip(*cells, strict=True))
    alpha, beta = np.linspace(0.5, 2, len(cells)), np.linspace(3, 1, len(cells))
    more = {} if metric is None else {"metric": metric}
    return Belief(np.array(group), size, right, wrong, alpha, beta, 2, population, **more)


def expected_drop(b, cell, rate):
    """By what the variance of the cell's group falls, over both outcomes of the label."""
    g = b.group[cell]
    right, wrong = (variance(labelled(b, cell, outcome))[g] for outcome in (0, 1))
    return variance(b)[g] - rate * right - (1 - rate) * wrong


@given(
    st.lists(counts, min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.sampled_from(["finite", "infinite"]),
)
def test_the_drawn_drop_is_that_over_both_outcomes_at_the_drawn_rate(cells, rates, population):
    b = belief(cells, [0, 0, 1], population)
    drop = drawn_drop(b, np.array(rates))
    for c in range(3):
        if unlabelled(b)[c]:
            assert drop[c] == pytest.approx(expected_drop(b, c, rates[c]), abs=1e-12)
        else:
            assert drop[c] == 0.0


@given(st.lists(counts, min_size=3, max_size=3), st.sampled_from(["finite", "infinite"]))
def test_at_the_mean_rate_the_drawn_drop_is_the_expected_one(cells, population):
    b = belief(cells, [0, 0, 1], population)
    assert drawn_drop(b, moments(b).rate) == pytest.approx(moments(b).drop, abs=1e-12)


def test_the_closed_form_is_the_one_known_for_finite_cells():
    b = belief([(40, 3, 5), (10, 0, 0)], [0, 1])
    strength, left = b.alpha[0, 0] + b.beta[0, 0] + 8, 32
    known = variance(b)[0] * (strength + left) / (left * (strength + 1))
    assert moments(b).drop[0] == pytest.approx(known)


def test_the_last_label_leaves_no_variance():
    b = belief([(5, 2, 2), (3, 0, 0)], [0, 1])
    assert moments(b).drop[0] == pytest.approx(variance(b)[0])


def test_a_large_group_counts_by_its_share_and_by_its_square_where_the_sum_is_asked():
    cells, group = [(40, 3, 5), (10, 0, 0)], [0, 1]
    drop = moments(belief(cells, group)).drop
    assert question_drop(belief(cells, group)) == pytest.approx(drop * [0.8, 0.2])
    summed = belief(cells, group, metric=Metric(pooled=True))
    assert question_drop(summed) == pytest.approx(drop * [0.64, 0.04])


def test_drawn_rates_need_one_entry_a_cell():
    with pytest.raises(ValueError, match="covers 2 cells"):
        drawn_drop(belief([(5, 2, 2), (3, 0, 0)], [0, 1]), np.ones(3))
