"""What every strategy promises, and what each of them is for."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.comparison import lookahead
from worker.core.belief import Belief, unlabelled
from worker.core.question import Question
from worker.core.rewards import variance_drop
from worker.core.strategies import STRATEGIES, NothingLeft, random, thompson

QUESTIONS = {
    "lowest": Question("identify"),
    "highest two": Question("identify", which="highest", top=2),
    "pair": Question("compare", pairs=((0, 2),)),
    "all pairs": Question("compare"),
    "estimate": Question("estimate"),
}
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
every_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def belief(size, right, wrong, group=None, population="finite"):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [group, *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    return Belief(*columns, ones, ones, int(group.max()) + 1, population)


@st.composite
def situations(draw_one):
    """A belief of four groups (the last one may be empty) in seven cells, left and pending."""
    group = [0, 0, 1, 2, 2, 2, 3]
    columns = []
    for c in range(len(group)):
        size = draw_one(st.integers(0 if c == 6 else 1, 8))
        right = draw_one(st.integers(0, size))
        wrong = draw_one(st.integers(0, size - right))
        pending = draw_one(st.integers(0, size - right - wrong))
        left = draw_one(st.integers(0, size - right - wrong - pending))
        columns.append((size, right, wrong, pending, left))
    size, right, wrong, pending, left = (np.array(c) for c in zip(*columns, strict=True))
    return belief(size, right, wrong, group), left, pending


def chosen_often(strategy, b, question, left=None, pending=None, n=2000, seed=0):
    """How often each cell is chosen, as shares (C,)."""
    rng = np.random.default_rng(seed)
    pending = np.zeros(b.group.size, int) if pending is None else np.array(pending)
    left = unlabelled(b) - pending if left is None else np.array(left)
    cells = [strategy(b, question, left, pending, rng).cell for _ in range(n)]
    return np.bincount(cells, minlength=b.group.size) / n


@every_strategy
@every_question
@given(situation=situations(), seed=st.integers(0, 2**32))
def test_a_strategy_never_chooses_a_closed_cell(strategy, question, situation, seed):
    b, left, pending = situation
    asked = [0, 2] if question.pairs else range(4)
    rng = np.random.default_rng(seed)
    if not left[np.isin(b.group, asked)].any():
        with pytest.raises(NothingLeft):
            strategy(b, question, left, pending, rng)
        return
    choice = strategy(b, question, left, pending, rng)
    assert left[choice.cell] > 0
    assert choice.group == b.group[choice.cell]
    assert choice.group in asked


@every_strategy
@every_question
@given(situation=situations(), seed=st.integers(0, 2**32))
def test_the_same_state_and_random_numbers_give_the_same_choice(
    strategy, question, situation, seed
):
    try:
        first, second = (strategy(*_arguments(situation, question, seed)) for _ in range(2))
    except NothingLeft:
        return
    assert first == second


def _arguments(situation, question, seed):
    b, left, pending = situation
    return b, question, left, pending, np.random.default_rng(seed)


@every_strategy
@every_question
def test_a_choice_explains_itself_in_plain_numbers(strategy, question):
    b = belief([9, 9, 9], [1, 2, 3], [3, 2, 1])
    none = np.zeros(3, int)
    choice = strategy(b, question, unlabelled(b), none, np.random.default_rng(0))
    assert choice.numbers
    assert json.loads(json.dumps(choice.numbers)) == choice.numbers
    assert type(choice.cell) is type(choice.group) is int


@every_strategy
@every_question
def test_an_endless_population_is_sampled_too(strategy, question):
    b = belief([9, 9, 9], [1, 2, 3], [3, 2, 1], population="infinite")
    left = np.array([0, 3, 2])
    assert chosen_often(strategy, b, question, left, n=20)[0] == 0


@every_strategy
@every_question
def test_counts_that_do_not_fit_the_belief_are_refused(strategy, question):
    b = belief([9, 9, 9], [1, 2, 3], [3, 2, 1])
    none, rng = np.zeros(3, int), np.random.default_rng(0)
    with pytest.raises(ValueError, match="one count a cell"):
        strategy(b, question, none[:2], none, rng)
    with pytest.raises(ValueError, match="cell 1 has 5 items left and 1 pending, but 5"):
        strategy(b, question, np.array([0, 5, 0]), np.array([0, 1, 0]), rng)
    with pytest.raises(ValueError, match="cell 0 has -1"):
        strategy(b, question, np.array([-1, 5, 0]), none, rng)


def test_random_takes_every_remaining_item_as_often():
    b = belief([10, 40, 60, 5], [0, 0, 5, 5], [0, 0, 5, 0])
    share = chosen_often(random, b, QUESTIONS["lowest"], n=8000)
    assert share == pytest.approx(np.array([10, 40, 50, 0]) / 100, abs=0.025)  # over four errors


def test_random_labels_only_the_groups_that_are_compared():
    b = belief([10, 40, 30], [0, 0, 0], [0, 0, 0])
    share = chosen_often(random, b, QUESTIONS["pair"], n=4000)
    assert share == pytest.approx([0.25, 0, 0.75], abs=0.03)


def test_thompson_labels_a_group_as_often_as_it_is_believed_to_be_the_lowest():
    b = belief([3000] * 2, [3, 5], [5, 3])
    x = (np.arange(100_000) + 0.5) / 100_000
    density, above = x**3 * (1 - x) ** 5, np.cumsum((x**5 * (1 - x) ** 3)[::-1])[::-1]
    lowest = (density / density.sum()) @ (above / above[0])
    share = chosen_often(thompson, b, QUESTIONS["lowest"], n=4000)
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
    assert chosen_often(thompson, b, QUESTIONS["lowest"], n=50)[1] == 1.0


def test_thompson_breaks_equal_draws_at_random():
    b = belief([1] * 4, [0] * 4, [0] * 4)
    share = chosen_often(thompson, b, QUESTIONS["lowest"], n=4000)
    assert share == pytest.approx(np.full(4, 0.25), abs=0.03)


def test_within_a_group_the_cell_that_sharpens_it_most_is_labelled():
    b = belief([50, 50, 50], [20, 0, 5], [20, 0, 5], group=[0, 0, 1])
    share = chosen_often(thompson, b, QUESTIONS["lowest"], n=300)
    assert share[0] == 0
    assert share[1] > 0


def test_equal_cells_of_a_group_are_labelled_equally():
    b = belief([50, 50], [5, 5], [5, 5], group=[0, 0])
    share = chosen_often(thompson, b, QUESTIONS["lowest"], n=2000)
    assert share == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.parametrize("question", [QUESTIONS["lowest"], QUESTIONS["estimate"]])
def test_items_already_queued_in_a_cell_send_the_next_one_elsewhere(question):
    b = belief([50, 50], [9, 9], [3, 3], group=[0, 0])
    none = chosen_often(thompson, b, question, n=400)
    queued = chosen_often(thompson, b, question, pending=[12, 0], n=400)
    assert queued[0] < none[0] / 2


def test_comparing_labels_a_group_as_often_as_a_draw_expects_it_to_decide_more():
    b, question = belief([400, 90], [30, 3], [25, 1]), Question("compare", pairs=((0, 1),))
    rates = np.random.default_rng(5).beta(b.alpha + b.right, b.beta + b.wrong, (3000, 2))
    expected = [lookahead(b, 0, 1, question.epsilon, theta) for theta in rates]
    first = np.mean([one > other for one, other in expected])
    assert 0.1 < first < 0.9
    assert chosen_often(thompson, b, question, n=1500)[0] == pytest.approx(first, abs=0.06)


def test_where_no_label_can_change_lambda_the_uncertain_group_is_labelled():
    b = belief([4000, 4000], [3900, 30], [10, 900])
    share = chosen_often(thompson, b, Question("compare", pairs=((0, 1),)), n=50)
    assert variance_drop(b)[1] > variance_drop(b)[0]
    assert share[1] == 1.0


def test_comparing_all_pairs_labels_the_least_decided_one():
    b = belief([80] * 3, [5, 39, 40], [70, 30, 30])
    assert chosen_often(thompson, b, Question("compare"), n=60)[0] == 0


def test_a_half_exhausted_pair_is_labelled_where_items_are_left():
    b = belief([10, 40, 10], [5, 5, 0], [5, 5, 0])
    share = chosen_often(thompson, b, Question("compare", pairs=((0, 1),)), n=20)
    assert share[1] == 1.0


@every_strategy
def test_labels_of_other_groups_do_not_help_an_exhausted_pair(strategy):
    b = belief([10, 40, 10], [5, 5, 0], [5, 35, 0])
    none = np.zeros(3, int)
    with pytest.raises(NothingLeft, match="every item"):
        strategy(
            b,
            Question("compare", pairs=((0, 1),)),
            unlabelled(b),
            none,
            np.random.default_rng(0),
        )


def test_estimating_labels_a_group_as_often_as_a_draw_promises_it_the_larger_drop():
    b = belief([300, 250], [6, 6], [2, 3])
    rates = np.random.default_rng(6).beta(b.alpha + b.right, b.beta + b.wrong, (4000, 2))
    rewards = np.array([variance_drop(b, theta) for theta in rates]) * [300 / 550, 250 / 550]
    first = (rewards[:, 0] > rewards[:, 1]).mean()
    assert 0.1 < first < 0.9
    assert chosen_often(thompson, b, QUESTIONS["estimate"])[0] == pytest.approx(first, abs=0.055)


def test_estimating_prefers_the_group_that_is_large_and_uncertain():
    b = belief([400, 40, 400], [5, 5, 150], [5, 5, 150])
    assert chosen_often(thompson, b, QUESTIONS["estimate"], n=100)[0] > 0.95
