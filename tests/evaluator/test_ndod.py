"""The normal distribution of the differences, within the simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.amount import IS_SHORT
from worker.evaluator.contract import EVALUATORS, Options
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.noise import add_noise
from worker.evaluator.simplex import Simplex
from worker.evaluator.truncated import truncated_normal

CHAINS_ONLY, N_DRAWS = 2.0, 2_000 if IS_SHORT else 10_000


def fitted(name, human, predicted):
    return EVALUATORS[name](human, predicted, options=Options(), seed=1)


def factor_of(k, seed, least=0.05, most=0.3):
    """A full-rank covariance's factor: orthogonal columns of these lengths that sum to 0."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))[0]
    return Simplex(k).rotation @ (axes * rng.uniform(least, most, k - 1))


def same_distribution(one, other):
    """The mean and the second moments of (D, K) draws agree within 5 standard errors."""
    for f in (lambda p: p, lambda p: p**2, lambda p: p * np.roll(p, 1, axis=1), np.sqrt):
        a, b = f(one), f(other)
        error = np.sqrt(a.var(axis=0) / (len(a) / 5) + b.var(axis=0) / (len(b) / 5))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 5 * error + 1e-9).all()


class TestTheFit:
    @given(st.integers(2, 6), st.integers(0, 2**32))
    @settings(max_examples=25)
    def test_it_is_unbiased(self, k, seed):
        rng = np.random.default_rng(seed)
        human, predicted = rng.dirichlet(np.ones(k), (2, 30))
        apart = Simplex(k).down(predicted) - Simplex(k).down(human)
        free, zero = fitted("ndod", human, predicted), fitted("zero-mean-ndod", human, predicted)
        assert free.mean == pytest.approx(apart.mean(axis=0), abs=1e-12)
        assert free.covariance == pytest.approx(np.cov(apart.T).reshape(k - 1, -1), abs=1e-12)
        assert not zero.mean.any()
        assert zero.covariance == pytest.approx(apart.T @ apart / 30, abs=1e-12)

    def test_several_predictions_of_an_item_count_as_several_items(self):
        rng = np.random.default_rng(1)
        human, predicted = rng.dirichlet(np.ones(3), 10), rng.dirichlet(np.ones(3), (10, 4))
        together = fitted("ndod", human, predicted)
        apart = fitted("ndod", np.repeat(human, 4, axis=0), predicted.reshape(40, 3))
        assert together.covariance == pytest.approx(apart.covariance, abs=1e-12)

    def test_one_prediction_has_no_covariance_but_one_about_zero(self):
        human, predicted = np.array([[0.4, 0.6]]), np.array([[0.5, 0.5]])
        with pytest.raises(EvaluatorError, match="has no covariance"):
            fitted("ndod", human, predicted)
        assert fitted("zero-mean-ndod", human, predicted).covariance == pytest.approx(0.02)


