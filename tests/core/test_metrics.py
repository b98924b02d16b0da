"""What a metric takes, and what a further label may be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.enumeration import beliefs
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.hypothetical import (
    labelled,
    with_counts,
    with_pending,
    with_prior,
    with_tally,
)
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.moments import moments

NONE, ONES = np.zeros(2, np.int64), np.ones(2)
NO_ERRORS = Errors(np.zeros((2, 2), np.int64), np.ones((2, 2)))


def belief(metric, errors=None):
    return Belief(np.arange(2), np.full(2, 9), NONE, NONE, ONES, ONES, 2, "finite", metric=metric,
                  errors=errors)  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "errors", "message"),
    [
        (Metric("bias"), None, "bias has score of shape"),
        (Metric("ece", score=ONES), None, "ece has unit of shape"),
        (Metric("cost"), NO_ERRORS, "cost has values of shape"),
        (Metric("recall", unit=NONE[:1]), None, "recall has unit of shape"),
        (Metric("confusion"), None, "counts of every kind of error"),
        (Metric("cost", values=np.ones((2, 2))), NO_ERRORS, "knows 1 kinds of errors, .* have 2"),
        (Metric("confusion"), Errors(NONE[:1, None], ONES[:1, None]), "each of the 2 cells"),
    ],
)
def test_a_metric_without_what_it_takes_is_refused(metric, errors, message):
    with pytest.raises(ValueError, match=message):
        belief(metric, errors)


def test_an_unknown_metric_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'f2', expected one of accuracy, bias, ece"):
        Metric("f2")


@pytest.mark.parametrize(
    ("counts", "prior", "message"),
    [
        ([[1, 2]], [[1.0, 1.0], [1.0, 1.0]], "two arrays of one row a cell"),
        ([1, 2], [1.0, 1.0], "two arrays"),
        ([[1, -1]], [[1.0, 1.0]], ">= 0"),
        ([[1, 1]], [[1.0, -1.0]], ">= 0"),
        ([[1, 1]], [[0.0, 0.0]], "positive sum"),
        ([[1, 1]], [[np.inf, 1.0]], "finite"),
    ],
)
def test_impossible_counts_of_errors_are_refused(counts, prior, message):
    with pytest.raises(ValueError, match=message):
        Errors(np.array(counts), np.array(prior))


def test_a_cell_whose_items_are_all_labelled_takes_no_further_label():
    b = Belief(np.arange(2), np.full(2, 3), np.array([1, 0]), np.array([2, 0]), ONES, ONES, 2)
    with pytest.raises(ValueError, match="cell 0 has 3 items, all labelled"):
        labelled(b, 0, 1)
    with pytest.raises(ValueError, match="cell 1 has 4 pending items beside 0 labelled"):
        with_pending(b, np.array([0, 4]))


@pytest.mark.parametrize("kind", ["accuracy", "cost"])
@settings(max_examples=30)
@given(data=st.data())
def test_a_label_is_counted_once_where_it_belongs_and_nowhere_else(kind, data):
    b = data.draw(beliefs(kind))
    for cell in np.flatnonzero(unlabelled(b)):
        for outcome in range(2 if b.errors is None else 1 + b.errors.counts.shape[1]):
            after = labelled(b, int(cell), outcome)
            here = np.arange(b.group.size) == cell
            assert (after.right - b.right == here * (outcome == 0)).all()
            assert (after.wrong - b.wrong == here * (outcome > 0)).all()
            if b.errors is not None:
                assert after.errors.counts.sum(axis=1).tolist() == after.wrong.tolist()
                assert after.errors.counts[cell, outcome - 1] - b.errors.counts[
                    cell, outcome - 1
                ] == int(outcome > 0)


@settings(max_examples=30)
@given(b=beliefs("confusion"))
def test_pending_errors_are_spread_over_their_kinds(b):
    expected = with_pending(b, unlabelled(b))
    assert not unlabelled(expected).any()
    assert expected.errors.counts.sum(axis=1) == pytest.approx(expected.wrong)
    assert expected.right + expected.wrong == pytest.approx(b.size)


@settings(max_examples=20)
@given(b=beliefs("cost"), other=st.integers(1, 5))
def test_tally_and_prior_are_exchanged_one_without_the_other(b, other):
    b_moments = moments(b).mean
    none = np.zeros((b.group.size, 1 + b.errors.counts.shape[1]), np.int64)
    empty = with_tally(b, none)
    assert not (empty.right + empty.wrong).any()
    assert (empty.alpha == b.alpha).all()
    back = with_tally(empty, np.column_stack([b.right, b.errors.counts]))
    assert moments(back).mean == pytest.approx(b_moments, nan_ok=True)
    changed = with_prior(b, b.alpha * other, b.beta * other, b.mixture)
    assert (changed.right == b.right).all()
    assert (changed.errors.counts == b.errors.counts).all()
    again = with_prior(changed, b.alpha, b.beta, b.mixture)
    assert moments(again).mean == pytest.approx(b_moments, nan_ok=True)


@pytest.mark.parametrize("kind", ["accuracy", "ece", "cost"])
@settings(max_examples=20)
@given(data=st.data())
def test_another_tally_by_the_changed_groups_alone_is_the_same_to_the_last_bit(kind, data):
    """Else a worker that just came up and one that was there before might choose differently."""
    b = data.draw(beliefs(kind))
    wrong = b.wrong[:, None] if b.errors is None else b.errors.counts
    counts = np.column_stack([b.right, wrong])
    some = data.draw(st.integers(0, len(counts) - 1)) if len(counts) else 0
    before = counts.copy()
    before[some : some + 1] = 0
    moments(start := with_tally(b, before))
    stepped, fresh = moments(with_counts(start, counts)), moments(with_tally(b, counts))
    for name in ("mean", "variance", "drop", "rate", "weight"):
        np.testing.assert_array_equal(getattr(stepped, name), getattr(fresh, name))


def test_a_tally_of_another_pool_is_refused():
    b = Belief(
        np.zeros(1, int),
        np.array([3]),
        np.zeros(1, int),
        np.zeros(1, int),
        1.0 + np.zeros(1),
        np.ones(1),
        1,
    )
    with pytest.raises(ValueError, match="counted for another pool"):
        with_counts(b, np.array([[3, 1]]))
