"""Whether enough is known, and what is then reported."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.summary import variance
from worker.core.questions.comparison import region
from worker.core.questions.question import Question, StopRule
from worker.core.questions.ranking import set_confidence
from worker.core.stopping.rule import decide

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
    assert [v.pairs[at] for at in (0, 1, -1)] == [*v.pairs] == [*v.pairs[:2], *v.pairs[2:]]
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


def test_estimating_the_ece_of_a_pool_by_width_looks_at_the_interval_of_the_sum():
    size, score = [300, 0, 100], np.array([0.9, 0.5, 0.6])
    b = belief(size, [30, 0, 10], [9, 0, 9])
    pooled = replace(b, metric=Metric("ece", score=score, unit=np.arange(3), pooled=True), _memo={})
    v = verdict(pooled, Question("estimate"), StopRule("width", 0.02))
    _, low, high = whole(pooled)
    assert v.value == pytest.approx(high - low)
    assert v.value < np.nanmax(np.diff(interval(pooled)))


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


METRICS = {
    "bias": Metric("bias", score=np.array([0.5, 0.8, 0.9])),
    "ece": Metric("ece", score=np.array([0.5, 0.8, 0.9]), unit=np.zeros(3, np.int64)),
    "cost": Metric("cost", values=np.tile([0.0, 1.0, 4.0], (3, 1))),
    "confusion": Metric("confusion"),
    "recall": Metric("recall", unit=np.array([0, 1, 1])),
    "f1": Metric("f1", unit=np.array([0, 1, 1])),
}


@every_rule
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_every_metric_is_decided_and_certain_when_all_is_labelled(metric, question, rule):
    if metric.kind == "confusion" and question.task != "estimate":
        return  # a confusion matrix can only be estimated
    ones, sizes = np.ones(3), np.array([9, 9, 6])
    for right, wrong in (([3, 1, 2], [2, 4, 1]), ([3, 3, 6], [6, 6, 0])):
        counts = np.column_stack([np.array(wrong) // 2, np.array(wrong) - np.array(wrong) // 2])
        errors = Errors(counts, np.ones((3, 2))) if metric.counts_errors else None
        b = Belief(np.arange(3), sizes, np.array(right), np.array(wrong), ones, ones, 3,
                   metric=metric, errors=errors)  # fmt: skip
        v = verdict(b, question, rule)
        assert v == verdict(with_prior(b, b.alpha, b.beta, b.mixture), question, rule)
    assert (v.reason, v.certain) == ("exhausted", True)
    assert v.confidence in (None, 1.0)
    assert question.task != "estimate" or v.value == pytest.approx(0, abs=1e-6)


def test_a_bound_never_changes_the_decision_and_a_stop_has_its_confidence():
    question, rule = Question("identify"), StopRule("mrr", 0.99, 0.95, budget=30)
    rng = np.random.default_rng(2)
    sufficed = 0
    for n in range(0, 40, 2):
        right = rng.binomial(n, [0.5, 0.6, 0.9])
        b = belief([80] * 3, right, n - right)
        exact = decide(b, question, rule, 3 * n, 240 - 3 * n)
        bound = decide(b, question, rule, 3 * n, 240 - 3 * n, bound_suffices=True)
        if bound.confidence is None:
            assert (exact.stop, exact.confidence < 0.95) == (False, True)
            bound, sufficed = replace(bound, confidence=exact.confidence), sufficed + 1
        assert bound == exact
    assert sufficed
