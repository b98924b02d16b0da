"""What labels of other groups say of one that has levels of factors in common with them."""

import numpy as np
import pytest
from scipy import special

from worker.core.posterior.belief import Belief
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.factors import levels
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Hyperparameters, Level, Scores

H = Hyperparameters(log_tau=0.0)
PARENT = np.repeat([0, 1], 5)
FLAT = Scores(np.zeros(10), np.zeros(10))
CELLS = np.arange(10)


def told(right, wrong, parent=PARENT):
    return levels(H, FLAT, np.array(right), np.array(wrong), CELLS, np.array([parent]))


def test_without_labels_nothing_is_shifted_and_nothing_left_out():
    shift, left, _ = told([0] * 10, [0] * 10)
    assert shift == pytest.approx(np.zeros(10), abs=1e-12)
    assert left == pytest.approx(np.ones(10), abs=1e-2)


def test_a_groups_own_labels_do_not_shift_it():
    none = [0] * 10
    one = told([30, *none[1:]], none)[0]
    # its siblings rise; what it says of itself is for its posterior
    assert one[0] == pytest.approx(0, abs=1e-9)
    assert (one[1:5] > 0.05).all()
    assert one[5:] == pytest.approx(np.zeros(5), abs=1e-9)


def test_siblings_that_are_alike_narrow_and_parents_apart_shift_each_group_to_its_own():
    shift, left, _ = told([30] * 5 + [2] * 5, [2] * 5 + [30] * 5)
    assert (shift[:5] > 0.4).all()
    assert (shift[5:] < -0.4).all()
    assert (left < 0.6).all()


def test_groups_of_a_level_without_labels_are_left_as_they_are():
    shift, left, _ = told([0] * 5 + [30] * 5, [0] * 5 + [2] * 5, [0] * 5 + [1] * 5)
    assert shift[:5] == pytest.approx(np.zeros(5), abs=1e-12)
    assert left[:5] == pytest.approx(np.ones(5), abs=1e-2)
    assert (shift[5:] > 0.4).all()


def test_without_levels_the_prior_is_the_one_that_it_was():
    plain = prior_of(H, FLAT)
    same = prior_of(H, FLAT, level=Level(np.zeros(10), np.ones(10), np.zeros(10)))
    for a, b in zip(plain, same, strict=True):
        assert (a == b).all()
    risen = prior_of(H, FLAT, level=Level(np.full(10, 1.0), np.full(10, 0.5), np.zeros(10)))
    rate = risen[0] / (risen[0] + risen[1])
    assert (rate @ risen[2] > (plain[0] / (plain[0] + plain[1])) @ plain[2]).all()


def test_shift_and_variance_are_those_of_simulated_siblings():
    """Groups drawn with a known share in common: the standardised effects have variance 1."""
    every, _ = simulated(np.repeat(np.arange(8), 5)[None], (0.6,))
    assert every.mean() == pytest.approx(0, abs=0.06)
    assert every.std() == pytest.approx(1, abs=0.06)


def test_of_a_product_both_factors_tell():
    crossed = np.stack(np.divmod(np.arange(200), 10))
    every, left = simulated(crossed, (0.5, 0.3))
    assert every.mean() == pytest.approx(0, abs=0.06)
    assert every.std() == pytest.approx(1, abs=0.06)
    assert 0.2 < left < 0.36  # .2 of the variance is the groups' own
    assert left < simulated(crossed[:1], (0.5,))[1]


def simulated(factors, shares):
    """Standardised effects of groups drawn with known shares, and what is left of the variance."""
    rng = np.random.default_rng(1)
    scaled, lefts, n_groups = [], [], factors.shape[1]
    for _ in range(60):
        effect = np.sqrt(1 - sum(shares)) * rng.standard_normal(n_groups)
        for of, share in zip(factors, shares, strict=True):
            effect += np.sqrt(share) * rng.standard_normal(of.max() + 1)[of]
        n = rng.integers(0, 40, n_groups)
        right = rng.binomial(n, special.expit(effect))
        h = Hyperparameters(a=0, log_tau=0.0, log_s=7.0)
        flat = Scores(np.zeros(n_groups), np.zeros(n_groups))
        shift, left, _ = levels(h, flat, right, n - right, np.arange(n_groups), factors)
        scaled.append((effect - shift) / np.sqrt(left))
        lefts.append(left.mean())
    return np.concatenate(scaled), float(np.mean(lefts))


def error_of(share: float, is_pooled: bool, n_labels: int = 200, n_runs: int = 12) -> float:
    """Mean squared error of 100 groups' accuracies, labels at random, in 20 parents."""
    errors = []
    parent, group = np.repeat(np.arange(20), 5), np.arange(100)
    scores = Scores(np.zeros(100), np.zeros(100))
    for run in range(n_runs):
        rng = np.random.default_rng([run, 1])
        effect = np.sqrt(share) * rng.standard_normal(20)[parent]
        effect += np.sqrt(1 - share) * rng.standard_normal(100)
        rate = special.expit(1 + effect)
        n = np.bincount(rng.integers(0, 100, n_labels), minlength=100)
        right = rng.binomial(n, rate)
        found = fit(right, n - right, group, scores)
        level = (
            levels(found.mode, scores, right, n - right, group, parent[None]) if is_pooled else None
        )
        alpha, beta, mixture = prior_of(found.mode, scores, found.covariance, level)
        belief = Belief(
            group, np.full(100, 10_000), right, n - right, alpha, beta, 100, mixture=mixture
        )
        errors.append(((mean(belief) - rate) ** 2).mean())
    return float(np.mean(errors))


def test_pooling_lowers_the_error_where_siblings_are_alike_and_hardly_raises_it_where_not():
    alike = error_of(0.8, True) / error_of(0.8, False)
    strangers = error_of(0.0, True) / error_of(0.0, False)
    assert alike < 0.85, alike
    assert strangers < 1.05, strangers
