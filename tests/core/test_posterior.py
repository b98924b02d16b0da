"""What is known of every group's accuracy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from worker.core.posterior.belief import Belief, group_labelled, group_right, group_size, unlabelled
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import labelled, with_pending
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import draws, marginal, mean, variance


@st.composite
def beliefs(draw_one, min_groups=1, max_groups=4, max_cells=3, max_size=5):
    """Small finite beliefs with strata, empty cells and empty groups."""
    n_groups = draw_one(st.integers(min_groups, max_groups))
    columns = [[], [], [], [], [], []]
    for g in range(n_groups):
        for _ in range(draw_one(st.integers(0, max_cells))):
            size = draw_one(st.integers(0, max_size))
            done = draw_one(st.integers(0, size))
            right = draw_one(st.integers(0, done))
            prior = [draw_one(st.sampled_from([0.25, 1.0, 3.5])) for _ in range(2)]
            for column, value in zip(columns, [g, size, right, done - right, *prior], strict=True):
                column.append(value)
    whole = [np.array(column, dtype=np.int64) for column in columns[:4]]
    return Belief(*whole, *(np.array(column, dtype=float) for column in columns[4:]), n_groups)


def one_cell_groups(size, right, wrong, population="finite", prior=(1.0, 1.0)):
    n = len(size)
    columns = [np.arange(n), *(np.array(column) for column in (size, right, wrong))]
    return Belief(*columns, np.full(n, prior[0]), np.full(n, prior[1]), n, population)


def completions(b, g):
    """Every possible accuracy of a group and its probability, by going through completions."""
    cells = np.flatnonzero(b.group == g)
    left, (a, d) = unlabelled(b), (b.alpha[:, 0] + b.right, b.beta[:, 0] + b.wrong)
    table = {}
    for ks in itertools.product(*(range(left[c] + 1) for c in cells)):
        p = 1.0
        for c, k in zip(cells, ks, strict=True):
            p *= stats.betabinom(left[c], a[c], d[c]).pmf(k)
        accuracy = (int(b.right[cells].sum()) + sum(ks)) / int(b.size[cells].sum())
        table[accuracy] = table.get(accuracy, 0.0) + p
    return np.array(sorted(table.items())).T


@given(beliefs(max_groups=2))
def test_the_distribution_is_that_of_all_completions_of_the_pool(b):
    for g in np.flatnonzero(group_size(b)):
        support, pmf = marginal(b, int(g)).atoms()
        expected_support, expected_pmf = completions(b, g)
        assert support == pytest.approx(expected_support)
        assert pmf == pytest.approx(expected_pmf, abs=1e-10)


@given(beliefs())
def test_mean_and_variance_are_those_of_the_distribution(b):
    for g in range(b.n_groups):
        if not group_size(b)[g]:
            assert np.isnan(mean(b)[g])
            assert np.isnan(variance(b)[g])
            continue
        support, pmf = marginal(b, g).atoms()
        assert pmf.sum() == pytest.approx(1.0)
        assert mean(b)[g] == pytest.approx(pmf @ support, abs=1e-12)
        assert variance(b)[g] == pytest.approx(pmf @ (support - mean(b)[g]) ** 2, abs=1e-12)


@given(beliefs(), st.sampled_from([0.5, 0.9, 0.95]))
def test_an_interval_holds_its_level_and_no_shorter_tail_would(b, level):
    bounds = interval(b, level)
    tail = (1 - level) / 2
    for g in range(b.n_groups):
        if not group_size(b)[g]:
            assert np.isnan(bounds[g]).all()
            continue
        support, pmf = marginal(b, g).atoms()
        low, high = bounds[g]
        own = b.group == g
        right, wrong = b.right[own].sum(), b.wrong[own].sum()
        assert pmf[support < low - 1e-9].sum() < tail + 1e-9
        assert pmf[support > high + 1e-9].sum() < tail + 1e-9
        if right or not wrong:
            assert pmf[support <= low + 1e-9].sum() >= tail - 1e-9
        else:
            assert low == 0
        if wrong:
            assert pmf[support >= high - 1e-9].sum() >= tail - 1e-9
        else:
            assert high == 1


@given(beliefs())
def test_sums_over_cells_lose_no_label(b):
    assert group_size(b).sum() == b.size.sum()
    assert group_right(b).sum() == b.right.sum()
    assert group_labelled(b).sum() == b.right.sum() + b.wrong.sum()
    assert np.issubdtype(group_right(b).dtype, np.integer)


def test_an_exhausted_group_is_known_exactly():
    b = one_cell_groups([4], [3], [1])
    assert marginal(b, 0).atoms()[1].tolist() == [1.0]
    assert mean(b)[0] == 0.75
    assert variance(b)[0] == 0.0
    assert interval(b).tolist() == [[0.75, 0.75]]
    assert (draw(b, np.random.default_rng(0), 9) == 0.75).all()


@given(st.lists(st.booleans(), max_size=12), st.randoms(use_true_random=False))
def test_the_order_in_which_labels_arrive_does_not_matter(outcomes, random):
    shuffled = random.sample(outcomes, len(outcomes))
    first = second = one_cell_groups([12, 3], [0, 0], [0, 0])
    for outcome in outcomes:
        first = labelled(first, 0, int(outcome))
    for outcome in shuffled:
        second = labelled(second, 0, int(outcome))
    assert (marginal(first, 0).atoms()[1] == marginal(second, 0).atoms()[1]).all()


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_draws_follow_the_distribution(population):
    b = one_cell_groups([40, 0, 300], [7, 0, 20], [5, 0, 90], population)
    theta = draw(b, np.random.default_rng(1), 40_000)
    assert np.isnan(theta[:, 1]).all()
    for g in (0, 2):
        support, pmf = marginal(b, g).atoms()
        for point in interval(b, 0.5)[g]:
            expected = pmf[support <= point + 1e-12].sum()
            found = (theta[:, g] <= point + 1e-12).mean()
            assert found == pytest.approx(expected, abs=0.012)  # four standard errors and a bin


def test_draws_of_strata_have_the_moments_of_their_sum():
    b = Belief(
        group=np.array([0, 0, 2]),
        size=np.array([30, 50, 8]),
        right=np.array([3, 1, 2]),
        wrong=np.array([1, 6, 2]),
        alpha=np.ones(3),
        beta=np.array([1.0, 2.0, 1.0]),
        n_groups=3,
    )
    theta = draw(b, np.random.default_rng(2), 40_000)
    assert np.isnan(theta[:, 1]).all()
    for g in (0, 2):
        assert theta[:, g].mean() == pytest.approx(mean(b)[g], abs=0.005)
        assert theta[:, g].var() == pytest.approx(variance(b)[g], rel=0.05)


def test_the_infinite_population_is_the_papers_beta():
    b = one_cell_groups([9, 100], [3, 40], [6, 5], "infinite")
    distribution = stats.beta([4.0, 41.0], [7.0, 6.0])
    assert mean(b) == pytest.approx(distribution.mean())
    assert variance(b) == pytest.approx(distribution.var())
    assert interval(b) == pytest.approx(np.transpose(distribution.ppf([[0.025], [0.975]])))
    support, pmf = marginal(b, 1).atoms()
    assert pmf.sum() == pytest.approx(1.0)
    assert pmf @ support == pytest.approx(mean(b)[1], abs=1e-7)


def test_the_finite_posterior_of_a_huge_pool_is_nearly_the_papers_beta():
    finite = one_cell_groups([200_000], [30], [10])
    infinite = one_cell_groups([200_000], [30], [10], "infinite")
    assert interval(finite) == pytest.approx(interval(infinite), abs=1e-3)


@given(beliefs())
def test_pending_items_narrow_a_group_and_leave_its_mean(b):
    pending = unlabelled(b) // 2
    expected = with_pending(b, pending)
    assert unlabelled(expected).tolist() == (unlabelled(b) - pending).tolist()
    assert mean(expected) == pytest.approx(mean(b), nan_ok=True)
    filled = group_size(b) > 0
    assert (variance(expected)[filled] <= variance(b)[filled] + 1e-12).all()
    for g in np.flatnonzero(filled):
        support, pmf = marginal(expected, int(g)).atoms()
        assert pmf @ support == pytest.approx(mean(b)[g])


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_kept_draws_hit_every_part_of_each_groups_distribution_once(population):
    b = one_cell_groups([40, 0, 300], [7, 0, 20], [5, 0, 90], population)
    values = draws(b)
    assert np.isnan(values[:, 1]).all()
    assert np.array_equal(values, draws(replace(b, _memo={})), equal_nan=True)
    for g in (0, 2):
        support, pmf = marginal(b, g).atoms()
        below = (values[:, g] <= support[:, None] + 1e-12).mean(axis=1)
        # a draw is a two-thousandth; an endless distribution is told by the middles of bins
        slack = 0.001 if population == "finite" else 0.001 + 0.51 * pmf.max()
        assert below == pytest.approx(np.cumsum(pmf), abs=slack)
    assert abs(np.corrcoef(values[:, [0, 2]].T)[0, 1]) < 0.1


@given(beliefs())
def test_the_whole_is_the_sum_of_the_groups_by_their_shares(b):
    assume(group_size(b).any())
    average, low, high = whole(b, 0.9)
    share = group_size(b) / group_size(b).sum()
    assert average == pytest.approx(np.nansum(share * mean(b)))
    sums = draw(b, np.random.default_rng(4), 4000)
    sums = np.nansum(share * sums, axis=1)
    assert (sums < low - 1e-9).mean() < 0.05 + 0.05
    assert (sums > high + 1e-9).mean() < 0.05 + 0.05
    assert ((sums > low - 1e-9) & (sums < high + 1e-9)).mean() > 0.9 - 0.05


def test_the_whole_of_bins_that_share_a_component_is_as_uncertain_as_their_common_draws():
    n, ones = 5, np.ones((5, 2))
    metric = Metric("ece", score=np.linspace(0.5, 0.9, n), unit=np.arange(n), pooled=True)
    none = np.zeros(n, np.int64)
    b = Belief(np.arange(n), none + 200, none, none, ones * [1, 90], ones * [90, 1], n,
               mixture=np.array([0.5, 0.5]), metric=metric)  # fmt: skip
    median, low, high = whole(b)
    drawn = draws(b) @ np.full(n, 1 / n)
    assert drawn.mean() == pytest.approx(moments(b).total[0], abs=0.01)
    assert median == pytest.approx(np.median(drawn))
    assert low == pytest.approx(0.29, abs=0.02)  # nearly all are right
    assert high == pytest.approx(0.69, abs=0.02)  # nearly all are wrong
    assert draws(b) is draws(b)


def test_the_interval_of_a_calibration_error_has_both_tails_and_reaches_that_of_no_error():
    bins, none = np.array([0, 0]), np.zeros(2, np.int64)
    metric = Metric("ece", score=np.array([0.6, 0.9]), unit=bins)
    b = Belief(np.arange(2), none + 50, np.array([10, 8]), np.array([0, 2]), np.ones((2, 1)) * 6,
               np.ones((2, 1)) * 2, 2, metric=metric)  # fmt: skip
    ends = interval(b)
    for g, (low, high) in enumerate(ends):
        first, last = marginal(b, g).quantiles(np.array([0.025, 0.975]))
        assert low <= first
        assert last <= high
    assert ends[0, 1] == pytest.approx(0.4)
