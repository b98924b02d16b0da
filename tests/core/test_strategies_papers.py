"""What each of the papers' strategies is for."""

from functools import partial

import numpy as np
import pytest

from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.drawing import draw
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import marginals
from worker.core.questions.comparison import lookahead
from worker.core.questions.question import Question
from worker.core.questions.rewards import drawn_drop, question_drop
from worker.core.strategies.papers import (
    EXPLORE,
    KEEP,
    bayes_ucb,
    epsilon_greedy,
    multiple_play,
    random,
    thompson,
    top_two,
)

LOWEST, ESTIMATE = Question("identify"), Question("estimate")
PAIR = Question("compare", pairs=((0, 2),))


def belief(size, right, wrong, group=None):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [group, *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    return Belief(*columns, ones, ones, int(group.max()) + 1)


def drawn_rates(b, seed, n):
    """(n, C) posterior draws of the cells' rates, one component."""
    a, c = b.alpha[:, 0] + b.right, b.beta[:, 0] + b.wrong
    return np.random.default_rng(seed).beta(a, c, (n, b.group.size))


def chosen_often(strategy, b, question, left=None, pending=None, n=2000, seed=0):
    """How often each cell is chosen, as shares (C,)."""
    rng = np.random.default_rng(seed)
    pending = np.zeros(b.group.size, int) if pending is None else np.array(pending)
    left = unlabelled(b) - pending if left is None else np.array(left)
    cells = [strategy(b, question, left, pending, rng).cell for _ in range(n)]
    return np.bincount(cells, minlength=b.group.size) / n


def test_random_takes_every_remaining_item_as_often():
    b = belief([10, 40, 60, 5], [0, 0, 5, 5], [0, 0, 5, 0])
    share = chosen_often(random, b, LOWEST, n=8000)
    assert share == pytest.approx(np.array([10, 40, 50, 0]) / 100, abs=0.025)  # over four errors


def test_random_labels_only_the_groups_that_are_compared():
    b = belief([10, 40, 30], [0, 0, 0], [0, 0, 0])
    share = chosen_often(random, b, PAIR, n=4000)
    assert share == pytest.approx([0.25, 0, 0.75], abs=0.03)


def test_thompson_labels_a_group_as_often_as_it_is_believed_to_be_the_lowest():
    b = belief([3000] * 2, [3, 5], [5, 3])
    x = (np.arange(100_000) + 0.5) / 100_000
    density, above = x**3 * (1 - x) ** 5, np.cumsum((x**5 * (1 - x) ** 3)[::-1])[::-1]
    lowest = (density / density.sum()) @ (above / above[0])
    share = chosen_often(thompson, b, LOWEST, n=4000)
    assert share[0] == pytest.approx(lowest, abs=0.025)


@pytest.mark.parametrize(("which", "cell"), [("lowest", 1), ("highest", 2)])
def test_thompson_looks_for_the_end_that_is_asked_for(which, cell):
    b = belief([200] * 3, [50, 10, 90], [50, 90, 10])
    assert chosen_often(thompson, b, Question("identify", which=which), n=50)[cell] == 1.0


def test_thompson_for_several_groups_labels_the_whole_set_evenly():
    b = belief([400] * 5, [10, 90, 50, 100, 95], [100, 20, 60, 10, 15])
    share = chosen_often(thompson, b, Question("identify", top=2), n=3000)
    assert share == pytest.approx([0.5, 0, 0.5, 0, 0], abs=0.04)


def test_thompson_passes_over_an_exhausted_group_to_the_next_one():
    b = belief([20, 200, 200], [1, 60, 90], [19, 40, 10])
    assert chosen_often(thompson, b, LOWEST, n=50)[1] == 1.0


def test_thompson_breaks_equal_draws_at_random():
    b = belief([1] * 4, [0] * 4, [0] * 4)
    share = chosen_often(thompson, b, LOWEST, n=4000)
    assert share == pytest.approx(np.full(4, 0.25), abs=0.03)


def test_within_a_group_the_cell_that_sharpens_it_most_is_labelled():
    b = belief([50, 50, 50], [20, 0, 5], [20, 0, 5], group=[0, 0, 1])
    share = chosen_often(thompson, b, LOWEST, n=300)
    assert share[0] == 0
    assert share[1] > 0


def test_equal_cells_of_a_group_are_labelled_equally():
    b = belief([50, 50], [5, 5], [5, 5], group=[0, 0])
    share = chosen_often(thompson, b, LOWEST, n=2000)
    assert share == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.parametrize("question", [LOWEST, ESTIMATE])
def test_items_already_queued_in_a_cell_send_the_next_one_elsewhere(question):
    b = belief([50, 50], [9, 9], [3, 3], group=[0, 0])
    none = chosen_often(thompson, b, question, n=400)
    queued = chosen_often(thompson, b, question, pending=[12, 0], n=400)
    assert queued[0] < none[0] / 2


def test_comparing_labels_a_group_as_often_as_a_draw_expects_it_to_decide_more():
    b, question = belief([400, 90], [30, 3], [25, 1]), Question("compare", pairs=((0, 1),))
    rates = drawn_rates(b, 5, 3000)
    expected = [lookahead(b, 0, 1, question.epsilon, theta) for theta in rates]
    first = np.mean([one > other for one, other in expected])
    assert 0.1 < first < 0.9
    assert chosen_often(thompson, b, question, n=1500)[0] == pytest.approx(first, abs=0.06)


def test_where_no_label_can_change_lambda_the_uncertain_group_is_labelled():
    b = belief([4000, 4000], [3900, 30], [10, 900])
    share = chosen_often(thompson, b, Question("compare", pairs=((0, 1),)), n=50)
    assert moments(b).drop[1] > moments(b).drop[0]
    assert share[1] == 1.0


def test_comparing_all_pairs_labels_the_least_decided_one():
    b = belief([80] * 3, [5, 39, 40], [70, 30, 30])
    assert chosen_often(thompson, b, Question("compare"), n=60)[0] == 0


def test_a_half_exhausted_pair_is_labelled_where_items_are_left():
    b = belief([10, 40, 10], [5, 5, 0], [5, 5, 0])
    share = chosen_often(thompson, b, Question("compare", pairs=((0, 1),)), n=20)
    assert share[1] == 1.0


def test_estimating_labels_a_group_as_often_as_a_draw_promises_it_the_larger_drop():
    b = belief([300, 250], [6, 6], [2, 3])
    rates = drawn_rates(b, 6, 4000)
    rewards = np.array([drawn_drop(b, theta) for theta in rates]) * [300 / 550, 250 / 550]
    first = (rewards[:, 0] > rewards[:, 1]).mean()
    assert 0.1 < first < 0.9
    assert chosen_often(thompson, b, ESTIMATE)[0] == pytest.approx(first, abs=0.055)


def test_estimating_prefers_the_group_that_is_large_and_uncertain():
    b = belief([400, 40, 400], [5, 5, 150], [5, 5, 150])
    assert chosen_often(thompson, b, ESTIMATE, n=100)[0] > 0.95


def test_top_two_labels_the_first_draws_group_half_of_the_time():
    b = belief([3000] * 3, [30, 36, 40], [30, 28, 24])
    lowest = np.bincount(draw(b, np.random.default_rng(1), 200_000).argmin(axis=1)) / 200_000
    again = lowest / (1 - lowest)  # of a redraw, given another first one
    expected = lowest * (KEEP + (1 - KEEP) * (again.sum() - again))
    share = chosen_often(top_two, b, LOWEST, n=5000)
    assert lowest[0] > expected[0] + 0.05
    assert share == pytest.approx(expected, abs=0.03)


def test_top_two_of_several_labels_a_group_that_is_new_in_the_second_set():
    b = belief([400] * 4, [10, 50, 51, 390], [380, 60, 60, 5])
    share = chosen_often(top_two, b, Question("identify", top=2), n=3000)
    # one half: group 0 or a middle one; the other: the other one of the middle
    assert share == pytest.approx([0.25, 0.375, 0.375, 0], abs=0.06)


def test_top_two_keeps_to_the_first_set_where_no_other_is_ever_drawn():
    b = belief([4000] * 3, [10, 2000, 3900], [3000, 1000, 10])
    assert chosen_often(top_two, b, LOWEST, n=100)[0] == 1.0


def test_multiple_play_spreads_a_batch_over_the_drawn_set():
    b = belief([400] * 4, [10, 20, 15, 390], [380, 360, 370, 5])
    question, pending = Question("identify", top=3), np.zeros(4, int)
    rng = np.random.default_rng(0)
    for _ in range(9):
        pending[multiple_play(b, question, unlabelled(b) - pending, pending, rng).cell] += 1
    assert pending.tolist() == [3, 3, 3, 0]


def test_without_pending_items_multiple_play_labels_as_thompson_does():
    b, question = belief([400] * 4, [40, 50, 51, 60], [40, 40, 40, 40]), Question("identify", top=2)
    shares = [chosen_often(s, b, question, n=4000) for s in (multiple_play, thompson)]
    assert shares[0] == pytest.approx(shares[1], abs=0.05)


def test_epsilon_greedy_labels_the_lowest_mean_and_now_and_then_any_item():
    b = belief([100, 400, 500], [20, 40, 60], [60, 30, 20])
    left = unlabelled(b)
    share = chosen_often(epsilon_greedy, b, LOWEST, n=5000)
    expected = EXPLORE * left / left.sum() + (1 - EXPLORE) * np.array([1, 0, 0])
    assert share == pytest.approx(expected, abs=0.02)


def test_epsilon_greedy_estimates_by_the_expected_drop():
    b = belief([300, 80, 250], [6, 20, 90], [2, 20, 30])
    share = chosen_often(epsilon_greedy, b, ESTIMATE, n=1000)
    assert share.argmax() == question_drop(b).argmax()
    assert share.max() > 1 - EXPLORE - 0.04


def test_epsilon_greedy_compares_where_the_least_decided_pair_is_most_uncertain():
    b = belief([400] * 3, [5, 39, 100], [70, 30, 90])
    share = chosen_often(epsilon_greedy, b, Question("compare"), n=1000)
    assert share[1] > 1 - EXPLORE - 0.04


@pytest.mark.parametrize(("which", "sign"), [("lowest", -1), ("highest", 1)])
def test_bayes_ucb_labels_the_group_with_the_most_optimistic_quantile(which, sign):
    b = belief([4000] * 4, [300, 2, 7, 900], [300, 2, 2, 90])
    bound = moments(b).mean + sign * 1.96 * np.sqrt(moments(b).variance)
    share = chosen_often(bayes_ucb, b, Question("identify", which=which), n=30)
    assert share[(sign * bound).argmax()] == 1.0
    assert (sign * moments(b).mean).argmax() != (sign * bound).argmax()


def test_bayes_ucb_goes_by_the_exact_quantile_and_takes_another_one():
    """Of a skewed posterior that is not the normal's: of two rare failures the less known leads."""
    b = belief([4000] * 2, [1000, 30], [8, 0])
    known = moments(b)
    for quantile in (0.975, 0.6):
        exact = [d.quantiles(np.array([1 - quantile]))[0] for d in marginals(b)]
        share = chosen_often(partial(bayes_ucb, quantile=quantile), b, LOWEST, n=9)
        assert share[int(np.argmin(exact))] == 1.0
    assert exact != pytest.approx(known.mean - 0.2533 * np.sqrt(known.variance), abs=1e-3)


def test_bayes_ucb_turns_elsewhere_once_enough_is_pending():
    b = belief([4000] * 2, [10, 12], [10, 10])
    assert chosen_often(bayes_ucb, b, LOWEST, n=9)[0] == 1.0
    assert chosen_often(bayes_ucb, b, LOWEST, pending=[400, 0], n=9)[1] == 1.0
