"""The intervals of a confusion matrix's entries."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from tests.core.enumeration import exact_atoms, made
from worker.core.posterior.belief import Belief, unlabelled
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.drawing import dirichlets
from worker.core.posterior.entries import confusion_interval
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.intervals import interval
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.moments import moments

MATRIX = Metric("confusion")
TAILS = np.array([0.025, 0.975])


def papers(size, counts, prior, population="finite"):
    """One cell a group, a Dirichlet for all classes: right answers first, then the errors."""
    counts, prior, group = np.array(counts), np.array(prior), np.arange(len(size))
    return Belief(
        group, np.array(size), counts[:, 0], counts[:, 1:].sum(axis=1), prior[:, 0],
        prior[:, 1:].sum(axis=1), len(size), population, metric=MATRIX,
        errors=Errors(counts[:, 1:], prior[:, 1:]),
    )  # fmt: skip


def test_one_dirichlet_a_group_has_beta_binomial_entries():
    size, counts, prior = [60, 30], [[20, 3, 1], [0, 0, 0]], [[1.5, 0.3, 0.2], [0.4, 0.4, 0.2]]
    found = confusion_interval(papers(size, counts, prior))
    for g in range(2):
        behind = np.add(counts[g], prior[g])
        left = size[g] - sum(counts[g])
        for j in range(3):
            to_come = stats.betabinom(left, behind[j], behind.sum() - behind[j]).ppf(TAILS)
            assert found[g, j] == pytest.approx((counts[g][j] + to_come) / size[g])


def test_the_accuracy_of_a_class_reaches_1_where_no_error_was_seen():
    prior = [0.1, 0.4, 0.5]  # by which errors are far more likely
    b = papers([60, 30, 40], [[2, 0, 0], [0, 0, 0], [3, 1, 0]], [prior] * 3)
    assert interval(b)[:2, 1].tolist() == [1.0, 1.0]
    assert interval(b)[2, 1] < 1


def test_one_dirichlet_of_an_endless_group_has_beta_entries():
    counts, prior = [[20, 3, 1]], [[1.5, 0.3, 0.2]]
    found = confusion_interval(papers([99], counts, prior, "infinite"))
    behind = np.add(counts, prior)[0]
    expected = [stats.beta(a, behind.sum() - a).ppf(TAILS) for a in behind]
    assert found[0] == pytest.approx(np.array(expected))


def test_a_large_group_is_nearly_continuous():
    counts, prior = [[200, 30, 1]], [[1.5, 0.3, 0.2]]
    found = confusion_interval(papers([5000], counts, prior))
    behind = np.add(counts, prior)[0]
    for j, a in enumerate(behind):
        exact = (counts[0][j] + stats.betabinom(4769, a, behind.sum() - a).ppf(TAILS)) / 5000
        assert found[0, j] == pytest.approx(exact, abs=1.01 / 5000)


def test_the_entries_of_strata_that_share_a_component_hold_their_level_of_all_completions():
    rng = np.random.default_rng(3)
    for _ in range(8):
        b = made(rng, "confusion", 5, n_cells=(2, 3), n_components=(3,), n_groups=2)
        found = confusion_interval(b, 0.9)
        for g in range(2):
            x, p = exact_atoms(b, g)
            inside = (x >= found[g, :, 0] - 1e-9) & (x <= found[g, :, 1] + 1e-9)
            assert (p @ inside > 0.9 - 0.06).all()
            # no wider than needed: an item less on either side would not do; but for the right
            # answers, whose interval reaches an end that no label speaks against
            own = b.group == g
            first = 0 if b.right[own].any() and b.wrong[own].any() else 1
            item = 1 / b.size[own].sum()
            for end, sign in ((0, 1), (1, -1)):
                beyond = p @ (sign * (x - found[g, :, end]) < 1.5 * item)
                assert (beyond[first:] > 0.05 - 0.04).all()


@pytest.mark.parametrize("population", ["finite", "infinite"])
@pytest.mark.parametrize("n_labels", [0, 80])
def test_the_entries_of_many_strata_hold_their_level_of_posterior_draws(population, n_labels):
    rng = np.random.default_rng(5)
    group, size, alpha = np.repeat([0, 1], 8), np.full(16, 30), rng.uniform(1, 9, (16, 5))
    none, kinds = np.zeros(16, np.int64), rng.gamma(0.4, size=(16, 6)) + 1e-6
    b = Belief(group, size, none, none, alpha, 10 - alpha, 2, population, np.full(5, 0.2), MATRIX,
               Errors(np.zeros(kinds.shape, np.int64), kinds))  # fmt: skip
    for _ in range(n_labels):
        b = labelled(b, int(rng.integers(16)), int(rng.choice(7, p=[0.7, *[0.05] * 6])))
    found = confusion_interval(b)
    n = 4000
    component = [rng.choice(5, n, p=moments(b).weight[g]) for g in group]
    component[8:], component[:8] = [component[8]] * 8, [component[0]] * 8
    cell = np.arange(16)
    rates = rng.beta((b.alpha[cell, np.transpose(component)] + b.right),
                     (b.beta[cell, np.transpose(component)] + b.wrong))  # fmt: skip
    shares = dirichlets(b.errors.counts + b.errors.prior, rng, n)
    if population == "finite":
        wrong = unlabelled(b) - rng.binomial(unlabelled(b), rates)
        values = rng.multinomial(wrong, shares) + b.errors.counts
    else:
        values = (b.size * (1 - rates))[:, :, None] * shares
    values = values.reshape(n, 2, 8, 6).sum(axis=2) / 240
    low, high = found[:, 1:, 0], found[:, 1:, 1]
    inside = ((values >= low - 1e-9) & (values <= high + 1e-9)).mean(axis=0)
    assert (inside > 0.95 - 0.035).all()
    assert ((values < low - 1e-9).mean(axis=0) < 0.025 + 0.03).all()
    assert ((values > high + 1e-9).mean(axis=0) < 0.025 + 0.03).all()


def test_the_first_entry_is_the_accuracy():
    b = made(np.random.default_rng(6), "confusion", 9, n_groups=3)
    assert confusion_interval(b, 0.8)[:, 0] == pytest.approx(interval(b, 0.8))


def test_entries_are_known_once_all_is_labelled_and_where_a_kind_cannot_be():
    b = papers([9, 9], [[5, 3, 1, 0], [2, 0, 0, 0]], [[1, 1, 1, 0], [1, 2, 1, 0]])
    found = confusion_interval(b)
    assert found[0].tolist() == [[n / 9] * 2 for n in (5, 3, 1, 0)]
    assert found[1, 3].tolist() == [0, 0]
    assert (found[1, :3, 0] < found[1, :3, 1]).all()


def test_a_group_without_items_has_no_intervals_and_all_others_hold_the_mean():
    b = papers([40, 0, 30], [[5, 3, 1], [0, 0, 0], [9, 9, 9]], np.ones((3, 3)))
    found, mean = confusion_interval(b), confusion_mean(b)
    assert np.isnan(found[1]).all()
    held = (found[[0, 2], :, 0] <= mean[[0, 2]]) & (mean[[0, 2]] <= found[[0, 2], :, 1])
    assert held.all()


def test_a_hundred_classes_in_strata_take_little_memory():
    rng, n = np.random.default_rng(7), 800
    none, kinds = np.zeros(n, np.int64), rng.gamma(0.2, size=(n, 99)) + 1e-6
    b = Belief(np.repeat(np.arange(100), 8), none + 12, none, none, np.full((n, 3), 8.0),
               np.full((n, 3), 2.0), 100, mixture=np.full(3, 1 / 3), metric=MATRIX,
               errors=Errors(np.zeros(kinds.shape, np.int64), kinds))  # fmt: skip
    tracemalloc.start()
    found = confusion_interval(b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (100, 100, 2)
    assert peak < 50e6


def test_a_belief_without_kinds_and_a_level_that_is_none_are_refused():
    ones = np.ones(1, np.int64)
    plain = Belief(0 * ones, 5 * ones, ones, ones, np.ones(1), np.ones(1), 1)
    with pytest.raises(ValueError, match="kinds of errors are not counted"):
        confusion_interval(plain)
    with pytest.raises(ValueError, match="level is 95"):
        confusion_interval(papers([9], [[5, 3]], [[1, 1]]), 95)
