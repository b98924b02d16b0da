"""What earlier labels tell of the curve of accuracy, if the curve is still the same."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from tests.core.drawn_labels import TRUTHS, labels_of, pool, standardised
from worker.core.prior.continuing import fit_continued, log_evidence
from worker.core.prior.fitting import fit, fit_to, loss
from worker.core.prior.likelihood import evidence


def counted(h, group, scores, n, seed):
    right, wrong = labels_of(h, group, scores, n, seed)
    return np.stack([right, wrong], axis=1)


def distance(h, other):
    return float(np.abs(standardised(h) - standardised(other))[:3].max())


def continued(new, before, group, scores):
    alone = log_evidence(before, group, scores)
    return fit_continued(new, before, group, scores, alone)


def test_a_group_that_counts_twice_is_two_groups():
    group, scores = pool(n_groups=6)
    right, wrong = labels_of(TRUTHS[0], group, scores, 3)
    twice = replace(evidence(right, wrong, group, scores), times=np.full(6, 2.0))
    double = type(scores)(np.tile(scores.cell, 2), np.tile(scores.group, 2))
    seen = evidence(np.tile(right, 2), np.tile(wrong, 2), np.r_[group, group + 6], double)
    z = standardised(TRUTHS[1])
    value, slope, _ = loss(z, twice)
    expected, expected_slope, _ = loss(z, seen)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(slope, expected_slope)


def test_the_gradient_of_groups_that_count_in_part_is_that_of_finite_differences():
    group, scores = pool(n_groups=9)
    right, wrong = labels_of(TRUTHS[1], group, scores, 4)
    times = np.linspace(0.1, 1, 9)
    seen = replace(evidence(right, wrong, group, scores), times=times)
    z = standardised(TRUTHS[0])
    slope = optimize.approx_fprime(z, lambda x: loss(x, seen)[0], 1e-6)
    np.testing.assert_allclose(loss(z, seen)[1], slope, rtol=1e-3, atol=1e-3)


def test_the_marginal_likelihood_tells_the_curve_that_made_the_labels():
    group, scores = pool(n_groups=60)
    right, wrong = labels_of(TRUTHS[2], group, scores, 4)
    at = np.random.default_rng(0).permutation(right.size)
    found = fit_to(evidence(right, wrong, group, scores))[1]
    mixed_up = fit_to(evidence(right[at], wrong[at], group, scores))[1]
    assert found > mixed_up + 3


def test_earlier_labels_of_the_same_curve_sharpen_the_fit():
    group, scores = pool(n_groups=60)
    off, open_ = [], []
    for seed in range(2, 9):
        before = counted(TRUTHS[1], group, scores, 6, seed)
        n = np.random.default_rng(seed + 1).integers(0, 2, group.size)
        new = counted(TRUTHS[1], group, scores, n, seed + 1)
        alone = fit(new[:, 0], new[:, 1], group, scores)
        found = continued(new, before, group, scores)
        open_.append([np.diag(of.covariance)[:2].sum() for of in (found, alone)])
        truth = TRUTHS[1].numbers[:3]
        modes = np.array([of.mode.numbers[:3] for of in (found, alone)])
        off.append(np.abs(modes - truth).mean(axis=1))
    with_earlier, without = np.mean(open_, axis=0)
    assert with_earlier < 0.7 * without
    with_earlier, without = np.mean(off, axis=0)
    assert with_earlier < 0.8 * without


def test_earlier_labels_of_another_curve_are_let_go():
    group, scores = pool(n_groups=60)
    before = counted(TRUTHS[2], group, scores, 6, 2)
    new = counted(TRUTHS[1], group, scores, 2, 3)
    alone = fit(new[:, 0], new[:, 1], group, scores)
    found = continued(new, before, group, scores)
    assert distance(found.mode, alone.mode) < 0.2


def test_without_new_labels_all_shares_are_as_likely():
    group, scores = pool(n_groups=20)
    before = counted(TRUTHS[0], group, scores, 4, 2)
    found = continued(np.zeros_like(before), before, group, scores)
    fits = fit(before[:, 0], before[:, 1], group, scores)
    assert (np.diag(found.covariance) >= np.diag(fits.covariance) / 3 - 1e-9).all()
    assert np.isfinite(found.mode.numbers).all()
