"""What a finding says in words: for every task and metric, before its end and at it."""

import re
from typing import get_args

import numpy as np
import pytest

from tests.worker.findings.said import ONE_BAD, all_labelled, assessment, said_after, tally_of
from worker.core.strategies import NothingLeft
from worker.evaluator.measures import MEASURES
from worker.findings.wording import finding, headline
from worker.formats import percent
from worker.metrics import WORDS
from worker.plan.question_part import QuestionPlan


def test_the_least_accurate_class_is_named_with_how_sure_it_is(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\nstop: {looks: 1}\n")
    belief = work.believe(tally_of(work, {"a": (0, 3), "b": (3, 0), "c": (2, 0), "d": (3, 0)}))
    verdict = work.decide(belief, 24)
    assert verdict.confidence is not None
    assert 0.95 < verdict.confidence < 1
    said = percent(verdict.confidence)
    assert finding(work, belief, verdict) == f"“a” is the least accurate class, {said} sure"
    assert headline(work, belief, verdict).startswith("Enough is known: “a”")
    assert headline(work, belief, verdict).endswith("11 of 24 items labelled.")


def test_a_claim_that_is_not_confirmed_yet_says_what_it_waits_for(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    belief = work.believe(tally_of(work, {"a": (0, 3), "b": (3, 0), "c": (2, 0), "d": (3, 0)}))
    said = headline(work, belief, work.decide(belief, 24))
    assert said.startswith("Nearly: a few more labels have to confirm that at present “a”")


def test_the_rule_is_asked_once_of_what_did_not_change(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    tally = tally_of(work, ONE_BAD)
    first, again = (work.ask(work.believe(tally), 24, work.rule) for _ in range(2))
    assert again is first
    assert work.ask(work.believe(tally), 0, work.rule).reason == "exhausted" != first.reason
    assert work.ask(work.believe(tally | {"0:1:1:b": 5}), 24, work.rule).labels == first.labels - 1


def test_when_everything_is_labelled_it_is_certain(tmp_path):
    work = assessment(tmp_path, "question: {task: identify, top: 1}\n")
    belief = work.believe(tally_of(work, ONE_BAD))
    text = headline(work, belief, work.decide(belief, 0))
    assert text.startswith("Everything is labelled: “a” is the least accurate")
    assert "for certain" in text


def test_several_groups_and_the_other_end(tmp_path):
    work = assessment(tmp_path, "question: {task: identify, which: highest, top: 2}\n")
    text = said_after(work, {"a": (0, 4), "b": (4, 0), "c": (4, 0), "d": (0, 4)})
    assert text.startswith("“b” and “c” are the 2 most accurate classes")


@pytest.mark.parametrize(
    ("right", "words"),
    [
        ({"a": (0, 6), "b": (6, 0)}, "a is less accurate than b by more than 0.05"),
        ({"a": (6, 0), "b": (0, 6)}, "a is more accurate than b by more than 0.05"),
        ({"a": (6, 0), "b": (6, 0)}, "a and b are equally accurate to within 0.05"),
    ],
)
def test_a_comparison_names_both_groups_and_what_holds_between_them(tmp_path, right, words):
    work = assessment(tmp_path, "question: {task: compare, compare: [a, b]}\n")
    assert said_after(work, right).startswith(words)


@pytest.mark.parametrize("population", ["finite", "infinite"])
def test_a_comparison_ends_when_no_item_of_its_groups_is_left(tmp_path, population):
    more = f"population: {population}\nstop: {{rope: {{epsilon: 0.02}}}}\n"
    work = assessment(tmp_path, "question: {task: compare, compare: [[a, b], [b, d]]}\n" + more)
    tally = tally_of(work, {"a": (2, 2), "b": (4, 2), "d": (3, 3)})  # two of a were given up
    unclaimed = np.array([0, 0, 6, 0])
    left = work.n_helpful(unclaimed)
    verdict = work.decide(work.believe(tally), left, work.earlier(tally), unclaimed)
    assert (left, verdict.reason, verdict.certain) == (0, "exhausted", False)
    with pytest.raises(NothingLeft):
        work.choose(work.believe(tally), unclaimed, 0 * unclaimed, claim=18)
    assert work.n_helpful(np.array([1, 2, 4, 8])) == 11


def test_many_pairs_are_counted_and_not_all_told(tmp_path):
    work = assessment(tmp_path, "question: {task: compare, compare: all}\n")
    assert "and 3 more pairs" in said_after(work, ONE_BAD)


@pytest.mark.parametrize(
    ("rule", "words"), [("rmse", "root mean squared error"), ("width", "widest 95% interval")]
)
def test_an_estimate_names_its_number_and_what_was_asked_for(tmp_path, rule, words):
    work = assessment(tmp_path, f"question: {{task: estimate}}\nstop: {{{rule}: 0.1}}\n")
    text = said_after(work, {"a": (1, 1)})
    assert words in text
    assert "asked for: 0.1" in text


@pytest.mark.parametrize(
    ("question", "more", "words"),
    [
        ("task: identify, metric: bias", "", "“a” is the most overconfident class"),
        ("task: identify, metric: ece, bins: 2", "", "“a” is the worst calibrated class"),
        ("task: identify, metric: cost, costs: costs.csv", "", "“a” is the most costly class"),
        (
            "task: identify, metric: recall, positive: a",
            ", groups: side",
            " is the group with the lowest recall",
        ),
        (
            "task: compare, metric: bias, compare: [a, b]",
            "",
            "a is more overconfident than b by more than 0.05",
        ),
        (
            "task: compare, metric: ece, bins: 1, compare: [a, b]",
            "",
            "a is worse calibrated than b by more than 0.05",
        ),
        (
            "task: compare, metric: cost, costs: costs.csv, compare: [b, c]",
            "",
            "b and c are equally costly to within 0.05",
        ),
        ("task: estimate, metric: bias", "", "of the groups' overconfidences is 0."),
        ("task: estimate, metric: confusion", "", "of the groups' rows of the confusion matrix"),
        (
            "task: estimate, metric: ece",
            ", groups: score_bin(5)",
            "the pool's expected calibration error is 0.",
        ),
    ],
)
def test_every_metric_has_its_own_words(tmp_path, question, more, words):
    costs = (np.ones((4, 4)) - np.eye(4)).tolist()
    (tmp_path / "costs.csv").write_text("\n".join(",".join(map(str, row)) for row in costs))
    work = assessment(tmp_path, f"question: {{{question}}}\n", more)
    tally = all_labelled(work, {"a": "b"})
    belief = work.believe(tally)
    assert words in finding(work, belief, work.decide(belief, 0))


def test_there_are_words_for_every_metric():
    metrics = set(get_args(QuestionPlan.model_fields["metric"].annotation))
    of_items = {name for name, measure in MEASURES.items() if measure.per_item}
    assert set(WORDS) == metrics | of_items


def test_the_pool_s_calibration_error_has_an_interval(tmp_path):
    work = assessment(
        tmp_path, "question: {task: estimate, metric: ece}\n", ", groups: score_bin(5)"
    )
    belief = work.believe({})
    text = finding(work, belief, work.decide(belief, 24))
    mean, low, high = map(float, re.findall(r"0\.\d{4}", text)[:3])
    assert low < mean < high


@pytest.mark.parametrize(
    ("stop", "held"),
    [("width: 0.1", "95% interval"), ("width: 0.1, guarantee: anytime", "95% band")],
)
def test_the_width_that_is_asked_of_a_pool_s_calibration_error_is_its_own(tmp_path, stop, held):
    work = assessment(
        tmp_path,
        f"question: {{task: estimate, metric: ece}}\nstop: {{{stop}}}\n",
        ", groups: score_bin(5)",
    )
    belief = work.believe({})
    verdict = work.decide(belief, 24)
    text = finding(work, belief, verdict)
    assert f"the width of its {held}" in text
    low, high = map(float, re.findall(r"0\.\d{4}", text)[1:3])
    assert held == "95% band" or verdict.value == pytest.approx(high - low, abs=2e-4)


def test_a_spent_budget_is_no_answer(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\nstop: {budget: 2}\n")
    belief = work.believe(tally_of(work, {"a": (1, 0), "b": (1, 0)}))
    text = headline(work, belief, work.decide(belief, 22))
    assert text.startswith("The budget is spent, and the question is not")


def test_nearly_sure_is_never_printed_as_sure():
    assert percent(0.99999) == "99.9%"
    assert percent(1.0) == "100%"
    assert percent(0.9512) == "95.1%"
