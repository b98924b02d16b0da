"""How many labels more: a rule of thumb that must at least point the right way."""

from dataclasses import replace

import numpy as np
import pytest

from worker.core.posterior.belief import Belief
from worker.core.posterior.metrics import Metric
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.foreseeing import labels_missing
from worker.core.stopping.rule import decide
from worker.core.stopping.verdict import Verdict

RULE = StopRule("mrr", 0.99, 0.95, None, 0)
LOWEST = Question("identify", which="lowest", top=1, tolerance=0.0)


def belief(right: list[int], wrong: list[int], size: int = 10_000) -> Belief:
    g = len(right)
    return Belief(
        np.arange(g), np.full(g, size), np.array(right), np.array(wrong), np.ones(g), np.ones(g), g
    )


def asked(b: Belief, question: Question = LOWEST, rule: StopRule = RULE) -> Verdict:
    return decide(b, question, rule, int((b.right + b.wrong).sum()), 1)


def middle(b: Belief, question: Question = LOWEST, rule: StopRule = RULE) -> float:
    found = labels_missing(b, question, rule, asked(b, question, rule))
    assert found is not None
    assert found[0] <= found[1] <= found[2]
    return found[1]


def test_nothing_is_foreseen_before_the_first_label():
    b = belief([0, 0], [0, 0])
    assert labels_missing(b, LOWEST, RULE, asked(b)) is None


def test_closer_rivals_take_more_labels():
    assert middle(belief([80, 85, 95], [20, 15, 5])) > 2 * middle(belief([60, 85, 95], [40, 15, 5]))


def test_what_is_all_but_known_takes_few_labels_more():
    assert middle(belief([400, 950], [600, 50])) == 0


def test_two_groups_need_about_what_a_known_truth_needs():
    # v = p (1 - p) / n a group, and the gap of .02 must be z sqrt(2 v): n = 2 p (1 - p) (z / .02)^2
    n = 2000
    b = belief([1400, 1440], [600, 560], 10**6)
    needed = 2 * (0.7 * 0.3 + 0.72 * 0.28) * (1.645 / 0.02) ** 2 - 2 * n
    assert middle(b) == pytest.approx(needed, rel=0.05)


def test_a_bias_takes_as_many_labels_as_the_accuracy_that_it_is_of():
    of_accuracy = middle(belief([40, 42, 47], [10, 8, 3]))
    metric = Metric("bias", score=np.full(3, 0.9))
    biased = replace(belief([40, 42, 47], [10, 8, 3]), metric=metric)
    assert of_accuracy > 20
    found = middle(biased, Question("identify", which="highest"))
    assert found == pytest.approx(of_accuracy, rel=0.25)


def test_no_more_than_there_are():
    b = belief([10, 10], [10, 10], 50)
    found = labels_missing(b, LOWEST, RULE, asked(b))
    assert found is not None
    assert found[1] <= 60
    assert found[2] <= 1.5 * 60


def test_an_error_shrinks_as_of_a_sample_without_replacement():
    rule = StopRule("rmse", 0.01, None, None, 0)
    b = belief([50, 50], [50, 50])
    now = asked(b, Question("estimate"), rule)
    low, more, high = labels_missing(b, Question("estimate"), rule, now) or (0.0, 0.0, 0.0)
    # se^2 = s^2 (1 / n - 1 / N): half as many again as that says
    needed = 1 / (1 / 20_000 + (0.01 / now.value) ** 2 * (1 / 200 - 1 / 20_000))
    assert more == pytest.approx(1.5 * (needed - 200))
    assert low < more < high


def test_of_comparisons_nothing_is_foreseen():
    question = Question("compare", pairs=((0, 1),), epsilon=0.05)
    rule = StopRule("rope", 0.05, 0.95, None, 0)
    b = belief([70, 76], [30, 24])
    assert labels_missing(b, question, rule, asked(b, question, rule)) is None
