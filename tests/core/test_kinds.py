"""The prior of the kinds of errors, learnt from those seen."""

import numpy as np
import pytest
from scipy import stats

from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import whole
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.summary import draws
from worker.core.prior.kinds import expected_kinds, fit_kinds

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
    found, _ = fit_kinds(errors_of(expected, strength, 30), SHARE, POSSIBLE)
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
        found, _ = fit_kinds(counts, SHARE, POSSIBLE)
        for power, mix, strength in ((1.0, 0.05, 8.0), (0.5, 0.5, 8.0), (0.75, 0.2, 2.0)):
            other = strength * expected_kinds(SHARE, POSSIBLE, power, mix)
            assert fits(found, counts) >= fits(other, counts) - 1  # the weak prior's part


def test_a_kind_that_all_cells_together_show_is_expected_of_cells_without_errors():
    share = np.tile([0.5, 0.5], (40, 1))
    counts = np.zeros((40, 2), np.int64)
    counts[:20] = [2, 0]  # nobody has enough of them to tell alone
    found, _ = fit_kinds(counts, share, np.ones((40, 2), bool))
    assert found[30, 0] / found[30].sum() > 0.8


def test_without_errors_the_kinds_are_the_classifiers_held_with_three_counts():
    found, _ = fit_kinds(np.zeros(SHARE.shape, np.int64), SHARE, POSSIBLE)
    assert found.sum(axis=1) == pytest.approx(3.2, abs=0.1)
    assert (found.argmax(axis=1) == SHARE.argmax(axis=1)).all()


def test_an_impossible_kind_of_error_gets_no_count():
    possible = POSSIBLE.copy()
    possible[0, 1] = False
    found, _ = fit_kinds(np.zeros(SHARE.shape, np.int64), SHARE, possible)
    assert found[0, 1] == 0
    assert (found[possible] > 0).all()
    assert found.sum(axis=1) == pytest.approx(found[0].sum())


def shares_of_the_first_kind(common, n=60):
    """(draws, n) the cost of groups of which all items are wrong, if only the first kind costs."""
    counts = np.zeros((n, 2), np.int64)
    b = Belief(
        np.arange(n), np.full(n, 200), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.full((n, 1), 1e-6), np.full((n, 1), 1e6), n,
        metric=Metric("cost", values=np.tile([0.0, 1.0, 0.0], (n, 1))),
        errors=Errors(counts, np.full((n, 2), 4.0), np.array(common, float)),
    )  # fmt: skip
    return b, draws(b)


def test_how_frequent_a_kind_is_in_all_cells_is_uncertain_for_all_of_them_together():
    rng = np.random.default_rng(4)
    weight = rng.standard_gamma([3.0, 12.0], (50_000, 2)) / [3.0, 12.0]
    told = weight[:, 0] / weight.sum(axis=1)  # of cells that expect as many of both
    b, drawn = shares_of_the_first_kind([3.0, 12.0])
    assert drawn.mean(axis=1).std() == pytest.approx(told.std(), rel=0.08)
    ends = np.quantile(drawn.mean(axis=1), [0.025, 0.975]).tolist()
    assert whole(b)[2] == pytest.approx(ends[1], abs=1e-3)
    assert ends == pytest.approx(np.quantile(told, [0.025, 0.975]).tolist(), abs=0.03)
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.2


@pytest.mark.parametrize("common", [[], [1e6, 1e6]])
def test_where_that_is_known_the_cells_are_independent(common):
    _, drawn = shares_of_the_first_kind(common)
    assert drawn.mean(axis=1).std() < 0.03
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.1


def test_errors_seen_and_two_foreseen_tell_how_frequent_a_kind_is_in_all_cells():
    counts = np.array([[1, 0], [1, 0], [100, 0]])
    prior, common = fit_kinds(counts, np.ones((3, 2)), np.ones((3, 2), bool))
    strength = prior[0].sum()
    told = 2 / (1 + 1 / strength) + 100 / (1 + 100 / strength)  # many of one cell tell little
    assert common == pytest.approx([2 + told, 2])


def test_what_is_frequent_in_one_cell_alone_is_no_rule_of_all():
    share, possible = np.ones((10, 5)), np.ones((10, 5), bool)
    counts = np.ones((10, 5), np.int64)
    counts[0] = [60, 5, 5, 5, 5]
    found, _ = fit_kinds(counts, share, possible)
    assert found[0] / found[0].sum() == pytest.approx(np.full(5, 0.2), abs=0.01)
    assert found[5, 0] / found[5].sum() < 0.4
    assert found[0].sum() < 16


def test_how_strong_the_prior_is_stays_uncertain_where_few_errors_tell_of_it():
    expected = expected_kinds(SHARE, POSSIBLE, 1.0, 0.05)
    few, _ = fit_kinds(errors_of(expected, 30.0, 2), SHARE, POSSIBLE)
    many, _ = fit_kinds(errors_of(expected, 30.0, 100), SHARE, POSSIBLE)
    assert few[0].sum() < 0.8 * many[0].sum()
