"""What one more label is expected to bring."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.intervals import whole
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import variance
from worker.core.questions.rewards import drawn_drop, question_drop, squared_error

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


def test_a_large_group_counts_by_its_share():
    cells, group = [(40, 3, 5), (10, 0, 0)], [0, 1]
    b = belief(cells, group)
    assert question_drop(b) == pytest.approx(moments(b).drop * [0.8, 0.2])
    assert squared_error(b) == pytest.approx(moments(b).variance @ [0.8, 0.2])


def test_bins_that_are_summed_are_the_ece_of_one_group_whose_bins_they_are():
    """The components are then shared by all bins, and a label in one tells of all."""
    rng = np.random.default_rng(5)
    size, bins = np.array([40, 30, 20, 60]), np.array([0, 0, 1, 2])
    right, wrong = np.array([3, 0, 4, 9]), np.array([2, 1, 0, 1])
    alpha, beta = rng.uniform(1, 6, (2, 4, 3))
    score, mixture = np.array([0.6, 0.7, 0.8, 0.95]), np.array([0.3, 0.5, 0.2])

    def about(group, n_groups, metric):
        counts = (group, size, right, wrong, alpha, beta, n_groups, "finite", mixture)
        return Belief(*counts, metric=metric)

    apart = about(bins, 3, Metric("ece", score=score, unit=np.zeros(4, np.int64), pooled=True))
    one = about(np.zeros(4, np.int64), 1, Metric("ece", score=score, unit=bins))
    mean, variance = moments(apart).total
    assert mean == pytest.approx(moments(one).mean[0])
    assert variance == pytest.approx(moments(one).variance[0])
    assert squared_error(apart) == pytest.approx(variance + (mean - whole(apart)[0]) ** 2)
    assert question_drop(apart) == pytest.approx(moments(one).drop)
    assert moments(labelled(apart, 2, 1)).total == pytest.approx(
        (moments(labelled(one, 2, 1)).mean[0], moments(labelled(one, 2, 1)).variance[0])
    )
    share = np.bincount(bins, size) / size.sum()
    drawn = draw(apart, rng, 4000) @ share
    assert drawn.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 4000) + 0.004)
    assert drawn.var() == pytest.approx(variance, rel=0.15)


def test_drawn_rates_need_one_entry_a_cell():
    with pytest.raises(ValueError, match="covers 2 cells"):
        drawn_drop(belief([(5, 2, 2), (3, 0, 0)], [0, 1]), np.ones(3))
