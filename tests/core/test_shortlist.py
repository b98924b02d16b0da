"""The fewest groups that surely have the answer among them: brute force, and the bands."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worker.core.questions.ranking as ranks
from worker.core.confidence_sequences.forecast import forecast
from worker.core.confidence_sequences.guarantee import (
    ConfidenceSequence,
    alpha_split,
    ends,
    is_identified,
)
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.joint import joint_loadings
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Scores
from worker.core.questions.question import Question, StopRule
from worker.core.questions.ranking import ranking, set_confidence
from worker.core.stopping.refuting import is_far_from_holding
from worker.core.stopping.rule import decide
from worker.core.stopping.shortlist import shortlist

SURE = 0.9


def belief(seed, n_groups=6, **more):
    rng = np.random.default_rng(seed)
    size = rng.integers(20, 60, n_groups)
    labelled = rng.integers(1, 20, n_groups)
    right = rng.binomial(labelled, rng.beta(6, 3, n_groups))
    ones = np.ones(n_groups)
    wrong = labelled - right
    return Belief(np.arange(n_groups), size, right, wrong, ones, ones, n_groups, **more)


def rate(b, chosen, question, n=40_000):
    """The share of draws in which the groups that are asked for are among the chosen ones."""
    drawn = draw(b, np.random.default_rng(1), n)
    values = drawn if question.which == "lowest" else -drawn
    rest = np.setdiff1d(np.arange(b.n_groups), chosen)
    last = np.sort(values[:, list(chosen)], axis=1)[:, question.top - 1]
    return float((last <= values[:, rest].min(axis=1) + question.tolerance + 1e-9).mean())


@pytest.mark.parametrize("which", ["lowest", "highest"])
@pytest.mark.parametrize(("top", "n"), [(1, 1), (1, 2), (1, 4), (2, 3), (3, 4), (3, 5)])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_list_is_as_sure_as_draws_say(which, top, n, tolerance):
    for seed in range(3):
        b, question = belief(seed), Question("identify", which, top, tolerance=tolerance)
        chosen = ranking(b, which)[:n].tolist()
        sure = set_confidence(b, chosen, which, tolerance, top=top)
        assert sure == pytest.approx(rate(b, chosen, question), abs=0.012)


def test_it_is_as_sure_where_groups_move_together():
    b, scores = belief(4), Scores(np.full(6, 2.0), np.zeros(6))
    found = fit(b.right, b.wrong, b.group, scores)
    shared = shared_of(found, scores, b.size, b.group, 6)
    b = with_prior(b, *prior_of(found.mode, scores, found.covariance), shared=shared)
    assert np.abs(joint_loadings(b)).max() > 0.3
    chosen = ranking(b)[:3].tolist()
    sure = set_confidence(b, chosen, top=2)
    assert sure == pytest.approx(rate(b, chosen, Question("identify", top=2)), abs=0.02)


@pytest.mark.parametrize("top", [1, 2])
def test_no_list_that_is_sure_enough_is_shorter(top):
    for seed in range(8):
        b, question = belief(seed), Question("identify", top=top)
        found = shortlist(b, question, SURE)
        assert found.confidence >= SURE
        assert found.confidence == pytest.approx(
            set_confidence(b, found.groups, top=top) if len(found.groups) < 6 else 1.0
        )
        shorter = [
            set_confidence(b, some, top=top)
            for n in range(top, len(found.groups))
            for some in combinations(range(6), n)
        ]
        # draws choose the order: a list that is all but as sure may be passed over
        assert max(shorter, default=0.0) < SURE + 0.02


def test_of_many_groups_the_search_finds_the_first_that_is_sure_enough():
    b, question = belief(3, n_groups=60), Question("identify")
    found = shortlist(b, question, 0.95)
    assert found.confidence >= 0.95 > set_confidence(b, found.groups[:-1], top=1)


def test_a_long_list_is_at_least_as_sure_as_it_says(monkeypatch):
    """How sure it is, is then a lower bound, near what all values give."""
    b, question = belief(4, n_groups=120), Question("identify", top=2)
    found = shortlist(b, question, 0.99)
    assert len(found.groups) > ranks.LONG
    monkeypatch.setattr(ranks, "_MOST_VALUES", 100)
    bound = set_confidence(replaced(b, _memo={}), found.groups, top=2)
    monkeypatch.setattr(ranks, "LONG", len(found.groups))
    exact = set_confidence(replaced(b, _memo={}), found.groups, top=2)
    assert 0.99 <= found.confidence <= exact
    assert exact - 0.01 < bound < exact
    fewer = found.groups[: len(found.groups) * 3 // 4]
    assert set_confidence(b, fewer, top=2) < 0.99


def test_empty_groups_are_in_no_list_and_all_groups_are_for_certain():
    b = belief(2)
    size = np.where(np.arange(6) == 3, 0, b.size)
    right, wrong = np.where(size, b.right, 0), np.where(size, b.wrong, 0)
    some = replaced(b, size=size, right=right, wrong=wrong, _memo={})
    assert 3 not in shortlist(some, Question("identify"), 0.99999).groups
    assert shortlist(some, Question("identify", top=5), 0.9).confidence == 1.0


def test_the_rule_of_a_shortlist_stops_where_the_answer_alone_is_not_sure():
    """Two groups are tied at the end, the others far away."""
    size, right, wrong = [500] * 4, [20, 21, 90, 92], [80, 79, 10, 8]
    columns = (np.array(column) for column in (size, right, wrong))
    b = Belief(np.arange(4), *columns, np.ones(4), np.ones(4), 4)
    rule = StopRule("mrr", 0.99, 0.95)
    alone, two = Question("identify"), Question("identify", shortlist=2)
    assert decide(b, alone, rule, 400, 1).reason == "open"
    found = decide(b, two, rule, 400, 1)
    assert found.reason == "answered"
    assert set(found.chosen) == {0, 1}
    assert found.confidence == pytest.approx(set_confidence(b, [0, 1], top=1))
    assert is_far_from_holding(b, alone, rule)
    assert not is_far_from_holding(b, two, rule)


@given(st.integers(0, 200), st.integers(1, 3), st.integers(1, 2))
def test_what_is_far_from_holding_does_not_hold(seed, top, more):
    b, rule = belief(seed), StopRule("mrr", 0.99, 0.95)
    question = Question("identify", top=top, shortlist=top + more)
    if is_far_from_holding(b, question, rule):
        assert decide(b, question, rule, 1, 1).reason == "open"


@given(st.integers(0, 200), st.integers(1, 3))
def test_at_any_time_all_are_in_it_whom_the_bands_do_not_rule_out(seed, top):
    b, sequence = belief(seed), ConfidenceSequence(forecast(np.zeros(6)), 0.05)
    question, none = Question("identify", top=top), np.zeros(6, dtype=np.int64)
    found = shortlist(b, question, 0.95, sequence, none)
    e = ends(b, none, sequence, *alpha_split(b, question, sequence.miss))
    assert is_identified(b, e, found.groups, question)
    for left_out in found.groups:
        fewer = [g for g in found.groups if g != left_out]
        assert len(fewer) < top or not is_identified(b, e, fewer, question)
    assert found.confidence == pytest.approx(0.95)
