"""The prior of the rates of right answers, learnt from the labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from tests.core.drawn_labels import (
    MORE,
    SURE,
    TRUTHS,
    labels_of,
    of_size,
    pool,
    standardised,
    with_more,
)
from worker.core.prior.empirical import GRID, MIXTURE, prior_of, shared_of
from worker.core.prior.fitting import fit, fit_to, loss
from worker.core.prior.hyperparameters import WEAK, Covariate, Hyperparameters, Scores, unfitted
from worker.core.prior.likelihood import evidence, log_likelihood


@pytest.mark.parametrize("h", [*TRUTHS, SURE, MORE])
def test_the_gradient_is_that_of_finite_differences(h):
    group, scores = pool(n_groups=9)
    scores = with_more(scores) if h.weights else scores
    right, wrong = labels_of(h, group, scores, np.random.default_rng(3).integers(0, 9, group.size))
    seen = evidence(right, wrong, group, scores)
    z = standardised(h, scores.weak) + 0.2
    found = loss(z, seen)[1]
    expected = optimize.approx_fprime(z, lambda q: loss(q, seen)[0], 1e-6)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("h", [*TRUTHS, SURE, MORE])
@pytest.mark.parametrize("most", [9, 40])  # labels of a cell: products of factors, gamma functions
def test_the_hessian_is_that_of_finite_differences(h, most):
    group, scores = pool(n_groups=9)
    scores = with_more(scores) if h.weights else scores
    n = np.random.default_rng(4).integers(0, most, group.size)
    right, wrong = labels_of(h, group, scores, n)
    seen = replace(evidence(right, wrong, group, scores), times=np.linspace(0.2, 2, 9))
    p, step = h.numbers + 0.1, 1e-5

    def slope(at):
        return log_likelihood(at, seen)[1]

    found = log_likelihood(p, seen)[2]
    steps = step * np.eye(p.size)
    expected = np.array([slope(p + e) - slope(p - e) for e in steps]) / (2 * step)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("h", [TRUTHS[0], MORE])
def test_the_loss_is_the_marginal_likelihood_with_its_weak_prior(h):
    group, scores = pool(n_groups=3, n_cells=2)
    scores = with_more(scores) if h.weights else scores
    right, wrong = labels_of(h, group, scores, np.array([0, 3, 5, 1, 0, 0]))
    alpha, beta, mixture = prior_of(h, scores)
    expected = 0.0
    for g in range(3):
        by_component = mixture.copy()
        for c in np.flatnonzero(group == g):
            n = right[c] + wrong[c]
            # the number of orders of the labels does not depend on the hyperparameters
            by_component *= stats.betabinom(n, alpha[c], beta[c]).pmf(right[c]) / special.comb(
                n, right[c]
            )
        expected += np.log(by_component.sum())
    z = standardised(h, scores.weak)
    expected -= 0.5 * z @ z
    assert loss(z, evidence(right, wrong, group, scores))[0] == pytest.approx(-expected)


@pytest.mark.parametrize("h", TRUTHS)
def test_many_labels_tell_what_generated_them(h):
    group, scores = pool(n_groups=200)
    found = fit(*labels_of(h, group, scores, 12), group, scores).mode
    assert found.a == pytest.approx(h.a, abs=0.25)
    assert found.b == pytest.approx(h.b, abs=0.12)
    assert found.d == pytest.approx(h.d, abs=0.25)
    assert found.log_s == pytest.approx(h.log_s, abs=0.5)
    assert found.log_tau == pytest.approx(h.log_tau, abs=0.6)


def test_labels_tell_the_weights_of_further_covariates():
    group, scores = pool(n_groups=200)
    scores = with_more(scores)
    found = fit(*labels_of(MORE, group, scores, 12), group, scores)
    assert found.mode.weights == pytest.approx(MORE.weights, abs=0.25)
    assert found.mode.b == pytest.approx(MORE.b, abs=0.12)
    assert (np.diag(found.covariance)[6:] < 0.1**2).all()


def test_a_covariate_that_is_0_in_all_cells_says_nothing_and_changes_nothing():
    group, scores = pool(n_groups=20)
    right, wrong = labels_of(TRUTHS[0], group, scores, 2)
    more = replace(scores, more=(Covariate(np.zeros(group.size), 0.0, 3.0),))
    plain, found = (fit(right, wrong, group, of) for of in (scores, more))
    assert found.mode.numbers[:6] == pytest.approx(plain.mode.numbers, abs=1e-6)
    assert found.mode.weights == (0.0,)
    assert found.covariance[6, 6] == pytest.approx(9.0)
    for a, b in zip(
        prior_of(plain.mode, scores, plain.covariance),
        prior_of(found.mode, more, found.covariance),
        strict=True,
    ):
        assert a == pytest.approx(b)


def test_a_weight_that_no_label_tells_is_uncertain_for_all_groups_together():
    group, scores = pool(n_groups=20)
    apart = np.tile(np.arange(8) % 2, 20).astype(np.float64)
    more = replace(scores, more=(Covariate(apart, 0.0, 3.0),))
    n = np.where(apart == 0, 4, 0)
    right, wrong = labels_of(TRUTHS[0], group, scores, n)
    size = of_size(group)
    plain, found = (fit(right, wrong, group, of) for of in (scores, more))
    load, other = (
        shared_of(fitted, of, size, group, 20).load
        for fitted, of in ((found, more), (plain, scores))
    )
    assert (np.linalg.norm(load, axis=1) > np.linalg.norm(other, axis=1)).all()
    wide, narrow = (
        spread(*prior_of(fitted.mode, of, fitted.covariance))
        for fitted, of in ((found, more), (plain, scores))
    )
    assert (wide[apart == 1] > 2 * narrow[apart == 1]).all()
    assert wide[apart == 0] == pytest.approx(narrow[apart == 0], rel=0.05)


def test_some_tens_of_labels_overrule_the_belief_that_scores_are_right():
    group, scores = pool(n_groups=20)
    rng = np.random.default_rng(5)
    n = rng.multinomial(60, np.full(group.size, 1 / group.size))
    right = rng.binomial(n, 0.5)  # the scores say nothing
    found = fit(right, n - right, group, scores)
    alpha, beta, mixture = prior_of(found.mode, scores, found.covariance)
    rate = (alpha / (alpha + beta)) @ mixture
    alpha, beta, _ = prior_of(Hyperparameters(), scores)
    first = (alpha / (alpha + beta)) @ mixture
    assert abs(rate - 0.5).mean() < 0.5 * abs(first - 0.5).mean()


def test_without_labels_the_weak_prior_decides():
    group, scores = pool(n_groups=3)
    none = np.zeros(group.size, np.int64)
    found = fit(none, none, group, scores)
    assert found.mode == Hyperparameters()
    assert (found.mode.numbers == WEAK[:, 0]).all()
    assert (found.covariance == np.diag(WEAK[:, 1] ** 2)).all()


def test_the_same_tally_gives_the_same_fit():
    group, scores = pool(n_groups=10)
    right, wrong = labels_of(TRUTHS[0], group, scores, 2)
    first, second = (fit(right.copy(), wrong.copy(), group, scores) for _ in range(2))
    assert first.mode == second.mode
    assert (first.covariance == second.covariance).all()


def test_labels_that_count_half_tell_as_much_as_half_of_them():
    group, scores = pool(n_groups=10)
    right, wrong = labels_of(TRUTHS[0], group, scores, 4)
    once = fit(right, wrong, group, scores)
    twice = (np.tile(of, 2) for of in (right, wrong))
    again = Scores(np.tile(scores.cell, 2), np.tile(scores.group, 2))
    half = fit(*twice, np.append(group, group + group.max() + 1), again, times=0.5)
    assert half.mode.numbers == pytest.approx(once.mode.numbers, abs=1e-6)
    assert half.covariance == pytest.approx(once.covariance, abs=1e-6)


@pytest.mark.parametrize("h", TRUTHS)
@pytest.mark.parametrize("n", [1, 6, 12])
def test_at_the_fit_nothing_is_left_to_gain(h, n):
    group, scores = pool(n_groups=40)
    right, wrong = labels_of(h, group, scores, n)
    found, told = fit_to(seen := evidence(right, wrong, group, scores))
    value, slope, _ = loss(standardised(found.mode), seen)
    covariance = found.covariance / np.outer(WEAK[:, 1], WEAK[:, 1])
    assert slope @ covariance @ slope < 1e-9  # squared, in standard deviations
    assert told == pytest.approx(np.linalg.slogdet(covariance)[1] / 2 - value)


def test_the_covariance_is_the_inverse_curvature_at_the_fit():
    group, scores = pool(n_groups=40)
    right, wrong = labels_of(TRUTHS[0], group, scores, 6)
    found = fit(right, wrong, group, scores)
    seen = evidence(right, wrong, group, scores)
    z, step = standardised(found.mode), 1e-2
    curvature = np.empty((6, 6))
    for i, j in np.ndindex(6, 6):
        e, f = step * np.eye(6)[i], step * np.eye(6)[j]
        corners = [loss(z + e + f, seen), loss(z - e - f, seen)]
        sides = [loss(z + e - f, seen), loss(z - e + f, seen)]
        curvature[i, j] = (sum(v for v, *_ in corners) - sum(v for v, *_ in sides)) / (4 * step**2)
    scaled = found.covariance / np.outer(WEAK[:, 1], WEAK[:, 1])
    values, vectors = np.linalg.eigh(curvature)
    least = vectors * np.maximum(values, 1) @ vectors.T  # never less than the weak prior's
    assert scaled == pytest.approx(np.linalg.inv(least), abs=5e-3)


def test_more_labels_make_the_hyperparameters_more_certain_and_never_less_than_the_weak_prior():
    group, scores = pool(n_groups=40)
    found = [
        fit(*labels_of(TRUTHS[0], group, scores, n), group, scores).covariance for n in (1, 4, 16)
    ]
    assert (np.diag(found[0]) <= WEAK[:, 1] ** 2 + 1e-9).all()
    few, some, many = (np.linalg.det(covariance[:4, :4]) for covariance in found)
    assert many < 0.5 * some < 0.25 * few


def spread(alpha, beta, mixture):
    """(C,) variance of the cells' rates under the prior."""
    mean = alpha / (alpha + beta)
    given_component = mean * (1 - mean) / (alpha + beta + 1)
    expected = mean @ mixture
    return (given_component + (mean - expected[:, None]) ** 2) @ mixture