class TestTheDistributionWithinTheSimplex:
    @pytest.mark.parametrize("centre", [-0.4, 0.0, 0.1, 0.5, 1.0, 1.7])
    @pytest.mark.parametrize("sd", [0.002, 0.05, 0.5, 4.0])
    @pytest.mark.parametrize("least_accepted", [CHAINS_ONLY, 0.1])
    def test_with_two_classes_it_is_the_truncated_normal(self, centre, sd, least_accepted):
        factor = np.array([[sd], [-sd]])
        place = np.array([[centre, 1 - centre]])
        rng = np.random.default_rng(1)
        drawn = truncated_normal(place, factor, 2000, rng, least_accepted)
        distribution = stats.truncnorm((0 - centre) / sd, (1 - centre) / sd, centre, sd)
        assert drawn.sum(axis=2) == pytest.approx(1.0)
        outside = max(-centre, centre - 1.0)
        if outside / sd < 30:  # scipy's own tail ends before the next case
            assert stats.kstest(drawn[0, :, 0], distribution.cdf).pvalue > 1e-4
        else:  # so far out it is exponential
            inwards = drawn[0, :, 0] if centre < 0 else drawn[0, :, 1]
            assert stats.kstest(inwards, stats.expon(scale=sd**2 / outside).cdf).pvalue > 1e-4

    @pytest.mark.parametrize("seed", range(3 if IS_SHORT else 10))
    @pytest.mark.parametrize("k", [3, 5])
    def test_chains_draw_from_the_distribution_that_rejection_draws_from(self, k, seed):
        rng = np.random.default_rng(seed)
        factor = factor_of(k, seed)
        centre = rng.dirichlet(np.full(k, 0.5), 3) + rng.normal(size=(3, k - 1)) @ factor.T / 4
        drawn = truncated_normal(centre, factor, N_DRAWS, rng, CHAINS_ONLY)
        for c, chains in zip(centre, drawn, strict=True):
            proposed = c + rng.normal(size=(400_000, k - 1)) @ factor.T
            same_distribution(chains, proposed[(proposed >= 0).all(axis=1)])

    @pytest.mark.parametrize("sigma2", [0.001, 0.02, 0.1, 1.0])
    @pytest.mark.parametrize("k", [4, 20])
    def test_around_vertices_too_it_is_the_distribution_that_exact_tilting_draws_from(
        self, k, sigma2
    ):
        """Rejection would accept less than one proposal in 10^5 here."""
        rng = np.random.default_rng(k)
        centre = np.stack([np.eye(k)[0], np.full(k, 1 / k), np.eye(k)[k - 1] / 2 + 0.5 / k])
        factor = np.sqrt(sigma2) * Simplex(k).rotation
        chains = truncated_normal(centre, factor, N_DRAWS, rng, CHAINS_ONLY)
        exact = add_noise(np.repeat(centre[:, None], N_DRAWS, axis=1), sigma2, rng)
        for one, other in zip(chains, exact, strict=True):
            same_distribution(one, other)

    def test_a_narrow_distribution_far_from_round_is_explored(self):
        k = 4
        axes = np.linalg.qr(np.random.default_rng(2).normal(size=(k - 1, k - 1)))[0]
        factor = Simplex(k).rotation @ (axes * [0.002, 0.02, 0.3])
        centre = np.array([[0.3, 0.3, 0.2, 0.2]])
        rng = np.random.default_rng(3)
        drawn = truncated_normal(centre, factor, N_DRAWS, rng, CHAINS_ONLY)
        proposed = centre + rng.normal(size=(400_000, k - 1)) @ factor.T
        same_distribution(drawn[0], proposed[(proposed >= 0).all(axis=1)])

    @given(st.integers(2, 12), st.integers(0, 2**32), st.integers(1, 90))
    @settings(max_examples=30)
    def test_draws_are_probabilities_and_repeat_with_the_seed(self, k, seed, n_draws):
        rng = np.random.default_rng(seed)
        human, predicted = rng.dirichlet(np.full(k, 0.3), (2, 4 * k))
        found = fitted("ndod", human, predicted)
        human = human[:8]
        human[0] = np.eye(k)[0]
        one, again = (found.sample(human, n_draws, np.random.default_rng(seed)) for _ in "ab")
        assert one.shape == (8, n_draws, k)
        assert (one == again).all()
        assert one.min() >= 0.0
        assert np.abs(one.sum(axis=2) - 1).max() < 1e-12

    def test_draws_of_an_item_are_nearly_independent(self):
        k, n = 10, 200
        factor = factor_of(k, 1, 0.05, 0.15)
        centre = np.repeat(np.eye(k)[:1], n, axis=0)
        drawn = truncated_normal(centre, factor, 400, np.random.default_rng(1))
        between = drawn.mean(axis=1).var(axis=0)
        expected = drawn.var(axis=(0, 1)) / 400
        assert (between / expected < 3.0).all()


