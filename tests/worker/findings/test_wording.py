"""What a claim says is the event whose probability stands beside it, on every page."""

import json
import math
import re
from dataclasses import replace

import pytest

from tests.report.at_work import AtWork, at_work
from tests.worker.findings.said import ONE_BAD, all_labelled, assessment, said_after, tally_of
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import PairVerdict, Verdict
from worker.findings.claims import WORDS, extreme_among, extreme_claim, how_sure
from worker.findings.ranks import group_ranks
from worker.findings.wording import finding, guarantee_means, headline, in_short
from worker.formats import at_most, error, percent, probability, share
from worker.notebook import snapshot
from worker.notices import outbox
from worker.notices.happenings import note_decisions
from worker.plan.notify_part import NotifyPlan
from worker.report.gathering import gather
from worker.report.page import page
from worker.store.settings import Settings
from worker.turn.loop import assess_now

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
            {"words": "tpr", "noun": "group", "tolerance": 0.02, "top": 2},
            "“8” and “5” are the 2 groups with the lowest true positive rate, or within 0.02 of "
            "them: no other group has a lower true positive rate than any of them by more than "
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
    assert in_short(work, now) == "6 labels"
    answered = replace(now, reason="answered")
    assert headline(work, belief, answered).startswith("Enough is known: ")
    assert "wrong at any time with a probability of at most 5%" in headline(work, belief, answered)


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


def test_the_short_form_never_rounds_up(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    said = [in_short(work, verdict(c)) for c in (math.nextafter(1, 0), 0.0599, 0.29, None)]
    assert said == ["99% sure", "5% sure", "29% sure", "1,200 labels"]


TOLERANT = {
    "question": "{task: identify, tolerance: 0.3}",
    "stop": "{mrr: {confidence: 0.95}, looks: 1}",
    "strategy": "assay",
    "prior": "{kind: empirical}",
}


@pytest.fixture(scope="module")
def decided(tmp_path_factory) -> AtWork:
    return at_work(tmp_path_factory.mktemp("tolerant"), 200, **TOLERANT)


def test_wherever_the_finding_stands_the_tolerance_stands_beside_how_sure_it_is(decided):
    (published,) = map(json.loads, decided.ledger.decisions())
    assert published["reason"] == "answered"
    report = gather(decided.work, decided.header, decided.ledger)
    state, _, _ = assess_now(decided.work, decided.ledger)
    hook = {"url": "https://a.example/", "kind": "webhook", "on": ("decision",)}
    plan = decided.work.plan.model_copy(
        update={"notify": (NotifyPlan.model_validate(hook, context={}),)}
    )
    note_decisions(decided.ledger, plan)
    (notice,) = outbox.waiting(decided.ledger)
    html = page(report)
    seen = snapshot(
        decided.work, decided.header, decided.ledger, Settings(decided.folder, None, None)
    )
    places = {
        "decision": published["text"],
        "finding": published["finding"],
        "report": report.text,
        "first line": re.sub("<[^>]*>", "", re.findall(r"<h1.*?</h1>", html, re.S)[0]),
        "progress": report.progress[-1].finding,
        "project": decided.desk.description,
        "annotators": decided.desk.guidelines[0],
        "notice": notice.event.text,
        "notebook": seen.text,
        "state": state.metadata["described"],
    }
    for name, text in places.items():
        assert re.search(r"class, or within 0\.3 of it, \d[\d.]*% sure", text), (name, text)


def test_the_page_says_what_a_picture_s_other_probability_is(decided):
    _, belief, now = assess_now(decided.work, decided.ledger)
    found = group_ranks(belief)
    alone = found.p_lowest[now.chosen[0]]
    assert now.confidence is not None
    assert alone < now.confidence - 0.02, "with a tolerance the two numbers differ"
    report = gather(decided.work, decided.header, decided.ledger)
    assert "the lowest itself: one within 0.3 of it is not counted" in report.chances_text
    html = page(report)
    assert report.chances_text in html
    assert "Values within 0.3 of each other count as equal." in html
    assert "right to within 0.3" in report.progress_name


def test_without_a_tolerance_nothing_is_said_of_it(tmp_path):
    report = gather(*(lambda w: (w.work, w.header, w.ledger))(at_work(tmp_path, 5)))
    assert report.chances_text == ""
    assert "within" not in report.text.partition(" items labelled")[0]


def test_several_groups_with_a_tolerance_are_said_of_a_decision_too(tmp_path):
    more = "question: {task: identify, top: 2, tolerance: 0.1}\nstop: {looks: 1}\n"
    work = assessment(tmp_path, more)
    assert said_after(work, ONE_BAD | {"b": (0, 6)}).startswith(
        "“a” and “b” are the 2 least accurate classes, or within 0.1 of them: no other class is "
        "less accurate than any of them by more than 0.1, "
    )
