"""What one more label is expected to bring."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.belief import Belief, unlabelled
from worker.core.posterior import cell_mean, variance
from worker.core.rewards import variance_drop
from worker.core.supposing import labelled

counts = st.integers(0, 9).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda done: st.integers(0, done).map(lambda right: (n, right, done - right))
    )
)


def belief(cells, group, population="finite"):
    size, right, wrong = (np.array(column) for column in zip(*cells, strict=True))
    alpha, beta = np.linspace(0.5, 2, len(cells)), np.linspace(3, 1, len(cells))
    return Belief(np.array(group), size, right, wrong, alpha, beta, 2, population)


def expected_drop(b, cell, rate):
    """By what the variance of the cell's group falls, over both outcomes of the label."""
    g = b.group[cell]
    right, wrong = (variance(labelled(b, cell, outcome))[g] for outcome in (True, False))
    return variance(b)[g] - rate * right - (1 - rate) * wrong


@given(st.lists(counts, min_size=3, max_size=3), st.lists(st.floats(0, 1), min_size=3, max_size=3))
@pytest.mark.parametrize("drawn", [False, True])
def test_the_drop_is_that_over_both_outcomes_of_the_label(drawn, cells, rates):
    b = belief(cells, [0, 0, 1])
    theta = np.array(rates) if drawn else None
    drop = variance_drop(b, theta)
    for c in range(3):
        if unlabelled(b)[c]:
            rate = rates[c] if drawn else cell_mean(b)[c]
            assert drop[c] == pytest.approx(expected_drop(b, c, rate), abs=1e-12)
        else:
            assert drop[c] == 0.0


@given(counts, counts, st.floats(0, 1))
@pytest.mark.parametrize("drawn", [False, True])
def test_the_drop_of_an_endless_group_is_that_over_both_outcomes(drawn, first, second, rate):
    b = belief([first, second], [0, 1], "infinite")
    drop = variance_drop(b, np.full(2, rate) if drawn else None)
    for c in np.flatnonzero(unlabelled(b)):
        expected = expected_drop(b, c, rate if drawn else cell_mean(b)[c])
        assert drop[c] == pytest.approx(expected, abs=1e-12)


def test_the_closed_form_is_the_one_known_for_finite_cells():
    b = belief([(40, 3, 5), (10, 0, 0)], [0, 1])
    strength, left = b.alpha[0] + b.beta[0] + 8, 32
    known = variance(b)[0] * (strength + left) / (left * (strength + 1))
    assert variance_drop(b)[0] == pytest.approx(known)


def test_the_last_label_leaves_no_variance():
    b = belief([(5, 2, 2), (3, 0, 0)], [0, 1])
    assert variance_drop(b)[0] == pytest.approx(variance(b)[0])


def test_drawn_rates_need_one_entry_a_cell():
    with pytest.raises(ValueError, match="covers 2 cells"):
        variance_drop(belief([(5, 2, 2), (3, 0, 0)], [0, 1]), np.ones(3))
