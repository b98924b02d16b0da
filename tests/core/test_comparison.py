"""Whether one group is practically less, equally or more accurate than another."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from tests.core.enumeration import beliefs, made
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.pairwise import _normal
from worker.core.posterior.summary import marginal
from worker.core.questions.comparison import lookahead, pairs_asked, region, regions
from worker.core.questions.question import Question

counts = st.integers(1, 6).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda done: st.integers(0, done).map(lambda right: (n, right, done - right))
    )
)


def belief(*cells, population="finite", prior=(1.0, 1.0), group=None):
    size, right, wrong = (np.array(column) for column in zip(*cells, strict=True))
    group = np.arange(len(cells)) if group is None else np.array(group)
    alpha, beta = np.full(len(cells), prior[0]), np.full(len(cells), prior[1])
    return Belief(group, size, right, wrong, alpha, beta, int(group.max()) + 1, population)


@given(counts, counts, st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25, 0.5]))
def test_the_regions_are_the_sums_over_all_completions_of_both_groups(first, second, epsilon):
    b = belief(first, second)
    atoms = [list(zip(*marginal(b, g).atoms(), strict=True)) for g in (0, 1)]
    expected = np.zeros(3)
    for (x, p), (y, q) in itertools.product(*atoms):
        at = 0 if x - y < -epsilon - 1e-9 else 2 if x - y > epsilon + 1e-9 else 1
        expected[at] += p * q
    assert region(b, 0, 1, epsilon) == pytest.approx(tuple(expected), abs=1e-12)


@given(counts, counts, st.sampled_from(["finite", "infinite"]))
def test_exchanging_the_groups_turns_the_regions_round(first, second, population):
    b = belief(first, second, population=population)
    assert region(b, 1, 0, 0.07) == pytest.approx(region(b, 0, 1, 0.07)[::-1], abs=1e-8)


def test_the_table_of_the_normal_distribution_is_right_to_1e_8_and_beyond_its_ends():
    z = np.concatenate([np.linspace(-12, 12, 100_003), [-80.0, 80.0]])
    assert np.abs(_normal(z) - special.ndtr(z)).max() < 1e-8


def test_a_difference_of_exactly_epsilon_is_inside():
    b = belief((10, 3, 7), (10, 2, 8))  # .3 - .2 is above .1 in floating point
    assert region(b, 0, 1, 0.1) == (0.0, 1.0, 0.0)
    assert region(b, 0, 1, 0.09) == (0.0, 0.0, 1.0)
    assert region(b, 1, 0, 0.09) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("n", [7, 10, 30])
def test_rounding_never_decides_whether_a_difference_is_inside(n):
    for i, j in itertools.combinations(range(n + 1), 2):
        b = belief((n, i, n - i), (n, j, n - j))
        assert region(b, 0, 1, (j - i) / n) == region(b, 1, 0, (j - i) / n) == (0.0, 1.0, 0.0)
        assert region(b, 0, 1, (j - i) / n - 1e-6) == (1.0, 0.0, 0.0)


def test_strata_are_summed_before_they_are_compared():
    b = belief((20, 2, 4), (30, 3, 1), (50, 6, 2), group=[0, 0, 1])
    theta = draw(b, np.random.default_rng(0), 60_000)
    delta = theta[:, 0] - theta[:, 1]
    found = [(delta < -0.1001).mean(), (abs(delta) <= 0.1001).mean(), (delta > 0.1001).mean()]
    assert region(b, 0, 1, 0.1) == pytest.approx(tuple(found), abs=0.008)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(
    ("first", "second"),
    [((1, 0, 0), (1, 0, 0)), ((30, 3, 20), (9, 7, 1)), ((5000, 4000, 990), (20, 14, 5))],
)
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.1, 1.9)])
def test_the_regions_of_endless_groups_are_the_integrals(first, second, epsilon, prior):
    b = belief(first, second, population="infinite", prior=prior)
    x, y = (stats.beta(prior[0] + r, prior[1] + w) for _, r, w in (first, second))
    # over the probability, where the density has no poles: P(x < y - epsilon), P(x > y + epsilon)
    cuts = sorted({0.0, 1.0, *np.clip([y.cdf(epsilon), y.cdf(1 - epsilon)], 0, 1)})

    def integral(f):
        parts = itertools.pairwise(cuts)
        return sum(integrate.quad(f, *part, limit=500, epsabs=1e-11)[0] for part in parts)

    below = integral(lambda u: x.cdf(y.ppf(u) - epsilon))
    above = integral(lambda u: x.sf(y.ppf(u) + epsilon))
    expected = (below, 1 - below - above, above)
    assert region(b, 0, 1, epsilon) == pytest.approx(expected, abs=1e-7)


def test_people_are_less_accurate_than_trees_as_the_paper_states():
    # Supplement of Ji et al. (AAAI 2021): CIFAR-100, ResNet-110, Beta(1, 1), all labels.
    b = belief((483, 280, 203), (513, 351, 162), population="infinite")
    assert round(region(b, 0, 1, 0.05)[0], 2) == 0.96


@given(counts, counts, st.floats(0, 1), st.floats(0, 1))
def test_lookahead_is_the_mean_over_the_label_at_the_drawn_rates(first, second, rate1, rate2):
    b, theta, epsilon = belief(first, second), np.array([rate1, rate2]), 0.1
    now = max(region(b, 0, 1, epsilon))
    found = lookahead(b, 0, 1, epsilon, theta)
    for g, (n, right, wrong) in enumerate((first, second)):
        if right + wrong == n:
            assert found[g] == now
            continue
        after = [max(region(labelled(b, g, z), 0, 1, epsilon)) for z in (0, 1)]
        assert found[g] == pytest.approx(theta[g] * after[0] + (1 - theta[g]) * after[1])


@given(counts, counts)
def test_a_label_is_not_expected_to_lower_lambda_under_the_predictive(first, second):
    b = belief(first, second)
    predictive = moments(b).rate
    now = max(region(b, 0, 1, 0.1))
    assert min(lookahead(b, 0, 1, 0.1, predictive)) >= now - 1e-9


@pytest.mark.parametrize("kind", ["accuracy", "bias"])
@settings(max_examples=40)
@given(data=st.data())
def test_lookahead_knows_what_a_label_says_of_the_component_that_strata_share(kind, data):
    b = data.draw(beliefs(kind, population="finite", max_size=4, n_groups=(2,)))
    groups, theta = np.unique(b.group).tolist(), np.full(b.group.size, 0.3)
    open_cells = [np.flatnonzero((b.group == g) & (unlabelled(b) > 0)).tolist() for g in groups]
    first, second = (data.draw(st.sampled_from(of)) if of else None for of in open_cells)
    found = lookahead(b, *groups, 0.1, theta, (first, second))
    for cell, value in zip((first, second), found, strict=True):
        after = [b] * 2 if cell is None else [labelled(b, cell, outcome) for outcome in (0, 1)]
        right, wrong = (max(region(of, *groups, 0.1)) for of in after)
        assert value == pytest.approx(0.3 * right + 0.7 * wrong, abs=1e-11)


def test_lookahead_labels_the_cell_that_sharpens_its_group_most():
    b = belief((20, 0, 0), (20, 9, 9), (30, 4, 4), group=[0, 0, 1])
    theta = np.array([0.2, 0.9, 0.5])
    assert moments(b).drop[0] > moments(b).drop[1]
    assert lookahead(b, 0, 1, 0.05, theta) == lookahead(b, 0, 1, 0.05, theta, (0, 2))
    assert lookahead(b, 0, 1, 0.05, theta) != lookahead(b, 0, 1, 0.05, theta, (1, 2))


def test_all_pairs_of_groups_with_items_are_compared_unless_some_are_listed():
    b = belief((3, 0, 0), (0, 0, 0), (3, 0, 0), (3, 1, 0))
    assert pairs_asked(b, Question("compare")) == ((0, 2), (0, 3), (2, 3))
    assert pairs_asked(b, Question("compare", pairs=((3, 0),))) == ((3, 0),)


def test_regions_are_those_of_each_pair():
    b = belief((3, 0, 0), (5, 1, 2), (3, 1, 0))
    pairs = ((0, 1), (2, 1))
    expected = [region(b, 0, 1, 0.05), region(b, 2, 1, 0.05)]
    np.testing.assert_array_equal(regions(b, pairs, 0.05), expected)


@pytest.mark.parametrize("metric", [Metric(), Metric("bias", score=np.linspace(0.5, 0.9, 160))])
def test_regions_after_a_label_are_what_they_would_be_without_those_before(metric):
    rng = np.random.default_rng(3)
    group, none = np.repeat(np.arange(40), 4), np.zeros(160, np.int64)
    columns = group, rng.integers(1, 60, 160), none, none
    alpha, beta = rng.uniform(0.5, 6, (2, 160, 3))
    b = Belief(*columns, alpha, beta, 40, mixture=np.full(3, 1 / 3), metric=metric)
    pairs = pairs_asked(b, Question("compare"))
    for cell in (5, 77, 5):
        b = labelled(b, cell, int(rng.integers(2)))
        found = regions(b, pairs, 0.05)
        np.testing.assert_array_equal(found, [region(b, *pair, 0.05) for pair in pairs])
        np.testing.assert_array_equal(regions(b, pairs[::-1], 0.05), found[::-1])
        assert np.sum(found, axis=1) == pytest.approx(np.ones(len(pairs)))


@pytest.mark.parametrize(
    ("kind", "population"), [("accuracy", "infinite"), ("cost", "finite"), ("ece", "infinite")]
)
def test_regions_of_distributions_that_are_no_counts_follow_their_labels_too(kind, population):
    b = made(np.random.default_rng(4), kind, 9, (1, 1), (1,), population, n_groups=3)
    pairs = pairs_asked(b, Question("compare"))
    for cell in np.flatnonzero(unlabelled(b)).tolist():
        regions(b, pairs, 0.05)
        b = labelled(b, cell, 1)
        expected = [region(b, *pair, 0.05) for pair in pairs]
        np.testing.assert_array_equal(regions(b, pairs, 0.05), expected)


def test_what_was_found_before_is_not_changed_by_its_reader():
    b = belief((30, 3, 9), (50, 10, 20))
    found = regions(b, ((0, 1),), 0.05)
    kept = found.copy()
    found[:] = 0.0
    np.testing.assert_array_equal(regions(b, ((0, 1),), 0.05), kept)


@pytest.mark.parametrize("pair", [(0, 1), (0, 9), (-1, 0)])
def test_a_pair_with_an_unknown_or_empty_group_is_refused(pair):
    b = belief((3, 0, 0), (0, 0, 0), (3, 0, 0))
    with pytest.raises(ValueError, match="unknown or has no items"):
        pairs_asked(b, Question("compare", pairs=(pair,)))


def test_one_group_with_items_cannot_be_compared():
    with pytest.raises(ValueError, match="no two groups"):
        pairs_asked(belief((3, 0, 0), (0, 0, 0)), Question("compare"))
