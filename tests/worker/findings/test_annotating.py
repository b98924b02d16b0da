"""How votes become labels, in words; and how many are still to come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.crowds import crowd
from worker.findings.annotating import (
    annotation_text,
    gold_answered,
    ordinal,
    waiting_text,
    waiting_votes,
)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("{}", ""),
        ("{per_item: 2, rule: first}", "Two people judge every item; the first vote counts."),
        (
            "{per_item: 3, rule: majority}",
            "Three people judge every item, up to five while their votes are tied; the class with "
            "most votes counts.",
        ),
        (
            "{per_item: 12, rule: dawid-skene, item_confidence: 0.95}",
            "12 people judge every item; classes are inferred from all votes together with how "
            "reliable each person is. An item gets no more votes once its class is 95% sure.",
        ),
        (
            "{gold: {items: gold.csv}}",
            "About 5% of what they see are gold items, whose class is known: they tell how "
            "reliable people are, and count nothing for the pool.",
        ),
    ],
)
def test_every_rule_is_told_in_words(tmp_path: Path, annotation: str, words: str) -> None:
    assert annotation_text(crowd(tmp_path, annotation).work) == words


def test_items_wait_until_they_have_their_votes_or_are_sure(tmp_path: Path) -> None:
    plan = "{per_item: 3, rule: dawid-skene, item_confidence: 0.999, skips: 3}"
    one = crowd(tmp_path, plan, n_items=20, look_ahead=5)
    one.turn()
    assert waiting_votes(one.work, one.ledger, one.ledger.state()) == {}
    one.answer(1, most=3)
    one.desk.skip(one.desk.task_ids()[4], 1)  # a skip is no vote
    one.turn()
    assert waiting_votes(one.work, one.ledger, one.ledger.state()) == {2: 3}
    one.answer(2, most=2)
    one.turn()
    assert waiting_votes(one.work, one.ledger, one.ledger.state()) == {2: 1, 3: 2}


def test_items_that_are_sure_enough_wait_for_nothing(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{per_item: 3, rule: dawid-skene, item_confidence: 0.51}", n_items=20)
    one.turn()
    one.answer(1, most=4)
    one.turn()
    now = one.ledger.state()
    votes = one.work.votes(now.tally)
    assert votes is not None
    unsure = sum(sure < 0.51 for sure in votes.sure.values())
    assert sum(waiting_votes(one.work, one.ledger, now).values()) == unsure < 4


def test_nothing_waits_where_one_person_judges(tmp_path: Path) -> None:
    one = crowd(tmp_path, "{}")
    one.turn()
    one.answer(1, most=2)
    one.turn()
    assert waiting_votes(one.work, one.ledger, one.ledger.state()) == {}
    assert gold_answered(one.work, one.ledger.state()) is None


@pytest.mark.parametrize(
    ("waiting", "words"),
    [
        ({}, ""),
        ({2: 1}, "1 item waits for a second vote"),
        ({2: 1200, 3: 1}, "1,200 items wait for a second vote, 1 for a third"),
    ],
)
def test_what_waits_is_told_in_words(waiting: dict[int, int], words: str) -> None:
    assert waiting_text(waiting) == words


def test_numbers_beyond_words_keep_their_endings() -> None:
    said = [ordinal(n) for n in (1, 2, 9, 10, 11, 12, 13, 21, 22, 23, 101, 111)]
    assert said == [
        "first", "second", "ninth", "10th", "11th", "12th", "13th", "21st", "22nd", "23rd",
        "101st", "111th",
    ]  # fmt: skip
