"""The baselines that know nothing of the human label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from worker.evaluator.contract import EVALUATORS, Options
from worker.evaluator.errors import EvaluatorError

HUMAN = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8], [1.0, 0.0, 0.0]])


def fitted(name, human, predicted):
    return EVALUATORS[name](human, predicted, options=Options(), seed=1)


def drawn_predictions(seed, alpha, n=200):
    return np.random.default_rng(seed).dirichlet(alpha, n)


@given(st.integers(0, 2**32), st.lists(st.floats(0.2, 30), min_size=2, max_size=6))
@settings(max_examples=30)
def test_no_other_precision_is_likelier(seed, alpha):
    predicted = drawn_predictions(seed, alpha)
    human = np.full(predicted.shape, 1 / len(alpha))
    found = fitted("dirichlet", human, predicted)
    mean = predicted.mean(axis=0)
    assert found.mean == pytest.approx(mean, abs=1e-12)

    def surprise(log_precision):
        return -stats.dirichlet(np.exp(log_precision) * mean).logpdf(predicted.T).sum()

    best = minimize_scalar(surprise, bracket=(-1.0, 2.0), tol=1e-9)
    assert np.log(found.precision) == pytest.approx(best.x, abs=1e-4)


def test_the_precision_of_drawn_predictions_is_found_again():
    predicted = drawn_predictions(3, [2.0, 6.0, 12.0], 20_000)
    found = fitted("dirichlet", np.full(predicted.shape, 1 / 3), predicted)
    assert found.precision == pytest.approx(20.0, rel=0.03)
    assert found.mean == pytest.approx([0.1, 0.3, 0.6], abs=0.003)


def test_several_predictions_of_an_item_count_as_several_items():
    human = np.full((100, 3), 1 / 3)
    predicted = drawn_predictions(4, [2.0, 1.0, 3.0], 300)
    together = fitted("dirichlet", human, predicted.reshape(100, 3, 3))
    apart = fitted("dirichlet", np.full((300, 3), 1 / 3), predicted)
    assert together.alpha == pytest.approx(apart.alpha, rel=1e-9)


@pytest.mark.parametrize("name", ["uniform", "dirichlet"])
def test_draws_follow_the_distribution_whatever_the_human_label(name):
    predicted = drawn_predictions(5, [4.0, 2.0, 1.0], 500)
    found = fitted(name, np.full(predicted.shape, 1 / 3), predicted)
    drawn = found.sample(HUMAN, 4000, np.random.default_rng(1))
    assert drawn.shape == (3, 4000, 3)
    assert drawn.sum(axis=2) == pytest.approx(1.0)
    for item in drawn:
        for k, a in enumerate(found.alpha):
            distribution = stats.beta(a, found.alpha.sum() - a)
            assert stats.kstest(item[:, k], distribution.cdf).pvalue > 1e-4
    if name == "uniform":
        assert found.alpha.tolist() == [1.0, 1.0, 1.0]


def test_predictions_of_zero_are_possible():
    rng = np.random.default_rng(6)
    predicted = np.concatenate([np.eye(3), rng.dirichlet(np.ones(3), 50)])
    found = fitted("dirichlet", np.full(predicted.shape, 1 / 3), predicted)
    assert 0 < found.precision < 3


def test_predictions_that_are_all_the_same_have_no_likeliest_precision():
    predicted = np.tile([0.2, 0.3, 0.5], (3, 1))
    with pytest.raises(EvaluatorError, match="all 3 predictions are the same"):
        fitted("dirichlet", HUMAN, predicted)


@pytest.mark.parametrize("name", EVALUATORS)
class TestEveryEvaluatorRefuses:
    def test_a_single_class(self, name):
        with pytest.raises(EvaluatorError, match="one class"):
            fitted(name, np.ones((3, 1)), np.ones((3, 1)))

    def test_items_without_votes(self, name):
        human = HUMAN.copy()
        human[1] = np.nan
        with pytest.raises(EvaluatorError, match=r"1 rows of the human labels.*row 1"):
            fitted(name, human, HUMAN)

    def test_frequencies_that_do_not_sum_to_one(self, name):
        with pytest.raises(EvaluatorError, match="divide counts by their sum"):
            fitted(name, 7 * HUMAN, HUMAN)

    def test_negative_probabilities(self, name):
        with pytest.raises(EvaluatorError, match="predictions are no probabilities"):
            fitted(name, HUMAN, HUMAN + np.array([0.5, -0.5, 0.0]))

    def test_predictions_of_other_items_or_classes(self, name):
        for predicted in (HUMAN[:2], np.full((3, 4), 0.25), np.ones(3)):
            with pytest.raises(EvaluatorError, match=r"pass \(3, 3\), or \(3, R, 3\)"):
                fitted(name, HUMAN, predicted)

    def test_no_item(self, name):
        with pytest.raises(EvaluatorError, match="one or more items"):
            fitted(name, np.empty((0, 3)), np.empty((0, 3)))


def test_labels_of_other_classes_are_refused_when_sampling():
    found = fitted("uniform", HUMAN, HUMAN)
    with pytest.raises(EvaluatorError, match="fitted to 3"):
        found.sample(np.full((1, 2), 0.5), 10, np.random.default_rng(1))


@pytest.mark.parametrize(
    "wrong", [{"sigma2": 0.0}, {"chains": 1}, {"draws": 1}, {"hidden": 0}, {"prior": "flat"}]
)
def test_options_that_cannot_be_are_refused(wrong):
    with pytest.raises(EvaluatorError, match=f"{next(iter(wrong))} is .* but must be"):
        Options(**wrong)
