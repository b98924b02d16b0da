"""Measures of draws against human frequencies: by hand, by scipy, by scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.measures import (
    MEASURES,
    Measure,
    auc,
    auc_of_hits,
    class_counts,
    class_hits,
    clipped,
    kl_divergence,
    measured,
    normalised_l2,
)


def simplexes(seed, n=12, d=7, k=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 0.7), n), rng.dirichlet(np.full(k, 0.7), (n, d))


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_distances_on_the_simplex_lie_between_0_and_1(seed):
    found = normalised_l2(*simplexes(seed))
    assert ((found >= 0) & (found <= 1)).all()


def test_the_distance_is_the_norm_itself_and_1_from_corner_to_corner():
    human = np.array([[1.0, 0, 0]])
    drawn = np.array([[[0, 1.0, 0], [1, 0, 0], [0.5, 0.5, 0]]])
    assert normalised_l2(human, drawn) == pytest.approx(np.array([[1, 0, 0.5]]))


@given(seeds)
def test_the_divergence_is_relative_entropy_in_bits_and_never_negative(seed):
    human, drawn = simplexes(seed)
    expected = stats.entropy(human[:, None, :], drawn, base=2, axis=2)
    assert kl_divergence(human, drawn) == pytest.approx(expected, abs=1e-9)
    assert (kl_divergence(human, drawn) > -1e-12).all()


def test_its_sign_is_not_that_of_equation_16():
    human, drawn = np.array([[0.5, 0.5]]), np.array([[[0.25, 0.75]]])
    assert kl_divergence(human, drawn)[0, 0] == pytest.approx(1 - 0.5 * np.log2(4 * 0.75))


def test_zeros_of_people_cost_nothing_and_zeros_of_the_predictor_cost_its_floor():
    human = np.array([[1.0, 0.0], [0.5, 0.5]])
    drawn = np.array([[[1.0, 0.0]], [[1.0, 0.0]]])
    found = kl_divergence(human, drawn, floor=2.0**-20)
    assert found.ravel().tolist() == pytest.approx([0, 10 - 1])
    assert clipped(human, drawn) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_auc_is_that_of_scikit_learn_for_hard_classes_one_against_the_rest(seed):
    human, drawn = simplexes(seed, n=60, d=3)
    truth = np.eye(4)[human.argmax(axis=1)]
    expected = [
        roc_auc_score(truth, np.eye(4)[drawn[:, d].argmax(axis=1)], average="macro")
        for d in range(3)
    ]
    assert auc(human, drawn) == pytest.approx(expected)


def test_classes_that_people_never_prefer_are_left_out_of_the_auc():
    human = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    drawn = np.array([[[0.9, 0.1, 0]], [[0, 0.1, 0.9]]])
    assert auc(human, drawn) == pytest.approx([(1 + 0.5) / 2])


@given(seeds, st.integers(1, 11))
def test_counts_of_parts_add_up_to_the_auc_of_the_whole(seed, at):
    human, drawn = simplexes(seed)
    human[0], human[1] = [1, 0, 0, 0], [0, 1, 0, 0]
    parts = [(human[:at], drawn[:at]), (human[at:], drawn[at:])]
    hits, likeliest = (sum(of) for of in zip(*(class_hits(*p) for p in parts), strict=True))
    counts = sum(class_counts(*part) for part in parts)
    assert (hits == np.diagonal(counts, axis1=1, axis2=2)).all()
    assert (likeliest == counts.sum(axis=1)).all()
    assert auc_of_hits(hits, likeliest, counts[0].sum(axis=1)) == pytest.approx(auc(human, drawn))


def test_an_auc_of_one_class_is_refused():
    human = np.array([[0.9, 0.1], [0.8, 0.2]])
    with pytest.raises(EvaluatorError, match="one and the same class for every item"):
        auc(human, np.repeat(human[:, None], 2, axis=1))


def test_a_function_of_the_user_is_a_measure_and_its_mistakes_are_told():
    human, drawn = simplexes(1)
    half = Measure("tv", "total variation", "", lambda y, x: abs(x - y[:, None]).sum(axis=2) / 2)
    assert measured(half, human, drawn).shape == (12, 7)
    with pytest.raises(EvaluatorError, match=r"shape \(12,\), expected \(12, 7\)"):
        measured(Measure("bad", "", "", lambda y, _: y[:, 0]), human, drawn)
    with pytest.raises(EvaluatorError, match="84 numbers that are not finite"):
        measured(Measure("inf", "", "", lambda _, x: x[:, :, 0] * np.inf), human, drawn)


def test_the_measures_of_a_perfect_predictor_are_best():
    human, _ = simplexes(3, n=40)
    for measure in MEASURES.values():
        best = measured(measure, human, human[:, None])
        assert best == pytest.approx(
            np.full(best.shape, measure.high if measure.is_better_high else measure.low)
        )
