"""What every strategy promises, whatever the task and the metric."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.metrics import RATIOS, Errors, Metric
from worker.core.questions.question import Question
from worker.core.strategies import STRATEGIES, NothingLeft

QUESTIONS = {
    "lowest": Question("identify"),
    "highest two": Question("identify", which="highest", top=2),
    "pair": Question("compare", pairs=((0, 2),)),
    "all pairs": Question("compare"),
    "estimate": Question("estimate"),
}
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
every_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


METRICS = ("accuracy", "bias", "ece", "cost", *RATIOS, "confusion")


def belief(size, right, wrong, population="finite"):
    columns = [np.arange(len(size)), *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    return Belief(*columns, ones, ones, len(size), population)


def of_metric(kind, group, wrong):
    """A metric over these cells, and the kinds of their errors."""
    n = group.size
    metric = Metric(
        kind,
        score=np.linspace(0.2, 0.9, n),
        unit=(np.diff(group, prepend=-1) == 0).astype(int),  # the first cell of a group is apart
        values=np.tile([0.0, 1.0, 5.0], (n, 1)),
    )
    counts = np.column_stack([wrong // 2, wrong - wrong // 2])
    return metric, Errors(counts, np.tile([0.5, 1.5], (n, 1))) if metric.counts_errors else None


@st.composite
def situations(draw_one, task):
    """A belief of four groups (the last one may be empty) in seven cells, left and pending."""
    group = np.array([0, 0, 1, 2, 2, 2, 3])
    columns = []
    for c in range(group.size):
        size = draw_one(st.integers(0 if c == 6 else 1, 8))
        right = draw_one(st.integers(0, size))
        wrong = draw_one(st.integers(0, size - right))
        pending = draw_one(st.integers(0, size - right - wrong))
        left = draw_one(st.integers(0, size - right - wrong - pending))
        columns.append((size, right, wrong, pending, left))
    size, right, wrong, pending, left = (np.array(c) for c in zip(*columns, strict=True))
    # a confusion matrix can only be estimated
    kind = draw_one(st.sampled_from(METRICS if task == "estimate" else METRICS[:-1]))
    alpha = np.linspace(0.5, 3, 7)
    if draw_one(st.booleans()):
        alpha, mixture = np.stack([alpha, alpha[::-1]], axis=1), np.array([0.3, 0.7])
    else:
        mixture = np.ones(1)
    metric, errors = of_metric(kind, group, wrong)
    population = draw_one(st.sampled_from(["finite", "infinite"]))
    b = Belief(
        group, size, right, wrong, alpha, 4 - alpha, 4, population, mixture, metric, errors
    )  # fmt: skip
    return b, left, pending


@every_strategy
@every_question
@settings(max_examples=30)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_a_strategy_never_chooses_a_closed_cell(strategy, question, data, seed):
    b, left, pending = data.draw(situations(question.task))
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
@settings(max_examples=20)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_the_same_state_and_random_numbers_give_the_same_choice(strategy, question, data, seed):
    b, left, pending = data.draw(situations(question.task))
    fresh = with_prior(b, b.alpha, b.beta, b.mixture)  # nothing worked out yet
    try:
        first, second = (
            strategy(one, question, left, pending, np.random.default_rng(seed))
            for one in (b, fresh)
        )
    except NothingLeft:
        return
    assert first == second


@every_strategy
@every_question
@pytest.mark.parametrize("kind", METRICS)
def test_a_choice_explains_itself_in_plain_numbers(strategy, question, kind):
    group, wrong = np.arange(3), np.array([3, 2, 1])
    ones, none = np.ones(3), np.zeros(3, int)
    metric, errors = of_metric(kind, group, wrong)
    b = Belief(group, np.full(3, 9), np.array([1, 2, 3]), wrong, ones, ones, 3, metric=metric,
               errors=errors)  # fmt: skip
    choice = strategy(b, question, unlabelled(b), none, np.random.default_rng(0))
    assert choice.numbers
    assert json.loads(json.dumps(choice.numbers)) == choice.numbers
    assert np.isfinite(list(choice.numbers.values())).all()
    assert type(choice.cell) is type(choice.group) is int


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
