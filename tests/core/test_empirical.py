"""The prior that is learnt from the labels, of rates and of kinds of errors, and when."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from worker.core.empirical import (
    GRID,
    NODE,
    WEAK,
    Hyperparameters,
    Scores,
    evidence,
    fit,
    loss,
    prior_of,
)
from worker.core.kinds import expected_kinds, fit_kinds
from worker.core.schedule import POINTS, epoch, is_due, stage


def pool(seed=0, n_groups=60, n_cells=8):
    """Groups and scores of a pool with `n_cells` score strata in every group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), n_cells)
    cell = np.tile(np.linspace(-1, 5, n_cells), n_groups) + rng.normal(0, 0.2, group.size)
    return group, Scores(cell, rng.normal(0, 0.6, n_groups)[group])


def labels_of(h, group, scores, n, seed=1):
    """Right and wrong answers among `n` labels a cell, drawn from the model."""
    rng = np.random.default_rng(seed)
    alpha, beta, node = prior_of(h, scores)
    of = np.arange(group.size), rng.choice(node.size, group.max() + 1, p=node)[group]
    right = rng.binomial(n, rng.beta(alpha[of], beta[of]))
    return right, n - right


TRUTHS = [
    Hyperparameters(0.3, 0.9, 0.2, 2.0, -1.0, -5.0),
    Hyperparameters(-0.8, 0.4, -0.3, 3.0, -0.3, -4.0),
    Hyperparameters(1.2, 0.2, 0.5, 1.5, -1.5, -5.0),
]


SURE = Hyperparameters(3.0, 4.0, 0.5, 3.0, 0.5, -12.0)  # rates held at their bounds


def standardised(h):
    """The hyperparameters as the fit sees them."""
    return (np.array(astuple(h)) - WEAK[:, 0]) / WEAK[:, 1]


@pytest.mark.parametrize("h", [*TRUTHS, SURE])
def test_the_gradient_is_that_of_finite_differences(h):
    group, scores = pool(n_groups=9)
    right, wrong = labels_of(h, group, scores, np.random.default_rng(3).integers(0, 9, group.size))
    seen = evidence(right, wrong, group, scores)
    z = standardised(h) + 0.2
    found = loss(z, seen)[1]
    expected = optimize.approx_fprime(z, lambda q: loss(q, seen)[0], 1e-6)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_the_loss_is_the_marginal_likelihood_with_its_weak_prior():
    h = TRUTHS[0]
    group, scores = pool(n_groups=3, n_cells=2)
    right, wrong = labels_of(h, group, scores, np.array([0, 3, 5, 1, 0, 0]))
    alpha, beta, node = prior_of(h, scores)
    expected = 0.0
    for g in range(3):
        by_node = node.copy()
        for c in np.flatnonzero(group == g):
            n = right[c] + wrong[c]
            # the number of orders of the labels does not depend on the hyperparameters
            by_node *= stats.betabinom(n, alpha[c], beta[c]).pmf(right[c]) / special.comb(
                n, right[c]
            )
        expected += np.log(by_node.sum())
    z = standardised(h)
    expected -= 0.5 * z @ z
    assert loss(z, evidence(right, wrong, group, scores))[0] == pytest.approx(-expected)


@pytest.mark.parametrize("h", TRUTHS)
def test_many_labels_tell_what_generated_them(h):
    group, scores = pool(n_groups=200)
    found = fit(*labels_of(h, group, scores, 12), group, scores)
    assert found.a == pytest.approx(h.a, abs=0.25)
    assert found.b == pytest.approx(h.b, abs=0.12)
    assert found.d == pytest.approx(h.d, abs=0.25)
    assert found.log_s == pytest.approx(h.log_s, abs=0.5)
    assert found.log_tau == pytest.approx(h.log_tau, abs=0.6)


def test_some_tens_of_labels_overrule_the_belief_that_scores_are_right():
    group, scores = pool(n_groups=20)
    rng = np.random.default_rng(5)
    n = rng.multinomial(60, np.full(group.size, 1 / group.size))
    right = rng.binomial(n, 0.5)  # the scores say nothing
    alpha, beta, node = prior_of(fit(right, n - right, group, scores), scores)
    rate = (alpha / (alpha + beta)) @ node
    alpha, beta, _ = prior_of(Hyperparameters(), scores)
    first = (alpha / (alpha + beta)) @ node
    assert abs(rate - 0.5).mean() < 0.5 * abs(first - 0.5).mean()


def test_without_labels_the_weak_prior_decides():
    group, scores = pool(n_groups=3)
    none = np.zeros(group.size, np.int64)
    assert fit(none, none, group, scores) == Hyperparameters()
    assert astuple(Hyperparameters()) == tuple(WEAK[:, 0])


