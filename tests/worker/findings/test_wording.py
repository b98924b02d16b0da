"""What a claim says is the event whose probability stands beside it."""

import math
import re
from dataclasses import replace

import pytest

from tests.worker.findings.said import all_labelled, assessment, said_after, tally_of
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.pairs import PairVerdict
from worker.core.stopping.verdict import Verdict
from worker.findings.claims import extreme_claim, how_sure
from worker.findings.wording import finding, guarantee_means, headline
from worker.formats import at_most, error, percent, probability, share
from worker.metrics import WORDS

SURE = StopRule("mrr", 0.99, 0.95)
OTHERS = ["8", "5", "2", "9"]


def claim(words: str = "accuracy", noun: str = "class", rule: StopRule = SURE, **asked) -> str:
    return extreme_claim(OTHERS, noun, WORDS[words], Question("identify", **asked), rule)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "“8” is the least accurate class"),
        ({"tolerance": 0.04}, "“8” is the least accurate class, or within 0.04 of it"),
        (
            {"tolerance": 0.04, "top": 3},
            "“8”, “5” and “2” are the 3 least accurate classes, or within 0.04 of them: no other "
            "class is less accurate than any of them by more than 0.04",
        ),
        (
            {"tolerance": 0.1, "top": 2, "which": "highest"},
            "“8” and “5” are the 2 most accurate classes, or within 0.1 of them: no other class "
            "is more accurate than any of them by more than 0.1",
        ),
        (
            {"words": "recall", "noun": "group", "tolerance": 0.02, "top": 2},
            "“8” and “5” are the 2 groups with the lowest recall, or within 0.02 of "
            "them: no other group has a lower recall than any of them by more than "
            "0.02",
        ),
        (
            {"words": "ece", "which": "highest", "tolerance": 0.01, "noun": "group"},
            "“8” is the worst calibrated group, or within 0.01 of it",
        ),
    ],
)
def test_a_claim_with_a_tolerance_says_so(asked, said):
    assert claim(**asked) == said


@pytest.mark.parametrize(
    ("asked", "target", "said"),
    [
        ({}, 0.51, "“8” is the least accurate class"),
        ({}, 0.5, "one of “8” and “5” is the least accurate class"),
        (
            {"tolerance": 0.04},
            1 / 3,
            "one of “8”, “5” and “2” is the least accurate class, or within 0.04 of it",
        ),
        ({"top": 2}, 0.76, "“8” and “5” are the 2 least accurate classes"),
        (
            {"top": 2},
            0.75,
            "a ranking that begins with “8” and “5” finds the 2 least accurate classes with a "
            "mean reciprocal rank of 0.75 or more",
        ),
    ],
)
def test_a_threshold_that_a_wrong_set_reaches_claims_no_more_than_that(asked, target, said):
    assert claim(rule=StopRule("mrr", target, 0.95), **asked) == said


def verdict(confidence: float | None, reason: str = "open", certain: bool = False, n: int = 0):
    pairs = (PairVerdict(0, 1, 0.0, 0.0, 1.0, "above"),) * n
    return Verdict(False, reason, certain, confidence, None, (0,), (0,), pairs, 1200)


@pytest.mark.parametrize(
    ("of", "n_claims", "is_guarded", "said"),
    [
        (verdict(0.9499), 1, False, ", 94.9% sure"),
        (verdict(0.9499), 3, False, ", each at least 94.9% sure"),
        (verdict(0.99996), 1, False, ", 99.9% sure"),
        (verdict(1.0, certain=True), 1, False, ", for certain"),
        (verdict(0.97), 1, True, ", 97% sure by the posterior alone"),
        (
            verdict(0.9999, "answered"),
            1,
            True,
            ", wrong at any time with a probability of at most 5%",
        ),
        (verdict(None), 1, False, ""),
    ],
)
def test_how_sure_is_said_of_what_decides(of, n_claims, is_guarded, said):
    assert how_sure(of, SURE, is_guarded, n_claims) == said


def test_no_number_is_rounded_to_the_better_side():
    assert [percent(p) for p in (0.99996, 0.9996, 0.94999, 0.95, 0.29, 0.57, 1.0, 0.0)] == [
        "99.9%", "99.9%", "94.9%", "95%", "29%", "57%", "100%", "0%",
    ]  # fmt: skip
    assert percent(1e-9) == "<0.1%"
    assert [at_most(1 - c) for c in (0.95, 0.99, 0.9873)] == ["5%", "1%", "1.3%"]
    assert [error(e) for e in (0.020004, 0.02, 0.0199)] == ["0.0201", "0.0200", "0.0199"]
    assert (probability(math.nextafter(1, 0)), probability(1.0)) == (0.999999, 1.0)
    assert share(probability(math.nextafter(1, 0))) == ">99.9%"
    assert percent(probability(math.nextafter(1, 0))) == "99.9%"


def test_a_claim_about_several_pairs_says_that_each_is_so_sure(tmp_path):
    one = assessment(tmp_path / "one", "question: {task: compare, compare: [a, b]}\n")
    many = assessment(tmp_path / "many", "question: {task: compare, compare: all}\n")
    labels = {"a": (0, 4), "b": (4, 0), "c": (2, 1), "d": (1, 2)}
    assert re.search(r", \d[\d.]*% sure$", said_after(one, labels))
    assert re.search(r"3 more pairs, each at least \d[\d.]*% sure$", said_after(many, labels))


@pytest.mark.parametrize("question", ["identify", "compare, compare: [a, b]"])
def test_under_anytime_the_posterior_is_named_as_what_does_not_decide(tmp_path, question):
    more = f"question: {{task: {question}}}\nstop: {{guarantee: anytime}}\n"
    work = assessment(tmp_path, more)
    belief = work.believe(tally_of(work, {"a": (0, 2), "b": (2, 0), "c": (1, 0), "d": (1, 0)}))
    now = work.decide(belief, 24)
    assert now.reason == "open"
    assert finding(work, belief, now).endswith("% sure by the posterior alone")
    answered = replace(now, reason="answered")
    assert headline(work, belief, answered).startswith("Enough is known: ")
    assert "wrong at any time with a probability of at most 5%" in headline(work, belief, answered)


def test_an_estimate_claims_no_probability(tmp_path):
    work = assessment(tmp_path, "question: {task: estimate}\nstop: {rmse: 0.1}\n")
    assert "probability" not in guarantee_means(work)
    assert "no bound on the error of a single assessment" in guarantee_means(work)


def test_what_ends_without_an_answer_says_so(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    belief = work.believe(tally_of(work, {"a": (2, 2), "b": (2, 2)}))
    now = work.decide(belief, 0)
    assert (now.reason, now.certain) == ("exhausted", False)
    assert headline(work, belief, now).startswith(
        "All that can be labelled is labelled, and the question is not answered: at present “a”"
    )
    everything = work.believe(all_labelled(work, {"a": "b"}))
    assert headline(work, everything, work.decide(everything, 0)).startswith("Everything is lab")
