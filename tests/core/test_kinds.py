"""The prior of the kinds of errors, learnt from those seen."""

import numpy as np
import pytest
from scipy import stats

from worker.core.kinds import expected_kinds, fit_kinds

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


def test_a_kind_that_all_cells_together_show_is_expected_of_cells_without_errors():
    share = np.tile([0.5, 0.5], (40, 1))
    counts = np.zeros((40, 2), np.int64)
    counts[:20] = [2, 0]  # nobody has enough of them to tell alone
    found = fit_kinds(counts, share, np.ones((40, 2), bool))
    assert found[30, 0] / found[30].sum() > 0.8


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
