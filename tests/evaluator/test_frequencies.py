"""Votes become frequencies, whatever form they come in, and what is none is refused by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.frequencies import from_counts, from_votes, reordered
from worker.evaluator.scales import binned, ordinal

PETS = ("cat", "dog", "fox")


@given(arrays(np.int64, (5, 3), elements=st.integers(0, 30)))
def test_frequencies_are_shares_of_the_votes_and_votes_can_be_had_back(counts):
    counts[:, 0] += 2
    found = from_counts(list("abcde"), counts, PETS)
    assert found.values.sum(axis=1) == pytest.approx(np.ones(5))
    assert (found.votes == counts.sum(axis=1)).all()
    assert found.values * found.votes[:, None] == pytest.approx(counts)


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(PETS)), min_size=1), st.randoms())
def test_the_order_of_single_votes_does_not_matter(votes, random):
    votes += [("x", "cat"), ("x", "cat")]
    shuffled = random.sample(votes, len(votes))
    one, other = (from_votes(*map(list, zip(*v, strict=True)), PETS) for v in (votes, shuffled))
    assert other.of(one.items).values == pytest.approx(one.values)
    for item, row in zip(one.items, one.values, strict=True):
        of_item = [name for which, name in votes if which == item]
        assert row == pytest.approx([of_item.count(name) / len(of_item) for name in PETS])


def test_frequencies_that_sum_to_one_pass_as_they_are_and_have_no_votes():
    found = from_counts(["a", "b"], [[0.2, 0.3, 0.5], [1, 0, 0]], PETS)
    assert found.votes is None
    assert found.values[0] == pytest.approx([0.2, 0.3, 0.5])


def test_of_some_items_comes_in_their_order():
    found = from_counts(["a", "b"], [[1, 1, 0], [0, 0, 2]], PETS).of(["b"])
    assert found.items == ("b",)
    assert found.votes.tolist() == [2]
    assert found.values.tolist() == [[0, 0, 1]]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[1, 0, 0], [0, 1, 0]], "All 2 items have one vote"),
        ([[2, 1, 0], [0, 0, 0]], "1 of 2 items have no votes: b; leave them out"),
        ([[2, 1, 0], [0, -1, 3]], "1 of 2 items have a negative number of votes: b"),
        ([[2, 1, 0], [0, np.nan, 3]], "1 of 2 items have a number of votes that is missing: b"),
        ([[0.5, 0.2, 0.2], [0.5, 0.5, 0]], r"the first sums to 0.9\) have frequencies that do not"),
        ([[3, 1.5, 0], [2, 1, 1]], "frequencies that do not sum to 1 within 0.001: a, b"),
        ([[2, 1], [0, 1]], r"shape \(2, 2\), expected \(2, 3\)"),
    ],
)
def test_what_are_no_votes_is_refused_with_the_items(counts, said):
    with pytest.raises(EvaluatorError, match=said):
        from_counts(["a", "b"], counts, PETS)


def test_one_class_and_items_that_are_there_twice_are_refused():
    with pytest.raises(EvaluatorError, match="one class to choose"):
        from_counts(["a"], [[3]], ["cat"])
    with pytest.raises(EvaluatorError, match="'a' is there twice"):
        from_counts(["a", "a"], [[3, 0], [0, 3]], PETS[:2])


def test_a_vote_for_an_unknown_class_names_the_nearest_one():
    with pytest.raises(EvaluatorError, match="'caat'; did you mean cat"):
        from_votes(["a", "a"], ["cat", "caat"], PETS)


class TestScales:
    def test_stars_are_classes_of_their_own(self):
        found = from_votes(["a"] * 4, [1, 5.0, "5", 3], list("12345"), ordinal(1, 5))
        assert found.values.tolist() == [[0.25, 0, 0.25, 0, 0.5]]

    def test_numbers_fall_into_bins_whose_last_is_closed(self):
        ages = binned([0, 5, 10, 20])
        assert ages.place(np.array([0, 4.99, 5, 10, 20])).tolist() == [0, 0, 1, 2, 2]
        assert ages.classes == ("0 to 5", "5 to 10", "10 to 20")

    @given(st.floats(-50, 150, allow_nan=False))
    def test_a_number_is_in_the_bin_of_its_edges_or_refused(self, number):
        edges = [0, 10, 25, 100]
        if not 0 <= number <= 100:
            with pytest.raises(EvaluatorError, match="1 ratings are outside the scale"):
                binned(edges).place(np.array([number]))
            return
        (at,) = binned(edges).place(np.array([number]))
        assert edges[at] <= number <= edges[at + 1]
        assert number < edges[at + 1] or number == 100

    @pytest.mark.parametrize("rating", [0, 6, 2.5, np.nan])
    def test_a_rating_beside_the_scale_is_refused_with_its_place(self, rating):
        with pytest.raises(EvaluatorError, match=r"\(vote 2\), expected whole numbers from 1 to 5"):
            ordinal(1, 5).place(np.array([3.0, rating]))

    def test_text_among_ratings_is_refused(self):
        with pytest.raises(EvaluatorError, match="'good' came, expected a number"):
            from_votes(["a", "a"], ["3", "good"], list("12345"), ordinal(1, 5))

    def test_classes_of_the_same_names_are_found_by_name_others_by_their_order(self):
        assert reordered(ordinal(1, 3), ("3", "2", "1")).tolist() == [2, 1, 0]
        assert reordered(binned([0, 1, 2]), ("young", "old")).tolist() == [0, 1]

    def test_another_number_of_classes_is_refused(self):
        with pytest.raises(EvaluatorError, match=r"has 5 classes .* but the predictions have 3"):
            reordered(ordinal(1, 5), PETS)

    @pytest.mark.parametrize("edges", [[0, 1], [0, 2, 1], [0, 0, 1]])
    def test_edges_that_make_no_bins_are_refused(self, edges):
        with pytest.raises(EvaluatorError, match="in ascending order"):
            binned(edges)

    def test_a_scale_of_one_step_is_refused(self):
        with pytest.raises(EvaluatorError, match="at least two steps"):
            ordinal(3, 3)
