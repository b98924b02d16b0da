"""Among which groups the answer is: said while it is open, or asked for in its place."""

import re

import pytest

from tests.worker.findings.said import assessment, tally_of
from worker.core.questions.question import Question
from worker.findings.claims import extreme_among
from worker.findings.wording import finding, headline
from worker.metrics import WORDS

TIED = {"a": (1, 3), "b": (1, 3), "c": (5, 0), "d": (5, 0)}


def said_among(work, labels):
    belief = work.believe(tally_of(work, labels))
    return headline(work, belief, work.decide(belief, 24), work.shortlists(belief))


def test_what_is_not_answered_yet_says_among_which_groups_the_answer_is(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    said = said_among(work, TIED)
    assert re.search(
        r"“a” is the least accurate class, \d[\d.]*% sure; "
        r"the least accurate class is one of “a” and “b”, 100% sure; 18 of 24 items labelled\.$",
        said,
    )


def test_among_all_groups_says_nothing_nor_does_the_answer_alone(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    assert "one of" not in said_among(work, {"a": (1, 0)})
    assert "one of" not in said_among(work, {"a": (0, 6), "b": (6, 0), "c": (6, 0), "d": (6, 0)})


def test_at_any_time_the_list_is_worth_what_the_answer_would_be(tmp_path):
    more = "question: {task: identify}\nstop: {guarantee: anytime}\n"
    work = assessment(tmp_path, more)
    said = said_among(work, {"a": (1, 4), "b": (1, 4), "c": (6, 0), "d": (6, 0)})
    among = "the least accurate class is one of “a” and “b”"
    assert f"{among}, wrong at any time with a probability of at most 5%;" in said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("shortlist: 2", "the least accurate class is one of “a” and “b”"),
        ("shortlist: 2, tolerance: 0.1", "is one of “a” and “b”, or within 0.1 of it"),
        ("top: 2, shortlist: 3", "the 2 least accurate classes are among “a”, “b” and “c”"),
    ],
)
def test_a_shortlist_that_was_asked_for_is_the_answer(tmp_path, question, said):
    work = assessment(tmp_path, f"question: {{task: identify, {question}}}\nstop: {{looks: 1}}\n")
    belief = work.believe(tally_of(work, TIED))
    verdict = work.decide(belief, 24)
    assert (verdict.reason, verdict.chosen[:2]) == ("answered", (0, 1))
    assert said in finding(work, belief, verdict)
    assert "; the" not in headline(work, belief, verdict, work.shortlists(belief))


def test_of_many_groups_it_says_how_many_are_left():
    names = [f"c{n}" for n in range(9)]
    words, question = WORDS["accuracy"], Question("identify")
    assert extreme_among(names, "class", words, question, 40) == (
        "the least accurate class is one of 9 of the 40 classes"
    )
