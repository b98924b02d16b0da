"""The story of a shift that made the labels is the one that explains them best."""

import numpy as np
import pytest
from scipy import stats

from worker.core.drift.shift import Cells, Contrast, scores_differ, shares_differ, stories

K = 5
PREDICTED = np.arange(K)


def confusion(accuracy=0.75):
    """(K, K) P(predicted | true), errors mostly to the next class."""
    table = np.full((K, K), (1 - accuracy) * 0.1)
    for k in range(K):
        table[k, (k + 1) % K] += (1 - accuracy) * 0.6
        table[k, k] = accuracy
    return table / table.sum(axis=1, keepdims=True)


def drawn(of_class, share, n_items, n_labels, rng):
    """(K,) items by predicted class, and (K, K) labels [predicted, true]."""
    truth = rng.choice(K, n_items, p=share)
    predicted = np.array([rng.choice(K, p=of_class[t]) for t in truth])
    table = np.zeros((K, K), dtype=np.int64)
    some = rng.choice(n_items, n_labels, replace=False)
    np.add.at(table, (predicted[some], truth[some]), 1)
    return np.bincount(predicted, minlength=K), table


def known(then, now, size_then, size_now):
    right = np.diag(then)
    wrong = then.sum(axis=1) - right
    ones = np.ones(K)
    return Cells(PREDICTED, 1.0 + right, 1.0 + wrong, ones, ones, then, now, size_then, size_now)


EVEN = np.full(K, 1 / K)
SKEWED = np.array([0.6, 0.1, 0.1, 0.1, 0.1])


def test_other_shares_of_the_true_classes_are_told_from_other_inputs():
    rng = np.random.default_rng(0)
    size_then, then = drawn(confusion(), EVEN, 6000, 1000, rng)
    size_now, now = drawn(confusion(), SKEWED, 6000, 1000, rng)
    found = stories(known(then, now, size_then, size_now))
    assert found.label > found.covariate + np.log(20)
    assert found.label > found.concept + np.log(20)
    np.testing.assert_allclose(found.weight / found.weight.sum(), SKEWED, atol=0.06)


def test_other_inputs_of_which_each_is_judged_as_before_are_covariate_shift():
    rng = np.random.default_rng(1)
    size_then, then = drawn(confusion(), EVEN, 6000, 1000, rng)
    # the predicted classes come in other shares, what is true of each stays
    size_now = np.array([3600, 600, 600, 600, 600])
    of_prediction = confusion().T / confusion().T.sum(axis=1, keepdims=True)
    now = np.stack([rng.multinomial(200, p) for p in of_prediction])
    found = stories(known(then, now, size_then, size_now))
    assert found.covariate > found.label + np.log(20)
    assert found.covariate > found.concept + np.log(20)


def test_a_classifier_that_means_something_else_is_a_change_of_concept():
    rng = np.random.default_rng(2)
    size_then, then = drawn(confusion(), EVEN, 6000, 1000, rng)
    now = np.stack([rng.multinomial(200, np.roll(row, 2)) for row in confusion()])
    found = stories(known(then, now, size_then, size_then))
    assert found.concept > max(found.covariate, found.label) + np.log(20)


def test_where_nothing_changed_the_two_kinds_of_shift_cannot_be_told_apart():
    rng = np.random.default_rng(3)
    size_then, then = drawn(confusion(), EVEN, 6000, 1000, rng)
    size_now, now = drawn(confusion(), EVEN, 6000, 500, rng)
    found = stories(known(then, now, size_then, size_now))
    assert abs(found.covariate - found.label) < np.log(20)
    assert found.covariate > found.concept
    np.testing.assert_allclose(found.weight, 1, atol=0.25)


def test_labels_of_no_errors_and_classes_never_predicted_are_no_trouble():
    then = np.diag([50, 50, 50, 0, 0])
    size = np.array([100, 100, 100, 0, 0])
    found = stories(known(then, np.diag([9, 9, 9, 0, 0]), size, size[::-1].copy()))
    assert np.isfinite([found.covariate, found.label, found.concept]).all()
    assert np.isfinite(found.weight).all()


def test_the_probabilities_of_a_story_are_those_of_urns():
    # two cells with one label each: right with alpha / (alpha + beta), the error's class by shares
    then = np.array([[3, 1], [0, 4]])
    now = np.array([[1, 0], [1, 0]])
    cells = Cells(np.arange(2), np.array([4.0, 5.0]), np.array([2.0, 1.0]), np.ones(2), np.ones(2),
                  then, now, np.array([10, 10]), np.array([10, 10]))  # fmt: skip
    found = stories(cells)
    assert found.covariate == pytest.approx(np.log(4 / 6 * 1 / 6))
    assert found.concept == pytest.approx(np.log(1 / 2 * 1 / 2))


def test_shares_and_scores_of_one_distribution_rarely_differ():
    rng, p = np.random.default_rng(4), []
    for _ in range(300):
        p.append(shares_differ(rng.multinomial(500, EVEN), rng.multinomial(800, EVEN)).p)
    assert stats.kstest(p, "uniform").pvalue > 0.001
    p = [scores_differ(rng.beta(5, 2, 400), rng.beta(5, 2, 300)).p for _ in range(300)]
    assert np.mean(np.array(p) < 0.05) < 0.09


def test_shares_and_scores_that_moved_differ_by_how_much():
    moved = shares_differ(np.array([500, 500, 0]), np.array([750, 250, 0]))
    assert moved.p < 1e-6
    assert moved.distance == pytest.approx(0.25)
    rng = np.random.default_rng(5)
    assert scores_differ(rng.beta(9, 2, 400), rng.beta(5, 2, 400)).p < 1e-3
    assert shares_differ(np.array([5, 0]), np.array([9, 0])) == Contrast(1.0, 0.0)
    assert shares_differ(np.array([0, 0]), np.array([9, 1])) == Contrast(1.0, 0.0)
    assert scores_differ(np.zeros(0), np.ones(3)) == Contrast(1.0, 0.0)
