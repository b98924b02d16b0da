"""Which groups are the most extreme, and how sure that is."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.posterior.belief import Belief
from worker.core.posterior.drawing import draw
from worker.core.posterior.summary import marginal, mean
from worker.core.questions.ranking import ranking, set_confidence
from worker.core.questions.reciprocal_rank import mrr, mrr_confidence

N_DRAWS = 60_000


def belief(size, right, wrong, population="finite", prior=(1.0, 1.0), group=None):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [group, *(np.array(column) for column in (size, right, wrong))]
    alpha, beta = np.full(len(size), prior[0]), np.full(len(size), prior[1])
    return Belief(*columns, alpha, beta, int(group.max()) + 1, population)


@st.composite
def small_beliefs(draw_one):
    cells = draw_one(
        st.lists(
            st.integers(1, 4).flatmap(
                lambda n: st.integers(0, n).flatmap(
                    lambda done: st.integers(0, done).map(lambda right: (n, right, done - right))
                )
            ),
            min_size=2,
            max_size=4,
        )
    )
    return belief(*zip(*cells, strict=True))


def right_sets(theta, top, which, tolerance):
    """Every set of `top` groups that counts as the most extreme, by going through all sets."""
    values = theta if which == "lowest" else -theta
    groups = range(len(values))
    for chosen in itertools.combinations(groups, top):
        others = [values[g] for g in groups if g not in chosen]
        if not others or max(values[list(chosen)]) <= min(others) + tolerance + 1e-12:
            yield set(chosen)


def reciprocal_rank(order, true):
    found, total = 0, 0.0
    for rank, g in enumerate(order, start=1):
        if g in true:
            total += 1 / (rank - found)
            found += 1
    return total / len(true)


truths = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]), min_size=n, max_size=n),
        st.permutations(range(n)),
        st.integers(1, n),
    )
)


@given(truths, st.sampled_from(["lowest", "highest"]), st.sampled_from([0.0, 0.1, 0.3]))
def test_mrr_is_the_best_over_all_right_sets(truth, which, tolerance):
    theta, order, top = truth
    expected = max(
        reciprocal_rank(order, true) for true in right_sets(np.array(theta), top, which, tolerance)
    )
    assert mrr(order, np.array([theta]), top, which, tolerance)[0] == pytest.approx(expected)


def test_within_the_tolerance_even_the_very_lowest_group_may_be_left_out():
    theta = np.array([[0.10, 0.11, 0.14, 0.9]])
    assert mrr([1, 2, 0, 3], theta, 2, "lowest", 0.05).tolist() == [1.0]
    assert mrr([1, 2, 0, 3], theta, 2, "lowest", 0.03).tolist() == [0.75]


def test_mrr_is_computed_row_by_row():
    theta = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3]])
    assert mrr([0, 1, 2], theta, 1) == pytest.approx([1.0, 1 / 3, 1 / 2])
    assert mrr([0, 1, 2], theta, 2) == pytest.approx([1.0, 1 / 2, 1.0])


def test_mrr_ignores_groups_outside_the_ranking():
    theta = np.array([[0.5, np.nan, 0.2]])
    assert mrr([2, 0], theta, 1).tolist() == [1.0]


@pytest.mark.parametrize("top", [0, 4])
def test_mrr_asks_for_no_more_groups_than_are_ranked(top):
    with pytest.raises(ValueError, match="ranking has 3 groups"):
        mrr([0, 1, 2], np.zeros((1, 3)), top)


def test_the_ranking_follows_the_posterior_mean_and_leaves_out_empty_groups():
    b = belief([9, 0, 9, 9], [8, 0, 1, 4], [1, 0, 8, 5])
    assert ranking(b, "lowest").tolist() == [2, 3, 0]
    assert ranking(b, "highest").tolist() == [0, 3, 2]


def test_equal_groups_keep_their_order():
    b = belief([9] * 4, [3] * 4, [3] * 4)
    assert ranking(b, "lowest").tolist() == ranking(b, "highest").tolist() == [0, 1, 2, 3]


@given(small_beliefs(), st.integers(1, 3), st.sampled_from(["lowest", "highest"]), st.booleans())
def test_set_confidence_is_the_sum_over_all_completions_of_the_pool(b, top, which, tolerant):
    tolerance = 0.25 if tolerant else 0.0
    chosen = [int(g) for g in ranking(b, which)[:top]]
    distributions = [marginal(b, g).atoms() for g in range(b.n_groups)]
    expected = 0.0
    for atoms in itertools.product(*(list(zip(*d, strict=True)) for d in distributions)):
        theta = np.array([accuracy for accuracy, _ in atoms])
        if set(chosen) in right_sets(theta, min(top, b.n_groups), which, tolerance):
            expected += np.prod([p for _, p in atoms])
    assert set_confidence(b, chosen, which, tolerance) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("population", ["finite", "infinite"])
@pytest.mark.parametrize(("which", "top"), [("lowest", 1), ("highest", 1), ("lowest", 3)])
@pytest.mark.parametrize("tolerance", [0.0, 0.04])
def test_set_confidence_agrees_with_draws_in_a_larger_pool(population, which, top, tolerance):
    rng = np.random.default_rng(5)
    right, wrong = rng.integers(0, 15, 12), rng.integers(0, 9, 12)
    b = belief(rng.integers(30, 90, 12), right, wrong, population)
    chosen = [int(g) for g in ranking(b, which)[:top]]
    theta = draw(b, rng, N_DRAWS) * (1 if which == "lowest" else -1)
    others = np.delete(theta, chosen, axis=1)
    found = (theta[:, chosen].max(axis=1) <= others.min(axis=1) + tolerance + 1e-12).mean()
    assert set_confidence(b, chosen, which, tolerance) == pytest.approx(found, abs=0.008)


def test_set_confidence_counts_strata_as_one_group():
    cells = {"size": [20, 30, 50, 9], "right": [2, 3, 6, 4], "wrong": [4, 1, 2, 0]}
    b = belief(**cells, group=[0, 0, 1, 2])
    theta = draw(b, np.random.default_rng(3), N_DRAWS)
    found = (theta[:, 0] <= theta[:, 1:].min(axis=1)).mean()
    assert set_confidence(b, [0]) == pytest.approx(found, abs=0.008)


def test_set_confidence_of_two_endless_groups_is_the_probability_of_their_order():
    b = belief([9, 9], [2, 7], [7, 2], "infinite")
    x = (np.arange(200_000) + 0.5) / 200_000
    density, below = x**7 * (1 - x) ** 2, np.cumsum(x**2 * (1 - x) ** 7)
    expected = (density / density.sum()) @ (below / below[-1])
    assert set_confidence(b, [0]) == pytest.approx(expected, abs=1e-5)


def test_a_fully_labelled_pool_is_certain_and_a_tie_is_right():
    b = belief([3, 6, 4], [1, 2, 4], [2, 4, 0])
    assert mean(b)[0] == mean(b)[1]
    assert set_confidence(b, [0]) == set_confidence(b, [1]) == 1.0
    assert set_confidence(b, [2]) == 0.0
    assert set_confidence(b, [2], "highest") == 1.0


def test_a_difference_of_exactly_the_tolerance_is_a_tie():
    b = belief([10, 10], [3, 2], [7, 8])  # .3 - .2 is above .1 in floating point
    assert set_confidence(b, [0], "lowest", 0.1) == 1.0
    assert set_confidence(b, [0], "lowest", 0.0999) == 0.0


@pytest.mark.parametrize("n", [7, 10, 30])
def test_rounding_never_decides_whether_groups_are_tied(n):
    for i, j in itertools.combinations(range(n + 1), 2):
        b = belief([n, n], [i, j], [n - i, n - j])
        assert set_confidence(b, [1], "lowest", (j - i) / n) == 1.0
        assert set_confidence(b, [0], "highest", (j - i) / n) == 1.0
        assert set_confidence(b, [1], "lowest", (j - i) / n - 1e-6) == 0.0


def test_without_rivals_the_set_is_right():
    assert set_confidence(belief([5, 5, 0], [1, 0, 0], [0, 1, 0]), [0, 1]) == 1.0


def test_hundreds_of_equal_groups_share_the_confidence():
    b = belief([1000] * 300, [0] * 300, [0] * 300)
    assert 1 / 300 < set_confidence(b, [7]) < 1.2 / 300  # ties make it a little more


@pytest.mark.parametrize("chosen", [[], [0, 0], [2], [7], [-1]])
def test_a_set_is_chosen_of_distinct_groups_with_items(chosen):
    with pytest.raises(ValueError, match="distinct groups with items"):
        set_confidence(belief([5, 5, 0], [1, 0, 0], [0, 1, 0]), chosen)


def test_a_high_threshold_asks_for_the_right_set():
    b = belief([60] * 6, [1, 3, 8, 9, 9, 11], [9, 8, 4, 3, 2, 1])
    order = ranking(b)
    confidence = mrr_confidence(b, order, 2, "lowest", 0.99, 0.0, np.random.default_rng(0))
    assert confidence == set_confidence(b, [int(g) for g in order[:2]])


def test_a_low_threshold_forgives_a_near_miss():
    b = belief([60] * 6, [1, 3, 8, 9, 9, 11], [9, 8, 4, 3, 2, 1])
    rng = np.random.default_rng(0)
    order = ranking(b)
    confidence = mrr_confidence(b, order, 2, "lowest", 0.75, 0.0, rng)
    found = (mrr(order, draw(b, rng, 20_000), 2) >= 0.75 - 1e-12).mean()
    assert confidence == pytest.approx(found, abs=0.03)
    assert confidence > set_confidence(b, [int(g) for g in order[:2]])
