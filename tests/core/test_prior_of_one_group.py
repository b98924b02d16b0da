"""The prior of a group alone, whose labels its hyperparameters are fitted to."""

import numpy as np
import pytest

from worker.core.posterior.belief import Belief
from worker.core.posterior.moments import moments
from worker.core.prior.empirical import prior_of_one_group
from worker.core.prior.fitting import fit, sampled
from worker.core.prior.hyperparameters import Covariate, Fit, Hyperparameters, Scores

SIZE = np.array([400, 300, 200, 40, 60])
SECOND = np.array([False, False, False, True, True])
LOGITS = np.array([4.0, 2.5, 1.5, 0.5, 2.0])
SCORES = Scores(
    LOGITS,
    np.zeros(5),
    (Covariate(SECOND.astype(np.float64), 0.0, 3.0),),
    second=SECOND,
    log_tau=(-12.0, 1e-3),
)
NONE = np.zeros(5, dtype=np.int64)


def believed(right: np.ndarray, wrong: np.ndarray, *, is_fitted: bool = True) -> Belief:
    """After labels that the prior was fitted to, or that it knows nothing of."""
    seen = (right, wrong) if is_fitted else (NONE, NONE)
    of = fit(*seen, SECOND.astype(np.int64), SCORES)
    alpha, beta, mixture = prior_of_one_group(of, SCORES, SIZE, *seen)
    return Belief(NONE, SIZE, right, wrong, alpha, beta, 1, "finite", mixture)


def test_hyperparameters_sampled_about_a_fit_weigh_as_their_weak_priors_expect() -> None:
    mean, sd = SCORES.weak.T
    of = Fit(Hyperparameters.of(mean + 0.3 * sd), np.diag(0.6 * sd**2))
    h, log_weight = sampled(of, SCORES, 4096)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    z = (h - mean) / sd
    assert weight @ z == pytest.approx(np.zeros(mean.size), abs=0.1)
    assert weight @ z**2 == pytest.approx(np.ones(mean.size), abs=0.15)


def test_labels_that_the_prior_was_fitted_to_do_not_count_twice() -> None:
    right, wrong = np.array([12, 10, 8, 4, 8]), np.array([0, 1, 2, 3, 1])
    after, once = (moments(believed(right, wrong, is_fitted=so)) for so in (True, False))
    assert after.mean == pytest.approx(once.mean, abs=0.02)
    assert (after.variance > 0.9 * once.variance).all()  # with labels counted twice .5


def test_some_labels_without_an_error_do_not_promise_that_there_is_none() -> None:
    right = np.array([10, 10, 10, 0, 0])
    known = moments(believed(right, NONE))
    missed = ((SIZE - right) * (1 - known.rate))[~SECOND].sum()
    assert missed > (SIZE - right)[~SECOND].sum() / 50
