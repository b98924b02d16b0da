"""What may be claimed under `guarantee: anytime`."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from tests.core.guaranteed import QUESTIONS, belief, ends_of, nothing, sequence
from worker.core.confidence_sequences.forecast import forecast
from worker.core.confidence_sequences.guarantee import (
    ConfidenceSequence,
    alpha_split,
    differences,
    ends,
    is_decided,
    is_identified,
    region_of,
    width,
)
from worker.core.posterior.metrics import Metric
from worker.core.questions.question import Question


def test_a_finding_is_claimed_when_no_truth_that_is_left_contradicts_it():
    b = belief([50, 50, 50], [10, 45, 40], [40, 5, 10])
    question = QUESTIONS["lowest"]
    assert is_identified(b, ends_of(b), [0], question)
    assert not is_identified(b, ends_of(b), [1], question)
    # ten unknown items of 50 may make 20 of 50 right, and 35 of the rival's
    fewer = belief([50, 50, 50], [10, 45, 30], [30, 5, 10])
    assert is_identified(fewer, ends_of(fewer, unknown=[10, 0, 10]), [0], question)
    even_fewer = belief([50, 50, 50], [10, 45, 18], [30, 5, 10])
    unknown = [10, 0, 22]
    assert not is_identified(even_fewer, ends_of(even_fewer, unknown=unknown), [0], question)


def test_equal_groups_and_groups_within_the_tolerance_may_be_claimed():
    b = belief([50, 50, 50], [10, 10, 12], [40, 40, 38])
    assert is_identified(b, ends_of(b), [1], QUESTIONS["lowest"])
    assert not is_identified(b, ends_of(b), [2], QUESTIONS["lowest"])
    assert is_identified(b, ends_of(b), [2], Question("identify", tolerance=0.04))


def test_the_highest_groups_are_the_lowest_of_the_wrong_answers():
    b = belief([90, 90, 90], [10, 40, 4], [50, 4, 30])
    other = belief([90, 90, 90], [50, 4, 30], [10, 40, 4])
    flipped = ConfidenceSequence(forecast(np.zeros(3)), 0.05)
    # a forecast that is the same for right and wrong
    alpha = np.full((3, 1), 2.0)
    even = replace(
        flipped.forecast,
        alpha=alpha, beta=alpha, log_weight=np.zeros(1), log_norm=special.betaln(alpha, alpha),
    )  # fmt: skip
    even_sequence = ConfidenceSequence(even, 0.05)
    question = Question("identify", which="highest", top=2)
    found = ends(b, nothing(b), even_sequence, *alpha_split(b, question, 0.05))
    back = ends(
        other,
        nothing(b),
        even_sequence,
        *alpha_split(other, replace(question, which="lowest"), 0.05),
    )
    assert found.low == pytest.approx(1 - back.high)
    assert found.high == pytest.approx(1 - back.low)


def test_regions_hold_whole_intervals_only():
    assert region_of(-0.4, -0.1, 0.05) == 0
    assert region_of(-0.05, 0.05, 0.05) == 1
    assert region_of(0.1, 0.2, 0.05) == 2
    assert region_of(-0.06, 0.0, 0.05) is None
    assert region_of(0.0, 0.06, 0.05) is None
    intervals = np.array([[-0.4, -0.1], [-0.05, 0.05], [0.1, 0.2], [-0.06, 0.0], [0.0, 0.06]])
    assert is_decided(intervals, 0.05).tolist() == [True, True, True, False, False]


def test_differences_of_exhausted_groups_are_certain_and_turn_with_the_pair():
    b = belief([50, 40, 60], [10, 38, 20], [40, 2, 10])
    found = differences(b, nothing(b), sequence(b), np.array([(0, 1), (0, 2), (2, 0)]), 0.05)
    assert found[0] == pytest.approx([0.2 - 0.95] * 2)
    assert found[1] == pytest.approx(-found[2][::-1])
    assert found[1][0] < found[1][1]


def test_bias_is_the_score_less_the_accuracy():
    score = np.array([0.8, 0.9, 0.7])
    b = belief([50, 40, 60], [10, 38, 20], [20, 2, 10])
    biased = replace(b, metric=Metric("bias", score=score))
    plain, found = (ends(one, nothing(b), sequence(b), 0.01, 0.01) for one in (b, biased))
    assert found.low == pytest.approx(score - plain.high)
    assert found.high == pytest.approx(score - plain.low)
    pair = np.array([(0, 1)])
    of_bias = differences(biased, nothing(b), sequence(b), pair, 0.05)
    of_accuracy = differences(b, nothing(b), sequence(b), pair, 0.05)
    assert of_bias == pytest.approx((score[0] - score[1]) - of_accuracy[:, ::-1])


def test_a_calibration_error_is_bounded_by_its_bins():
    score = np.array([0.5, 0.9, 0.7, 0.7])
    columns = [60, 40, 50, 50], [30, 20, 20, 35], [30, 20, 10, 15], [0, 0, 1, 1]
    metric = Metric("ece", score=score, unit=np.array([0, 1, 0, 1]))
    b = belief(*columns, metric=metric)
    found = ends(b, nothing(b), sequence(b), 0.05, 0.05)
    assert found.low[0] == found.high[0] == pytest.approx(0.6 * 0 + 0.4 * 0.4)
    assert found.low[1] < 0.5 * abs(20 / 30 - 0.7) < found.high[1]
    assert width(b, found) == pytest.approx(found.high[1] - found.low[1])
    pooled = replace(b, metric=replace(metric, pooled=True))
    assert width(pooled, found) == pytest.approx((found.high[1] - found.low[1]) / 2)


def test_what_has_no_guarantee_says_so():
    b = belief([9, 9], [1, 2], [3, 2], population="infinite")
    with pytest.raises(ValueError, match="no bound for the infinite population"):
        ends_of(b)
