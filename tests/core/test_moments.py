"""Mean and variance of every metric, and what one more label does to them: against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.core.enumeration import (
    beliefs,
    component_weights,
    exact_atoms,
    expected_drop,
    made,
    mean_and_variance,
    next_label,
)
from worker.core.posterior.belief import Belief, group_size, unlabelled
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.hypothetical import labelled, with_pending
from worker.core.posterior.metrics import RATIOS, Errors, Metric
from worker.core.posterior.moments import moments

LINEAR = ("accuracy", "bias", "cost", "confusion")
every_linear_metric = pytest.mark.parametrize("kind", LINEAR)
KINDS = (*LINEAR, "ece", *RATIOS)
every_metric = pytest.mark.parametrize("kind", KINDS)
EXACT = {"rel": 1e-9, "abs": 1e-12}


def filled(b):
    return np.flatnonzero(group_size(b)).tolist()


@every_linear_metric
@settings(max_examples=40)
@given(data=st.data())
def test_mean_and_variance_are_those_over_all_completions(kind, data):
    b = data.draw(beliefs(kind))
    known = moments(b)
    for g in range(b.n_groups):
        if g not in filled(b):
            assert np.isnan([known.mean[g], known.variance[g]]).all()
            continue
        mean, variance = mean_and_variance(b, g)
        assert known.mean[g] == pytest.approx(mean, **EXACT)
        assert known.variance[g] == pytest.approx(variance, **EXACT)


@every_linear_metric
@settings(max_examples=25)
@given(data=st.data())
def test_the_drop_is_the_variance_less_what_is_expected_after_the_label(kind, data):
    b = data.draw(beliefs(kind))
    cell = data.draw(st.integers(0, b.group.size - 1))
    drop = moments(b).drop[cell]
    if not unlabelled(b)[cell]:
        assert drop == 0.0
        return
    assert drop == pytest.approx(expected_drop(b, cell), rel=1e-8, abs=1e-12)


@every_metric
@settings(max_examples=20)
@given(data=st.data())
def test_components_and_rates_follow_from_bayes_rule(kind, data):
    b = data.draw(beliefs(kind))
    known = moments(b)
    for g in range(b.n_groups):
        assert known.weight[g] == pytest.approx(component_weights(b, g))
    for c in range(b.group.size):
        assert known.rate[c] == pytest.approx(next_label(b, c)[0])


@settings(max_examples=40)
@given(b=beliefs("confusion"))
def test_the_confusion_matrix_has_the_means_over_all_completions(b):
    shares = confusion_mean(b)
    for g in range(b.n_groups):
        if g in filled(b):
            x, p = exact_atoms(b, g)
            assert shares[g] == pytest.approx(p @ x)
            assert shares[g].sum() == pytest.approx(1.0)
        else:
            assert np.isnan(shares[g]).all()


def test_a_belief_that_counts_no_kinds_of_errors_has_no_confusion_matrix():
    b = Belief(*(np.zeros(1, np.int64) for _ in range(4)), np.ones(1), np.ones(1), 1)
    with pytest.raises(ValueError, match="kinds of errors"):
        confusion_mean(b)


# Largest errors of the folded normal: of the mean, of the standard deviation, and of the drop as a
# share of the variance. They fall with the size of the bins.
FOLDED = [
    ("finite", 6, (0.04, 0.05, 0.6)),
    ("finite", 12, (0.02, 0.02, 0.25)),
    ("infinite", 12, (0.02, 0.02, 0.25)),
]


@pytest.mark.parametrize(("population", "largest", "bounds"), FOLDED)
def test_the_calibration_error_is_near_that_over_all_completions(population, largest, bounds):
    rng = np.random.default_rng(largest)
    for _ in range(12):
        b = made(rng, "ece", largest, n_cells=(1, 2), population=population)
        _assert_near(b, bounds, n_quadrature=40)


# As above; recall and F1 are ratios, taken for linear near their mean.
LINEARISED = [
    ("finite", 6, (0.1, 0.1, 0.2)),
    ("finite", 24, (0.1, 0.06, 0.12)),
    ("infinite", 10, (0.08, 0.06, 0.12)),
]


@pytest.mark.parametrize("kind", RATIOS)
@pytest.mark.parametrize(("population", "largest", "bounds"), LINEARISED)
def test_a_ratio_is_near_that_over_all_completions(kind, population, largest, bounds):
    rng = np.random.default_rng(largest)
    for _ in range(6):
        b = made(rng, kind, largest, n_cells=(2, 2), population=population)
        _assert_near(b, bounds, n_quadrature=8)


def _assert_near(b, bounds, n_quadrature):
    known, cell = moments(b), int(unlabelled(b).argmax())
    mean, variance = mean_and_variance(b, 0, n_quadrature)
    drop = expected_drop(b, cell, n_quadrature)
    assert known.mean[0] == pytest.approx(mean, abs=bounds[0])
    assert np.sqrt(known.variance[0]) == pytest.approx(np.sqrt(variance), abs=bounds[1])
    assert known.drop[cell] == pytest.approx(drop, abs=bounds[2] * variance)


def test_the_calibration_error_of_large_bins_is_nearly_exact():
    b = Belief(
        np.zeros(2, np.int64), np.array([400, 300]), np.array([31, 12]), np.array([10, 9]),
        np.array([5.0, 4.0]), np.array([1.0, 2.0]), 1,
        metric=Metric("ece", score=np.array([0.8, 0.55]), unit=np.array([0, 1])),
    )  # fmt: skip
    mean, variance = mean_and_variance(b, 0)
    assert moments(b).mean[0] == pytest.approx(mean, abs=5e-4)
    assert np.sqrt(moments(b).variance[0]) == pytest.approx(np.sqrt(variance), rel=0.01)


def test_a_fully_labelled_group_has_its_value_and_no_variance():
    rng = np.random.default_rng(4)
    for kind in KINDS:
        b = made(rng, kind, 6, n_cells=(2, 3))
        while unlabelled(b).any():
            b = labelled(b, int(unlabelled(b).argmax()), int(rng.integers(2)))
        mean, _ = mean_and_variance(b, 0)
        assert moments(b).mean[0] == pytest.approx(mean)
        assert moments(b).variance[0] == pytest.approx(0, abs=1e-12)
        assert (moments(b).drop == 0).all()


@every_metric
@settings(max_examples=40)
@given(data=st.data())
def test_label_by_label_gives_the_same_numbers_as_the_whole_tally_at_once(kind, data):
    b = data.draw(beliefs(kind, max_size=6))
    assume(unlabelled(b).any())
    moments(b)
    n_outcomes = 2 if b.errors is None else 1 + b.errors.counts.shape[1]
    for _ in range(data.draw(st.integers(1, 6))):
        if not unlabelled(b).any():
            break
        cell = data.draw(st.sampled_from(np.flatnonzero(unlabelled(b)).tolist()))
        b = labelled(b, cell, data.draw(st.integers(0, n_outcomes - 1)))
        if data.draw(st.booleans()):
            moments(b)
    _assert_the_same(b)


@every_metric
@settings(max_examples=25)
@given(data=st.data())
def test_pending_items_give_the_same_numbers_as_a_belief_made_with_them(kind, data):
    b = data.draw(beliefs(kind, max_size=6))
    pending = np.zeros_like(b.size)
    for _ in range(data.draw(st.integers(1, 4))):  # some stay pending while others get a label
        if data.draw(st.booleans()):
            pending = np.array([data.draw(st.integers(0, int(n))) for n in unlabelled(b)])
        expected = with_pending(b, pending)
        assert unlabelled(expected).tolist() == (unlabelled(b) - pending).tolist()
        _assert_the_same(expected)
        cells = np.flatnonzero(unlabelled(b) - pending)
        if cells.size:
            b = labelled(
                b, data.draw(st.sampled_from(cells.tolist())), data.draw(st.integers(0, 1))
            )


def _assert_the_same(b):
    """What was carried over label by label is what is worked out anew, to the last bit.

    Else a worker that was started again could break a tie otherwise.
    """
    fresh = Belief(
        b.group, b.size, b.right, b.wrong, b.alpha, b.beta, b.n_groups, b.population, b.mixture,
        b.metric, Errors(b.errors.counts, b.errors.prior) if b.errors else None,
    )  # fmt: skip
    carried, anew = moments(b), moments(fresh)
    for name in ("mean", "variance", "drop", "rate", "weight", "given", "between", "own"):
        found, expected = getattr(carried, name), getattr(anew, name)
        assert np.array_equal(found, expected, equal_nan=True), name


@settings(max_examples=25)
@given(b=beliefs("accuracy"))
def test_pending_items_in_a_cell_leave_its_mean_where_there_is_one_component(b):
    if b.mixture.size == 1:
        after = moments(with_pending(b, unlabelled(b) // 2))
        assert after.mean == pytest.approx(moments(b).mean, nan_ok=True)
        there = filled(b)
        assert (after.variance[there] <= moments(b).variance[there] + 1e-12).all()


def dirichlet(prior, counts, population="infinite"):
    """One group with one cell and component, of the paper's plain Dirichlet over all kinds."""
    prior, counts = np.array(prior, float), np.array(counts)
    return Belief(
        np.zeros(1, np.int64), np.array([1000]), counts[:1], counts[1:].sum(keepdims=True),
        prior[:1], prior[1:].sum(keepdims=True), 1, population, metric=Metric("confusion"),
        errors=Errors(counts[None, 1:], prior[None, 1:]),
    )  # fmt: skip


