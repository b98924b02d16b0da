"""Earlier labels in the prior: worth what the new labels say that they are worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from worker.core.drift.history import (
    DISCOUNTS,
    Prior,
    believed_share,
    drift,
    full_worth,
    no_rate,
    weight_of_discounts,
    with_history,
)
from worker.core.posterior.belief import Belief
from worker.core.posterior.metrics import Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters, Scores, unfitted

GROUP = np.array([0, 0, 1, 1, 1])
SIZE = np.full(5, 60)
NONE = np.zeros(5, dtype=np.int64)


def plain(n_components=13):
    """A prior that depends on scores, with the group effect on so many components."""
    logits = np.array([0.5, 2.0, -0.5, 1.0, 3.0])
    alpha, beta, mixture = prior_of(
        Hyperparameters(), Scores(logits, np.zeros(5)), unfitted().covariance
    )
    return Prior(
        alpha[:, :n_components],
        beta[:, :n_components],
        mixture[:n_components] / mixture[:n_components].sum(),
    )


def believed(prior, right=NONE, wrong=NONE, population="finite"):
    return Belief(
        GROUP, SIZE, right, wrong, prior.alpha, prior.beta, 2, population, mixture=prior.mixture
    )  # fmt: skip


counts = st.lists(st.integers(0, 12), min_size=10, max_size=10).map(
    lambda n: np.array(n).reshape(5, 2)
)


@given(counts, counts)
def test_of_full_worth_earlier_labels_are_labels(history, new):
    before = plain()
    worth = with_history(before, GROUP, 2, history, full_worth())
    both = history + new
    as_labels = moments(believed(before, both[:, 0], both[:, 1], "infinite"))
    as_history = moments(believed(worth, new[:, 0], new[:, 1], "infinite"))

    np.testing.assert_allclose(as_history.weight, as_labels.weight, atol=1e-9)
    np.testing.assert_allclose(as_history.mean, as_labels.mean, atol=1e-9)
    np.testing.assert_allclose(as_history.variance, as_labels.variance, atol=1e-9)


@given(counts)
def test_without_earlier_labels_no_discount_says_anything(new):
    before = plain()
    same = with_history(before, GROUP, 2, np.zeros((5, 2), np.int64), no_rate())
    b = believed(same, new[:, 0], new[:, 1])
    np.testing.assert_allclose(weight_of_discounts(b), np.tile(no_rate(), (2, 1)), atol=1e-9)
    np.testing.assert_allclose(mean(b), mean(believed(before, new[:, 0], new[:, 1])), atol=1e-9)


@given(counts, counts, st.floats(0.05, 0.9))
def test_a_groups_discounts_are_weighed_by_bayes_rule(history, new, first):
    before = plain(3)
    rate = np.array([first, *np.full(4, (1 - first) / 4)])
    b = believed(with_history(before, GROUP, 2, history, rate), new[:, 0], new[:, 1])
    for g in range(2):
        own = np.flatnonzero(g == GROUP)
        expected = np.zeros(DISCOUNTS.size)
        for i, discount in enumerate(DISCOUNTS):
            # what the group's discounted labels say of the component, by a ratio of Beta functions
            of_component = before.mixture.copy()
            likely = np.ones(3)
            for c in own:
                a, d = before.alpha[c], before.beta[c]
                more = a + discount * history[c, 0], d + discount * history[c, 1]
                of_component = of_component * np.exp(special.betaln(*more) - special.betaln(a, d))
                n = int(new[c].sum())
                likely *= [
                    stats.betabinom(n, x, y).pmf(new[c, 0]) for x, y in zip(*more, strict=True)
                ]
            expected[i] = rate[i] * (of_component / of_component.sum()) @ likely
        got = weight_of_discounts(b)[g]
        np.testing.assert_allclose(got, expected / expected.sum(), atol=1e-8)


def test_a_pool_that_shares_its_component_shares_its_discount():
    history = np.array([[30, 3]] * 5)
    prior = with_history(plain(), GROUP, 2, history, no_rate(), is_pooled=True)
    pooled = Metric("ece", score=np.full(5, 0.8), unit=NONE, pooled=True)
    b = Belief(GROUP, SIZE, NONE + 9, NONE + 1, prior.alpha, prior.beta, 2,
               mixture=prior.mixture, metric=pooled)  # fmt: skip
    assert prior.mixture.ndim == 1
    found = weight_of_discounts(b)
    np.testing.assert_allclose(found[0], found[1])


def simulated(n_groups, changed, seed=0, n=40):
    """Many groups with as many labels then and now; of some the accuracy is another one now."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_groups)
    then = rng.beta(8, 2, n_groups)
    now = np.where(rng.random(n_groups) < changed, rng.beta(2, 8, n_groups), then)
    alpha, beta, mixture = np.full((n_groups, 1), 4.0), np.full((n_groups, 1), 1.0), np.ones(1)
    right = rng.binomial(n, then)
    history = np.stack([right, n - right], axis=1)
    prior = with_history(Prior(alpha, beta, mixture), group, n_groups, history, no_rate())
    is_right = rng.binomial(n, now)
    return Belief(group, np.full(n_groups, 1000), is_right, n - is_right, prior.alpha, prior.beta,
                  n_groups, mixture=prior.mixture), then != now  # fmt: skip


def test_the_rate_of_drift_is_learnt_from_all_groups():
    still, _ = simulated(60, 0.0)
    moved, _ = simulated(60, 1.0)
    assert drift(still, no_rate()) @ DISCOUNTS > 0.6
    assert drift(moved, no_rate()) @ DISCOUNTS < 0.1


def test_without_new_labels_the_rate_is_even():
    b, _ = simulated(20, 0.0)
    none = np.zeros(20, dtype=np.int64)
    before = Belief(b.group, b.size, none, none, b.alpha, b.beta, 20, mixture=b.mixture)
    np.testing.assert_allclose(drift(before, no_rate()), no_rate(), atol=0.02)


def test_groups_that_changed_are_believed_less_than_those_that_did_not():
    b, changed = simulated(100, 0.3)
    share = believed_share(b)
    assert share[changed].mean() < 0.1 < share[~changed].mean()


@pytest.mark.parametrize(
    ("history", "rate", "says"),
    [
        (np.zeros((4, 2), int), no_rate(), "shape (4, 2)"),
        (np.full((5, 2), -1), no_rate(), "least entry of -1"),
        (np.zeros((5, 2), int), np.ones(5), "sum to 1"),
        (np.zeros((5, 2), int), np.ones(2) / 2, "each of the 5 discounts"),
    ],
)
def test_what_does_not_fit_is_refused(history, rate, says):
    with pytest.raises(ValueError, match=r".") as error:
        with_history(plain(), GROUP, 2, history, rate)
    assert says in str(error.value)


def test_components_of_groups_must_be_one_row_a_group():
    p = plain()
    with pytest.raises(ValueError, match="expected 2 rows"):
        believed(Prior(p.alpha, p.beta, np.tile(p.mixture, (3, 1))))
