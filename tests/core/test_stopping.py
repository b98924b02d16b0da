"""Whether enough is known, and whether what is then claimed is true."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from worker.core.comparison import region
from worker.core.belief import Belief, group_size, unlabelled
from worker.core.posterior import interval, variance
from worker.core.priors import uniform
from worker.core.question import Question, StopRule
from worker.core.ranking import set_confidence
from worker.core.stopping import decide
from worker.core.strategies import NothingLeft, thompson

MRR = StopRule("mrr", 0.99, 0.95)
ROPE = StopRule("rope", 0.05, 0.95)
RULES = [
    (Question("identify"), MRR),
    (Question("identify", top=2, which="highest"), MRR),
    (Question("identify", top=2), StopRule("mrr", 0.7, 0.9)),
    (Question("compare"), ROPE),
    (Question("estimate"), StopRule("rmse", 0.02)),
    (Question("estimate"), StopRule("width", 0.1)),
]
every_rule = pytest.mark.parametrize(("question", "rule"), RULES)


def belief(size, right, wrong, population="finite", group=None):
    group = np.arange(len(size)) if group is None else np.array(group)
    columns = [group, *(np.array(column) for column in (size, right, wrong))]
    ones = np.ones(len(size))
    return Belief(*columns, ones, ones, int(group.max()) + 1, population)


def verdict(b, question, rule, left=None, spent=None):
    spent = int((b.right + b.wrong).sum()) if spent is None else spent
    return decide(b, question, rule, spent, int(unlabelled(b).sum()) if left is None else left)


@every_rule
def test_without_a_label_nothing_is_answered(question, rule):
    b = belief([1, 1, 1, 0], [0] * 4, [0] * 4)
    easy = StopRule(rule.kind, 0.9 if rule.kind != "rope" else 0.05, rule.confidence and 0.01)
    assert verdict(b, question, easy).reason == "open"


@every_rule
def test_a_fully_labelled_pool_stops_with_certainty(question, rule):
    v = verdict(belief([9, 9, 6, 0], [3, 3, 6, 0], [6, 6, 0, 0]), question, rule)
    assert (v.stop, v.reason, v.certain) == (True, "exhausted", True)
    assert v.confidence in (None, 1.0)
    assert v.labels == 24


@every_rule
def test_a_pool_with_withheld_items_is_exhausted_without_certainty(question, rule):
    v = verdict(belief([90, 90, 90], [1, 2, 1], [1, 1, 2]), question, rule, left=0)
    assert (v.stop, v.reason, v.certain) == (True, "exhausted", False)


@every_rule
def test_a_spent_budget_stops_without_an_answer(question, rule):
    b = belief([90, 90, 90], [1, 2, 1], [1, 1, 2])
    limited = StopRule(rule.kind, rule.target, rule.confidence, budget=8)
    assert verdict(b, question, limited).reason == "budget"
    assert verdict(b, question, limited, spent=7).reason == "open"


@every_rule
def test_an_answer_counts_more_than_a_spent_budget(question, rule):
    b = belief([300] * 3, [30, 150, 270], [265, 145, 25])
    limited = StopRule(rule.kind, rule.target, rule.confidence, budget=8)
    assert verdict(b, question, limited).reason == "answered"


@every_rule
def test_the_same_tally_gives_the_same_decision(question, rule):
    b = belief([90, 90, 90], [10, 20, 30], [20, 15, 5])
    assert verdict(b, question, rule) == verdict(b, question, rule)


def test_labels_of_an_endless_population_never_make_it_certain():
    b = belief([9, 9], [3, 5], [6, 4], "infinite")
    v = verdict(b, Question("identify"), MRR)
    assert (v.reason, v.certain) == ("exhausted", False)


def test_identifying_reports_the_ranking_the_set_and_its_exact_confidence():
    b = belief([90, 0, 90, 90], [40, 0, 2, 30], [2, 0, 40, 10])
    v = verdict(b, Question("identify", top=2), MRR)
    assert v.ranking == (2, 3, 0)
    assert v.chosen == (2, 3)
    assert v.confidence == set_confidence(b, [2, 3])
    assert v.reason == "answered"


def test_comparing_needs_confidence_in_every_pair():
    b = belief([300] * 3, [50, 250, 80], [240, 40, 80])
    v = verdict(b, Question("compare"), ROPE)
    assert [(p.g1, p.g2) for p in v.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [p.region for p in v.pairs] == ["below", "below", "above"]
    assert v.confidence == v.value == min(p.confidence for p in v.pairs)
    assert v.stop

    vague = verdict(belief([300] * 3, [50, 250, 2], [240, 40, 1]), Question("compare"), ROPE)
    assert vague.pairs[0].confidence > 0.95
    assert not vague.stop


def test_practically_equal_groups_are_an_answer():
    b = belief([400, 400], [199, 200], [199, 198])
    v = verdict(b, Question("compare", pairs=((1, 0),)), ROPE)
    assert (v.pairs[0].region, v.reason) == ("within", "answered")
    assert (v.pairs[0].p_below, v.pairs[0].p_within, v.pairs[0].p_above) == region(b, 1, 0, 0.05)


def test_a_fully_labelled_pair_is_certain_though_other_groups_are_open():
    b = belief([10, 10, 50], [9, 1, 0], [1, 9, 0])
    v = verdict(b, Question("compare", pairs=((0, 1),)), ROPE)
    assert (v.reason, v.certain, v.confidence) == ("answered", True, 1.0)


def test_estimating_reports_the_expected_rmse_over_the_pools_items():
    b = belief([300, 0, 100], [30, 0, 10], [9, 0, 9])
    v = verdict(b, Question("estimate"), StopRule("rmse", 0.02))
    expected = np.sqrt((300 * variance(b)[0] + 100 * variance(b)[2]) / 400)
    assert v.value == pytest.approx(expected)
    assert v.confidence is None


def test_estimating_by_width_looks_at_the_widest_interval():
    b = belief([300, 0, 100], [30, 0, 10], [9, 0, 9])
    v = verdict(b, Question("estimate"), StopRule("width", 0.02))
    assert v.value == pytest.approx(np.nanmax(np.diff(interval(b))))


labels = st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=24)


@every_rule
@given(history=labels)
def test_a_verdict_fits_itself_at_any_tally(question, rule, history):
    right, wrong = np.zeros(3, int), np.zeros(3, int)
    for cell, is_right in history:
        if right[cell] + wrong[cell] < 8:
            (right if is_right else wrong)[cell] += 1
    b = belief([8] * 3, right, wrong)
    v = verdict(b, question, rule)
    assert v.stop == (v.reason != "open")
    assert v.certain == (not unlabelled(b).any())
    assert v.confidence is None or 0 <= v.confidence <= 1
    assert v.chosen == v.ranking[: question.top] or question.task != "identify"
    if v.reason == "answered":
        assert history
        assert v.value is not None or v.confidence >= rule.confidence - 1e-9
    if question.task == "estimate":
        assert (v.value <= rule.target) == (v.reason in ("answered", "exhausted")) or not history


@pytest.mark.parametrize(
    ("question", "rule", "message"),
    [
        (Question("identify"), ROPE, "rope does not fit the task identify; use mrr"),
        (Question("estimate"), MRR, "use rmse, width"),
        (Question("compare", epsilon=0.1), ROPE, "rule's epsilon is 0.05, the question's 0.1"),
        (Question("identify", top=4), MRR, "asks for 4 groups, but only 3 have items"),
        (Question("compare", pairs=((0, 3),)), ROPE, "names group 3"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(question, rule, message):
    with pytest.raises(ValueError, match=message):
        verdict(belief([5, 5, 5, 0], [1] * 3 + [0], [0] * 4), question, rule)


def test_an_empty_pool_has_nothing_to_decide():
    with pytest.raises(ValueError, match="no items"):
        verdict(belief([0, 0], [0, 0], [0, 0]), Question("estimate"), StopRule("rmse", 0.1))


def assess(rng, question, rule, n_groups, n_items):
    """One assessment of a truth drawn from the prior; its verdict and the true accuracies."""
    sizes, none = np.full(n_groups, n_items), np.zeros(n_groups, int)
    outcomes = rng.random((n_groups, n_items)) < rng.beta(1, 1, (n_groups, 1))
    right, wrong = none.copy(), none.copy()
    while True:
        b = Belief(np.arange(n_groups), sizes, right, wrong, *uniform(n_groups), n_groups)
        left = unlabelled(b)
        v = decide(b, question, rule, int((right + wrong).sum()), int(left.sum()))
        if v.stop:
            return v, outcomes.mean(axis=1)
        try:
            cell = thompson(b, question, left, none, rng).cell
        except NothingLeft:  # certain pairs only: the verdict would have stopped
            pytest.fail("the compared groups ran out before the decision")
        (right if outcomes[cell, right[cell] + wrong[cell]] else wrong)[cell] += 1


def assert_right_as_often_as_claimed(n_right, n_runs, confidence):
    # A true rate of `confidence` would fall below this bound once in ten thousand times.
    assert n_right >= stats.binom.ppf(1e-4, n_runs, confidence)


N_RUNS = 40 if os.environ.get("ASSAY_SLOW") == "0" else 150


@pytest.mark.slow
@pytest.mark.parametrize(("which", "top"), [("lowest", 1), ("highest", 3)])
def test_identified_groups_are_right_as_often_as_claimed_on_average_over_truths(which, top):
    rng, question, n_right = np.random.default_rng(11), Question("identify", which, top), 0
    for _ in range(N_RUNS):
        v, truth = assess(rng, question, MRR, 10, 60)
        sign = 1 if which == "lowest" else -1
        rest = [g for g in range(10) if g not in v.chosen]
        n_right += (sign * truth[list(v.chosen)]).max() <= (sign * truth[rest]).min()
    assert_right_as_often_as_claimed(n_right, N_RUNS, MRR.confidence)


@pytest.mark.slow
def test_compared_groups_differ_as_claimed_on_average_over_truths():
    rng, question, n_right = np.random.default_rng(12), Question("compare"), 0
    for _ in range(N_RUNS):
        v, truth = assess(rng, question, ROPE, 2, 150)
        difference = truth[0] - truth[1]
        region_of_truth = "within"
        if abs(difference) > 0.05 + 1e-9:
            region_of_truth = "below" if difference < 0 else "above"
        n_right += v.pairs[0].region == region_of_truth
    assert_right_as_often_as_claimed(n_right, N_RUNS, ROPE.confidence)


@pytest.mark.slow
def test_estimates_err_as_little_as_claimed_on_average_over_truths():
    rng, question, rule = np.random.default_rng(13), Question("estimate"), StopRule("rmse", 0.06)
    squared = []
    for _ in range(N_RUNS):
        sizes = np.array([20, 60, 100])
        b = Belief(np.arange(3), sizes, *np.zeros((2, 3), int), *uniform(3), 3)
        outcomes = [rng.random(n) < rng.beta(1, 1) for n in sizes]
        while not verdict(b, question, rule).stop:
            cell = thompson(b, question, unlabelled(b), np.zeros(3, int), rng).cell
            right, wrong = b.right.copy(), b.wrong.copy()
            (right if outcomes[cell][right[cell] + wrong[cell]] else wrong)[cell] += 1
            b = Belief(b.group, b.size, right, wrong, b.alpha, b.beta, 3)
        estimate = (b.right + unlabelled(b) * (b.right + 1) / (b.right + b.wrong + 2)) / sizes
        truth = np.array([o.mean() for o in outcomes])
        squared.append(group_size(b) @ (estimate - truth) ** 2 / sizes.sum())
    error = np.std(squared) / np.sqrt(N_RUNS)
    assert np.mean(squared) <= rule.target**2 + 4 * error
