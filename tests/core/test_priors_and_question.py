"""Priors of cells, and what may be asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.prior.priors import informative, uniform
from worker.core.questions.question import Question, StopRule


@given(st.integers(0, 20), st.floats(0.01, 100))
def test_a_uniform_prior_shares_its_strength_evenly(n_cells, strength):
    alpha, beta = uniform(n_cells, strength)
    assert alpha.shape == (n_cells,)
    assert (alpha == beta).all()
    assert alpha + beta == pytest.approx(np.full(n_cells, strength))


@given(st.lists(st.floats(0, 1)), st.floats(0.01, 100))
def test_an_informative_prior_has_the_mean_score_and_is_never_sure(scores, strength):
    alpha, beta = informative(np.array(scores), strength)
    assert (alpha > 0).all()
    assert (beta > 0).all()
    assert alpha + beta == pytest.approx(np.full(len(scores), strength))
    assert alpha / (alpha + beta) == pytest.approx(np.array(scores), abs=1.1e-3)


def test_an_empty_cell_without_a_score_gets_an_even_prior():
    assert informative(np.array([np.nan]), 2.0)[0].tolist() == [1.0]


@pytest.mark.parametrize("strength", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_needs_a_positive_strength(strength):
    with pytest.raises(ValueError, match="pseudo-counts"):
        uniform(3, strength)
    with pytest.raises(ValueError, match="pseudo-counts"):
        informative(np.array([0.5]), strength)


def test_a_score_outside_0_to_1_is_refused_with_its_cell():
    with pytest.raises(ValueError, match=r"cell 1 is 1\.2"):
        informative(np.array([0.5, 1.2]), 2.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": "rank"}, "task is 'rank', expected one of identify, compare, estimate"),
        ({"task": "identify", "which": "worst"}, "which is 'worst'"),
        ({"task": "identify", "top": 0}, "at least one"),
        ({"task": "identify", "tolerance": -0.1}, "tolerance"),
        ({"task": "compare", "epsilon": -0.1}, "epsilon"),
        ({"task": "compare", "pairs": ((2, 2),)}, "with itself"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Question(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "luck", "target": 0.5}, "kind is 'luck'"),
        ({"kind": "mrr", "target": 0.0, "confidence": 0.95}, "target of mrr"),
        ({"kind": "rope", "target": -0.1, "confidence": 0.95}, "target of rope"),
        ({"kind": "rmse", "target": float("nan")}, "target of rmse"),
        ({"kind": "mrr", "target": 0.99}, "needs a confidence"),
        ({"kind": "mrr", "target": 0.99, "confidence": 95}, "needs a confidence"),
        ({"kind": "width", "target": 0.1, "confidence": 0.95}, "takes no confidence"),
        ({"kind": "width", "target": 0.1, "budget": 0}, "budget"),
    ],
)
def test_a_stop_rule_that_makes_no_sense_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        StopRule(**fields)