def test_uncertain_hyperparameters_widen_the_prior():
    _, scores = pool(n_groups=3)
    both = np.zeros((6, 6)), unfitted().covariance
    known, unknown = (prior_of(Hyperparameters(), scores, c) for c in both)
    assert (spread(*unknown) > spread(*known)).all()
    assert [a.tolist() for a in known] == [a.tolist() for a in prior_of(Hyperparameters(), scores)]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.lists(st.floats(-12, 12), min_size=24, max_size=24),
)
def test_any_labels_can_be_fitted(labels, logits):
    right, wrong = np.array(labels).T
    n = right.size
    scores = Scores(np.array(logits[:n]), np.array(logits[-n:]))
    found = fit(right, wrong, np.arange(n) // 3, scores)
    assert np.isfinite(found.mode.numbers).all()
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()
    alpha, beta, _ = prior_of(found.mode, scores, found.covariance)
    assert ((alpha > 0) & (beta > 0) & np.isfinite(alpha + beta)).all()


@given(
    st.tuples(*(st.floats(m - 3 * s, m + 3 * s) for m, s in WEAK.tolist())),
    st.lists(st.floats(-12, 12), min_size=1, max_size=5),
)
def test_any_hyperparameters_make_a_sound_prior(h, logits):
    alpha, beta, mixture = prior_of(
        Hyperparameters(*h), Scores(np.array(logits), np.zeros(len(logits)))
    )
    assert alpha.shape == beta.shape == (len(logits), mixture.size)
    assert (alpha > 0).all()
    assert (beta > 0).all()
    assert np.isfinite(alpha + beta).all()
    assert mixture.sum() == pytest.approx(1)
    if h[1] > 0:
        order = np.argsort(logits)
        rate = (alpha / (alpha + beta))[order]
        assert (np.diff(rate, axis=0) >= -1e-12).all()


def test_the_components_stand_for_a_student_s_t_of_variance_1():
    curve = (lambda u: special.expit(1 + u), 1e-3)
    # the components end at 6 standard deviations
    effect = stats.t(4, scale=np.sqrt(1 / 2))
    for f, abs_error in ((lambda u: u, 1e-12), (np.square, 0.07), curve):
        expected = integrate.quad(lambda u, f=f: f(u) * effect.pdf(u), -200, 200, limit=400)[0]
        assert MIXTURE @ f(GRID) == pytest.approx(expected, abs=abs_error)
