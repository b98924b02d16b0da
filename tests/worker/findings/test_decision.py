"""What a decision holds, and what becomes of it with later labels."""

import dataclasses
import json

import numpy as np
import pytest

from tests.worker.findings.said import ONE_BAD, all_labelled, assessment, tally_of
from worker.assessment import Assessment
from worker.core.stopping.verdict import Verdict
from worker.findings.decision import compared, decision
from worker.findings.evidence import groups
from worker.store import Header, State


def verdict_after(work: Assessment, right: dict[str, tuple[int, int]]) -> Verdict:
    """The verdict after so many right and wrong labels of each class."""
    return work.decide(work.believe(tally_of(work, right)), 24)


HEADER = Header(
    "said", "{}", "plan-hash", "pool-hash", "", "", (0, 0), 7, "http://localhost", "c", "t", (), ""
)
STATE = State("running", 24, 24, {}, {}, {}, {"1": 5}, 0)


def test_a_confusion_matrix_is_told_by_true_class(tmp_path):
    work = assessment(tmp_path, "question: {task: estimate, metric: confusion}\n")
    belief = work.believe(all_labelled(work, {"a": "c"}))
    verdict = work.decide(belief, 0)
    said = json.loads(
        decision(work, HEADER, STATE, belief, verdict, kind="stop", reason=verdict.reason)
    )
    assert said["groups"][0]["confusion"] == {"a": 0, "b": 0, "c": 1, "d": 0}
    assert said["groups"][1]["confusion"] == {"a": 0, "b": 1, "c": 0, "d": 0}
    for end in ("confusion_low", "confusion_high"):  # all is labelled
        assert said["groups"][1][end] == said["groups"][1]["confusion"]


def test_every_entry_of_a_confusion_matrix_has_an_interval(tmp_path):
    work = assessment(tmp_path, "question: {task: estimate, metric: confusion}\n")
    for row in groups(work, work.believe({"0:0:0:a": 1, "0:0:0:c": 2})):
        for name in "abcd":
            low, high = row["confusion_low"][name], row["confusion_high"][name]
            assert 0 <= low <= row["confusion"][name] <= high <= 1
            assert low < high


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        ("posterior", "right that often on average over truths, not on each hard one"),
        ("anytime", "a wrong claim is ever published with a probability of at most 5%"),
    ],
)
def test_a_guarantee_says_what_it_means(tmp_path, guarantee, words):
    work = assessment(tmp_path, f"question: {{task: identify}}\nstop: {{guarantee: {guarantee}}}\n")
    belief = work.believe({})
    text = decision(
        work, HEADER, STATE, belief, work.decide(belief, 24), kind="stop", reason="by hand"
    )
    said = json.loads(text)
    assert words in said["guarantee_means"]
    for g in said["groups"]:
        assert ("band_low" in g) == (guarantee == "anytime")


def test_a_decision_holds_all_that_it_rests_on(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    belief = work.believe(tally_of(work, ONE_BAD))
    verdict = work.decide(belief, 0)
    said = json.loads(
        decision(work, HEADER, STATE, belief, verdict, kind="stop", reason=verdict.reason)
    )
    assert {
        "text", "finding", "rule", "guarantee", "labels", "groups", "revision", "seed", "plan_hash",
        "pool_hash", "versions", "confidence", "reason", "is_conclusive", "question", "prior",
        "guarantee_means", "overall",
    } <= said.keys()  # fmt: skip
    assert said["is_conclusive"]
    assert [g["group"] for g in said["groups"]] == list("abcd")
    for g in said["groups"]:
        assert g["low"] <= g["mean"] <= g["high"]
    worst = said["groups"][0]
    assert (worst["p_lowest"], worst["rank"], worst["rank_low"], worst["rank_high"]) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("later", "word"),
    [
        (ONE_BAD, "confirmed"),
        ({"a": (1, 2), "b": (2, 1), "c": (2, 0), "d": (2, 1)}, "weakened"),
        ({"a": (6, 0), "b": (0, 6), "c": (6, 0), "d": (6, 0)}, "overturned"),
    ],
)
def test_later_labels_confirm_weaken_or_overturn_a_finding(tmp_path, later, word):
    work = assessment(tmp_path, "question: {task: identify}\n")
    belief = work.believe(tally_of(work, ONE_BAD))
    verdict = dataclasses.replace(work.decide(belief, 0), reason="answered")
    published = json.loads(
        decision(work, HEADER, STATE, belief, verdict, kind="stop", reason="answered")
    )
    assert compared(published, work, verdict_after(work, later)) == word


def test_the_numbers_of_a_group_are_those_of_the_posterior(tmp_path):
    work = assessment(tmp_path, "question: {task: identify}\n")
    belief = work.believe({})
    verdict = work.decide(belief, 24)
    said = json.loads(decision(work, HEADER, STATE, belief, verdict, kind="stop", reason="by hand"))
    assert np.allclose([g["mean"] for g in said["groups"]], 0.5)
    assert said["text"].startswith("Stopped by hand")
