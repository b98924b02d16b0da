"""How judgements of several annotators add up: by rule, never by luck."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector.labels import Judgement
from worker.store.rules import Rules, frequencies, named_votes, tied, votes_of

MAJORITY = Rules("majority", per_item=3, per_item_max=5)
CROWD = Rules("dawid-skene", per_item=3, per_item_max=3)


def valid(annotation: int, author: int, label: str) -> Judgement:
    return Judgement(annotation, author, "valid", label, "", annotation)


def outcome(rules: Rules, *labels: str) -> str | None:
    return rules.outcome(dict(enumerate(labels)), row=7)


class TestVotes:
    """One person has one vote."""

    def test_the_first_of_two_answers_of_a_person_counts(self) -> None:
        assert votes_of([valid(9, 1, "dog"), valid(4, 1, "cat")]) == {1: "cat"}

    def test_skips_and_rejected_answers_are_no_votes(self) -> None:
        skipped = Judgement(1, 1, "skipped", None, "", 0)
        rejected = Judgement(2, 2, "rejected", None, "an empty result", 0)
        assert votes_of([skipped, rejected, valid(3, 3, "cat")]) == {3: "cat"}

    @given(
        st.permutations([valid(4, 1, "a"), valid(5, 2, "b"), valid(6, 1, "c"), valid(7, 3, "a")])
    )
    def test_the_order_of_reading_does_not_matter(self, judged: list[Judgement]) -> None:
        assert list(votes_of(judged).items()) == [(1, "a"), (2, "b"), (3, "a")]


class TestMajority:
    """per_item votes, one more while they are tied, then half counts."""

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            ("", None),
            ("aa", None),
            ("aab", "a"),
            ("aabbb", "a"),  # decided by the first three: what came later is surplus
            ("abc", None),
            ("abca", "a"),
            ("abcde", "a\nb\nc\nd\ne"),
            ("abcdea", "a\nb\nc\nd\ne"),  # nobody was asked for the sixth
        ],
    )
    def test_it_follows_from_the_first_votes(self, labels: str, expected: str | None) -> None:
        assert outcome(MAJORITY, *labels) == expected
        votes = dict(enumerate(labels))
        assert MAJORITY.is_settled(votes, expected) == (expected is not None)

    def test_a_tie_names_its_classes(self) -> None:
        assert tied("a\nb") == ("a", "b")
        assert tied("a") == ("a",)


class TestOtherRules:
    """What is kept of the votes."""

    def test_first_is_settled_when_all_have_answered(self) -> None:
        rules = Rules("first", per_item=2, per_item_max=2)
        assert outcome(rules, "b", "a") == "b"
        assert [rules.is_settled(dict(enumerate("ba"[:n])), "b") for n in (1, 2)] == [False, True]

    def test_dawid_skene_keeps_who_said_what(self) -> None:
        for order in itertools.permutations({12: "ä", 3: "b:c"}.items()):
            text = CROWD.outcome(dict(order), row=7)
            assert text == '{"3":"b:c","12":"ä"}'
        assert named_votes(text) == {"3": "b:c", "12": "ä"}

    def test_frequencies_keep_the_row_and_the_counts(self) -> None:
        text = outcome(Rules("frequencies", 3, 3), "b", "a", "b")
        assert text == '7:{"a":1,"b":2}'
        assert frequencies(text) == (7, {"a": 1, "b": 2})

    def test_nothing_comes_of_no_votes(self) -> None:
        for kind in ("first", "majority", "dawid-skene", "frequencies"):
            assert outcome(Rules(kind, 3, 3)) is None