def test_beta_and_dirichlet_are_together_the_dirichlet_of_the_paper():
    prior, counts, costs = [0.7, 0.2, 0.4, 0.1], [12, 3, 0, 5], np.array([0.0, 1.0, 5.0, 2.5])
    b = dirichlet(prior, counts)
    distribution = stats.dirichlet(np.array(prior) + counts)
    assert confusion_mean(b)[0] == pytest.approx(distribution.mean())
    assert moments(b).mean[0] == pytest.approx(distribution.mean()[0])
    assert moments(b).variance[0] == pytest.approx(distribution.var().sum())
    cost = replace(b, metric=Metric("cost", values=costs[None]), _memo={})
    assert moments(cost).mean[0] == pytest.approx(distribution.mean() @ costs)
    assert moments(cost).variance[0] == pytest.approx(costs @ distribution.cov() @ costs)


def test_a_dirichlets_variance_falls_by_one_label_as_the_paper_has_it():
    b = dirichlet([0.7, 0.2, 0.4, 0.1], [12, 3, 0, 5])
    a = np.array([12.7, 3.2, 0.4, 5.1])
    after = [stats.dirichlet(a + one).var().sum() for one in np.eye(4)]
    expected = stats.dirichlet(a).var().sum() - (a / a.sum()) @ after
    assert moments(b).drop[0] == pytest.approx(expected)
