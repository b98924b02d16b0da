"""The prior of a pool's ECE: right for calibrated classifiers, and for all that are not."""

import numpy as np
import pytest
from scipy import special, stats

from tests.amount import IS_SHORT
from tests.core.scored import at_once, at_stop, first, followed, laid_out, made
from worker.core.posterior import calibration_prior
from worker.core.posterior.belief import Belief, group_share
from worker.core.posterior.calibration import is_off
from worker.core.posterior.calibration_prior import shared_prior, with_calibrated
from worker.core.posterior.hypothetical import with_prior
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import draws
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters, Scores
from worker.core.questions.rewards import squared_error


def pool_of(truth="temperature .8", n=2_000, scores="deep net", seed=0):
    return made(scores, truth, n, np.random.default_rng(seed))


def test_the_components_are_probabilities_and_the_last_one_is_the_calibrated_classifier():
    pool = pool_of()
    alpha, beta, mixture = shared_prior(pool.score, pool.size, pool.group)
    assert mixture.sum() == pytest.approx(1)
    assert alpha.shape == beta.shape == (pool.size.size, mixture.size)
    np.testing.assert_allclose((alpha / (alpha + beta))[:, -1], pool.score, rtol=1e-9)


@pytest.mark.parametrize("n", [20, 200])
def test_where_the_components_lie_changes_nothing_but_the_precision(n, monkeypatch):
    # many components from the prior, against few where other and the same labels lay them out
    pool = pool_of()
    b = at_once(pool, n, np.random.default_rng(2))
    before = laid_out(at_once(pool, n // 2, np.random.default_rng(3)), pool)
    other = with_prior(b, before.alpha, before.beta, before.mixture)
    points = np.random.default_rng(4).standard_normal((4_000, 4))
    with monkeypatch.context() as patch:
        patch.setattr(calibration_prior, "_POINTS", points)
        patch.setattr(calibration_prior, "_WIDER", 1.0)
        plain = with_prior(b, *shared_prior(pool.score, pool.size, pool.group))
        expected, variance = moments(plain).total
        calibrated = moments(plain).weight[0, -1]
    for near in (b, other):
        mean, spread = moments(near).total
        assert mean == pytest.approx(expected, abs=0.2 * np.sqrt(variance))
        assert np.sqrt(spread) == pytest.approx(np.sqrt(variance), rel=0.25)
        assert moments(near).weight[0, -1] == pytest.approx(calibrated, abs=0.1)


@pytest.mark.parametrize("scores", ["U-shaped", "very sure"])
def test_components_are_found_where_accuracy_falls_with_the_score(scores):
    # far from where the search begins, and partly beyond what a lapse can explain
    for seed in range(4):
        pool = pool_of("the wrong way round", 5_000, scores, seed)
        weight = moments(at_once(pool, 700, np.random.default_rng(seed))).weight[0]
        assert 1 / (weight**2).sum() > 6  # as if so many had the same weight


def test_several_sets_of_labels_lay_out_the_same_prior():
    pool = pool_of()
    b = at_once(pool, 100, np.random.default_rng(2))
    told = np.stack([b.right, b.wrong], axis=1)
    both = with_prior(
        b, *shared_prior(pool.score, pool.size, pool.group, np.zeros_like(told), told)
    )
    # those that no labels lay out: each bin off alone, and calibrated
    assert both.mixture.size == 2 * b.mixture.size - (b.n_groups + 1)
    mean, variance = moments(b).total
    assert moments(both).total[0] == pytest.approx(mean, abs=0.1 * np.sqrt(variance))


@pytest.mark.parametrize("truth", ["calibrated", "shift -1.2"])
def test_the_error_that_is_expected_is_no_smaller_for_believing_the_classifier_calibrated(truth):
    pool = pool_of(truth)
    b = at_once(pool, 100, np.random.default_rng(6))
    n = b.mixture.size - (b.n_groups + 1)  # those of which no bin is calibrated
    off = with_prior(b, b.alpha[:, :n], b.beta[:, :n], b.mixture[:n] / b.mixture[:n].sum())
    said = whole(b)[0]
    by_all, if_off = (
        variance + (mean - said) ** 2 for mean, variance in (moments(b).total, moments(off).total)
    )
    assert squared_error(b) == pytest.approx(max(by_all, if_off), rel=1e-6)
    if truth == "calibrated":
        assert if_off > 1.5 * by_all


def test_where_one_bin_alone_is_off_the_others_are_not_believed_to_be():
    errors = []
    for seed in range(20):
        pool = pool_of("surest 30% off", 5_000, "five values", seed)
        errors.append(whole(at_once(pool, 700, np.random.default_rng(seed)))[0] - pool.ece)
    assert abs(np.mean(errors)) < 0.01


@pytest.mark.parametrize("truth", ["calibrated", "shift -1.2"])
def test_what_is_published_is_what_the_draws_say(truth):
    pool = pool_of(truth)
    for n in (20, 200):
        b = at_once(pool, n, np.random.default_rng(5))
        drawn = draws(b) @ group_share(b)
        mean, variance = moments(b).total
        assert mean == pytest.approx(drawn.mean(), abs=0.1 * drawn.std())
        assert np.sqrt(variance) == pytest.approx(drawn.std(), rel=0.1)
        median, low, high = whole(b)
        assert median == pytest.approx(np.median(drawn), abs=0.02 * drawn.std())
        assert ((low - 1e-9 <= drawn) & (drawn <= high + 1e-9)).mean() >= 0.95
        first, last = np.quantile(drawn, [0.025, 0.975])
        assert low <= first
        assert last <= high + 0.01 * drawn.std()


def test_scores_of_zero_and_one_and_single_strata_are_no_matter():
    ends = np.array([0.0, 1.0]), np.array([5, 5])
    one = np.array([0.9]), np.array([300])
    for score, size in (ends, one):
        told = np.stack([size // 2, size - size // 2], axis=1)
        bins = np.arange(score.size)
        for arrays in (shared_prior(score, size, bins), shared_prior(score, size, bins, told)):
            assert all(np.isfinite(array).all() and (array > 0).all() for array in arrays)


@pytest.mark.parametrize("wrong", [0, 20])
def test_a_curve_is_never_taken_for_a_calibrated_bin_however_sure_it_is(wrong):
    score, size = np.array([0.5, 0.999]), np.array([10**6, 10**6])
    told = np.array([[5 * 10**5, 5 * 10**5], [10**6 - wrong, wrong]])
    alpha, beta, mixture = shared_prior(score, size, np.arange(2), told)
    metric = Metric("ece", score=score, unit=np.zeros(2, np.int64), pooled=True)
    b = Belief(np.arange(2), size, *told.T, alpha, beta, 2, mixture=mixture, metric=metric)
    strength = (alpha + beta).max(axis=0)[:-3]
    assert strength.max() > 5e5
    np.testing.assert_array_equal(is_off(b), [*np.ones(strength.size, bool), False, False, False])


def test_before_any_label_a_calibration_error_may_be_near_zero_or_large():
    _, low, high = whole(first(pool_of(n=10_000)))
    assert low < 0.02
    assert high > 0.2


def test_a_group_may_be_calibrated_too():
    score, size = np.array([0.6, 0.9]), np.array([50, 50])
    group, none = np.array([0, 1]), np.zeros(2, np.int64)
    prior = prior_of(Hyperparameters(), Scores(special.logit(score), np.zeros(2)))
    right = np.array([30, 45])
    ends = []
    for alpha, beta, mixture in (prior, with_calibrated(*prior, score)):
        metric = Metric("ece", score=score, unit=none)
        b = Belief(
            group, size, right - 10, none + 2, alpha, beta, 2, mixture=mixture, metric=metric
        )
        ends.append(interval(b))
    assert (ends[1] <= ends[0] + 1e-9).all()
    np.testing.assert_allclose(alpha[:, -1] / (alpha + beta)[:, -1], score)


N_RUNS = 12 if IS_SHORT else 60
WORST = [
    ("deep net", "calibrated", 100),
    ("uniform", "calibrated", 100),
    ("uniform", "temperature .8", 200),
    ("very sure", "temperature .8", 100),
    ("deep net", "shift -2.5", 100),
]


@pytest.mark.slow
@pytest.mark.parametrize(("scores", "truth", "n"), WORST)
def test_the_interval_of_a_calibration_error_holds_on_truths_not_of_its_model(scores, truth, n):
    held = 0
    for i in range(N_RUNS):
        rng = np.random.default_rng([i, n])
        pool = made(scores, truth, 5_000, rng, mass=bool(i % 2))
        held += followed(pool, [n], "random", rng)[0][1]
    # .88 is asked of every row; it would fall below this bound once in ten thousand times
    assert held >= stats.binom.ppf(1e-4, N_RUNS, 0.88)


@pytest.mark.slow
def test_a_calibrated_classifier_is_not_said_to_be_off():
    errors = []
    for i in range(N_RUNS):
        rng = np.random.default_rng(i)
        errors.append(followed(made("deep net", "calibrated", 5_000, rng), [100], "random", rng))
    error = np.array(errors, dtype=float)[:, 0, 0]
    assert error.mean() < 0.01 + 4 * error.std() / np.sqrt(N_RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["calibrated", "temperature .8"])
def test_an_error_that_is_asked_for_is_kept_as_often_as_one_standard_deviation(truth):
    runs = 3 if IS_SHORT else 30
    within = 0
    for i in range(runs):
        rng = np.random.default_rng(i)
        n, error = at_stop(made("deep net", truth, 5_000, rng), 0.04, "assay", rng)
        within += abs(error) <= 0.04
        assert n < 1_500
    assert within >= stats.binom.ppf(1e-4, runs, 0.6)