class TestADistributionWithoutWidthInSomeDirections:
    def test_predictions_equal_to_the_labels_give_the_labels(self):
        human = np.random.default_rng(1).dirichlet(np.ones(4), 6)
        for name in ("ndod", "zero-mean-ndod"):
            drawn = fitted(name, human, human).sample(human, 5, np.random.default_rng(1))
            assert drawn == pytest.approx(np.repeat(human[:, None], 5, axis=1), abs=1e-6)

    def test_a_class_that_is_never_used_stays_unused(self):
        rng = np.random.default_rng(2)
        human, predicted = np.zeros((2, 40, 5))
        human[:, :4], predicted[:, :4] = rng.dirichlet(np.ones(4), (2, 40))
        human[0] = np.eye(5)[1]
        whole = fitted("zero-mean-ndod", human, predicted)
        drawn = whole.sample(human, 2000, np.random.default_rng(3))
        assert drawn[..., 4].max() < 1e-6
        without = fitted("zero-mean-ndod", human[:, :4], predicted[:, :4])
        expected = without.sample(human[:, :4], 2000, np.random.default_rng(4))
        for one, other in zip(drawn[:5, :, :4], expected[:5], strict=True):
            same_distribution(one, other)

    def test_constant_predictions_are_fitted(self):
        human = np.random.default_rng(3).dirichlet(np.ones(3), 50)
        predicted = np.tile([0.2, 0.3, 0.5], (50, 1))
        for name in ("ndod", "zero-mean-ndod"):
            drawn = fitted(name, human, predicted).sample(human, 50, np.random.default_rng(1))
            assert np.isfinite(drawn).all()

    def test_one_direction_alone_is_kept_to(self):
        human = np.array([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]])
        step = np.array([0.1, -0.1, 0.0])
        found = fitted("zero-mean-ndod", human, human + np.array([step, -step]))
        drawn = found.sample(human, 500, np.random.default_rng(1))
        assert drawn[..., 2] == pytest.approx(np.repeat(human[:, 2:], 500, axis=1), abs=1e-6)
        assert drawn[0, :, 0].std() > 0.05

    def test_a_distribution_that_misses_the_simplex_is_refused(self):
        human = np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.1, 0.9, 0.0]])
        moved = human + np.array([-0.1, -0.1, 0.2])
        found = fitted("ndod", human, moved)
        with pytest.raises(EvaluatorError, match="lies outside the simplex"):
            found.sample(np.eye(3)[:1] * 0 + [[0.0, 1.0, 0.0]], 10, np.random.default_rng(1))


class TestNoise:
    def test_it_is_the_distribution_that_rejection_draws_from(self):
        rng = np.random.default_rng(5)
        centre = np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]])
        drawn = add_noise(np.repeat(centre[:, None], N_DRAWS, axis=1), 0.05, rng)
        for c, one in zip(centre, drawn, strict=True):
            proposed = c + rng.normal(size=(400_000, 2)) @ (np.sqrt(0.05) * Simplex(3).rotation).T
            same_distribution(one, proposed[(proposed >= 0).all(axis=1)])

    def test_every_draw_has_a_centre_of_its_own(self):
        rng = np.random.default_rng(6)
        centre = rng.dirichlet(np.ones(6), (4, 300))
        drawn = add_noise(centre, 1e-6, rng)
        assert np.abs(drawn - centre).max() < 0.02

    @pytest.mark.parametrize("sigma2", [1e-8, 1e-3, 10.0, 1e4])
    def test_any_variance_gives_probabilities(self, sigma2):
        rng = np.random.default_rng(7)
        centre = np.concatenate(
            [rng.dirichlet(np.full(100, 0.05), (3, 5)), np.eye(100)[:3, None].repeat(5, 1)]
        )
        drawn = add_noise(centre, sigma2, rng)
        assert drawn.min() >= 0.0
        assert drawn.sum(axis=2) == pytest.approx(1.0)