def test_the_same_tally_gives_the_same_fit():
    group, scores = pool(n_groups=10)
    right, wrong = labels_of(TRUTHS[0], group, scores, 2)
    assert fit(right, wrong, group, scores) == fit(right.copy(), wrong.copy(), group, scores)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.lists(st.floats(-12, 12), min_size=24, max_size=24),
)
def test_any_labels_can_be_fitted(labels, logits):
    right, wrong = np.array(labels).T
    n = right.size
    scores = Scores(np.array(logits[:n]), np.array(logits[-n:]))
    found = fit(right, wrong, np.arange(n) // 3, scores)
    assert np.isfinite(astuple(found)).all()
    alpha, beta, _ = prior_of(found, scores)
    assert ((alpha > 0) & (beta > 0) & np.isfinite(alpha + beta)).all()


@given(
    st.tuples(*(st.floats(m - 3 * s, m + 3 * s) for m, s in WEAK.tolist())),
    st.lists(st.floats(-12, 12), min_size=1, max_size=5),
)
def test_any_hyperparameters_make_a_sound_prior(h, logits):
    alpha, beta, node = prior_of(Hyperparameters(*h), Scores(np.array(logits), np.zeros(1)))
    assert alpha.shape == beta.shape == (len(logits), node.size)
    assert (alpha > 0).all()
    assert (beta > 0).all()
    assert np.isfinite(alpha + beta).all()
    assert node.sum() == pytest.approx(1)
    if h[1] > 0:
        order = np.argsort(logits)
        rate = (alpha / (alpha + beta))[order]
        assert (np.diff(rate, axis=0) >= -1e-12).all()


def test_the_nodes_stand_for_a_standard_normal():
    curve = (lambda u: special.expit(1 + u), 1e-3)
    for f, abs_error in ((lambda u: u, 1e-12), (np.square, 0.03), curve):
        expected = integrate.quad(lambda u, f=f: f(u) * stats.norm.pdf(u), -9, 9)[0]
        assert NODE @ f(GRID) == pytest.approx(expected, abs=abs_error)


SHARE = np.array([[0.7, 0.2, 0.08, 0.02], [0.05, 0.05, 0.1, 0.8]] * 15)
POSSIBLE = np.ones(SHARE.shape, bool)


def errors_of(expected, strength, n, seed=0):
    """Kinds of `n` errors a cell, drawn from the model."""
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(n, rng.dirichlet(strength * row)) for row in expected])


@pytest.mark.parametrize("strength", [1.0, 16.0])
@pytest.mark.parametrize(("power", "mix"), [(1.0, 0.05), (0.5, 0.5)])
def test_the_kinds_prior_is_like_the_one_that_made_the_errors(power, mix, strength):
    expected = expected_kinds(SHARE, POSSIBLE, power, mix)
    found = fit_kinds(errors_of(expected, strength, 30), SHARE, POSSIBLE)
    total = found.sum(axis=1, keepdims=True)
    assert strength / 2 <= total[0, 0] <= strength * 2
    assert found / total == pytest.approx(expected, abs=0.12)


def test_the_kinds_prior_prefers_what_generated_the_errors():
    def fits(prior, counts):
        whole = zip(prior, counts, strict=True)
        return sum(stats.dirichlet_multinomial(a, n.sum()).logpmf(n) for a, n in whole)

    believed = expected_kinds(SHARE, POSSIBLE, 1.0, 0.05)
    for truth in (believed, np.full(SHARE.shape, 0.25)):
        counts = errors_of(truth, 8.0, 20, seed=2)
        found = fit_kinds(counts, SHARE, POSSIBLE)
        for power, mix, strength in ((1.0, 0.05, 8.0), (0.5, 0.5, 8.0), (0.75, 0.2, 2.0)):
            other = strength * expected_kinds(SHARE, POSSIBLE, power, mix)
            assert fits(found, counts) >= fits(other, counts) - 1  # the weak prior's part


def test_without_errors_the_kinds_are_the_classifiers_held_with_four_counts():
    found = fit_kinds(np.zeros(SHARE.shape, np.int64), SHARE, POSSIBLE)
    assert found.sum(axis=1) == pytest.approx(4)
    assert (found.argmax(axis=1) == SHARE.argmax(axis=1)).all()


def test_an_impossible_kind_of_error_gets_no_count():
    possible = POSSIBLE.copy()
    possible[0, 1] = False
    found = fit_kinds(np.zeros(SHARE.shape, np.int64), SHARE, possible)
    assert found[0, 1] == 0
    assert (found[possible] > 0).all()
    assert found.sum(axis=1) == pytest.approx(found[0].sum())


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_stage_is_fitted_to_the_claims_of_the_epochs_before_it(n_labels, claim):
    k = stage(n_labels)
    assert (epoch(claim) < k) == (k > 0 and claim < POINTS[k - 1])
    assert k == 0 or POINTS[k - 1] <= n_labels
    assert n_labels < POINTS[k]


@given(st.integers(0, 10**6))
def test_a_refit_is_due_where_a_new_stage_begins(n_labels):
    assert is_due(n_labels) == (n_labels > 0 and stage(n_labels) > stage(n_labels - 1))


@given(st.integers(1, 300))
def test_in_the_order_of_claims_a_refit_that_is_due_sees_all_labels_so_far(n_labels):
    if is_due(n_labels):
        early = [claim for claim in range(n_labels + 50) if epoch(claim) < stage(n_labels)]
        assert early == list(range(n_labels))


def test_refits_grow_rare_so_that_a_whole_pool_needs_few():
    assert stage(10_000) < 50
    assert stage(1_000_000) < 75
    assert (np.diff(POINTS) >= 4).all()
