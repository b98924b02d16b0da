"""Whether what is claimed is true as often as is claimed, over truths drawn from the prior."""

import numpy as np
import pytest
from scipy import stats

from tests.amount import IS_SHORT
from worker.core.posterior.belief import Belief, group_size, unlabelled
from worker.core.posterior.hypothetical import labelled
from worker.core.posterior.summary import mean
from worker.core.prior.empirical import prior_of
from worker.core.prior.hyperparameters import Hyperparameters, Scores
from worker.core.prior.priors import uniform
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import decide
from worker.core.strategies import STRATEGIES, NothingLeft, thompson

MRR = StopRule("mrr", 0.99, 0.95)
ROPE = StopRule("rope", 0.05, 0.95)


def assess(rng, question, rule, n_groups, n_items):
    """One assessment of a truth drawn from the prior; its verdict and the true accuracies."""
    sizes, none = np.full(n_groups, n_items), np.zeros(n_groups, int)
    outcomes = rng.random((n_groups, n_items)) < rng.beta(1, 1, (n_groups, 1))
    b = Belief(np.arange(n_groups), sizes, none, none, *uniform(n_groups), n_groups)
    return followed(b, outcomes, question, rule, thompson, rng), outcomes.mean(axis=1)


def followed(b, outcomes, question, rule, strategy, rng, look_every=1):
    """The verdict when `strategy` labels the items of every cell in the order of `outcomes`."""
    none = np.zeros(b.group.size, int)
    while True:
        spent, left = int((b.right + b.wrong).sum()), unlabelled(b)
        if spent % look_every == 0:
            v = decide(b, question, rule, spent, int(left.sum()))
            if v.stop:
                return v
        try:
            cell = strategy(b, question, left, none, rng).cell
        except NothingLeft:  # certain pairs only: the verdict would have stopped
            pytest.fail("the compared groups ran out before the decision")
        b = labelled(b, cell, int(not outcomes[cell][b.right[cell] + b.wrong[cell]]))


def assert_right_as_often_as_claimed(n_right, n_runs, confidence):
    # A true rate of `confidence` would fall below this bound once in ten thousand times.
    assert n_right >= stats.binom.ppf(1e-4, n_runs, confidence)


N_RUNS = 40 if IS_SHORT else 150


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "top"), [("lowest", 1), pytest.param("highest", 3, marks=pytest.mark.long)]
)
def test_identified_groups_are_right_as_often_as_claimed_on_average_over_truths(which, top):
    rng, question, n_right = np.random.default_rng(11), Question("identify", which, top), 0
    for _ in range(N_RUNS):
        v, truth = assess(rng, question, MRR, 10, 60)
        sign = 1 if which == "lowest" else -1
        rest = [g for g in range(10) if g not in v.chosen]
        n_right += (sign * truth[list(v.chosen)]).max() <= (sign * truth[rest]).min()
    assert_right_as_often_as_claimed(n_right, N_RUNS, MRR.confidence)


@pytest.mark.slow
def test_compared_groups_differ_as_claimed_on_average_over_truths():
    rng, question, n_right = np.random.default_rng(12), Question("compare"), 0
    for _ in range(N_RUNS):
        v, truth = assess(rng, question, ROPE, 2, 150)
        difference = truth[0] - truth[1]
        region_of_truth = "within"
        if abs(difference) > 0.05 + 1e-9:
            region_of_truth = "below" if difference < 0 else "above"
        n_right += v.pairs[0].region == region_of_truth
    assert_right_as_often_as_claimed(n_right, N_RUNS, ROPE.confidence)


@pytest.mark.slow
def test_estimates_err_as_little_as_claimed_on_average_over_truths():
    rng, question, rule = np.random.default_rng(13), Question("estimate"), StopRule("rmse", 0.06)
    squared = []
    for _ in range(N_RUNS):
        sizes = np.array([20, 60, 100])
        b = Belief(np.arange(3), sizes, *np.zeros((2, 3), int), *uniform(3), 3)
        outcomes = [rng.random(n) < rng.beta(1, 1) for n in sizes]
        while not decide(b, question, rule, int((b.right + b.wrong).sum()), 1).stop:
            cell = thompson(b, question, unlabelled(b), np.zeros(3, int), rng).cell
            item = b.right[cell] + b.wrong[cell]
            b = labelled(b, cell, int(not outcomes[cell][item]))
        truth = np.array([o.mean() for o in outcomes])
        squared.append(group_size(b) @ (mean(b) - truth) ** 2 / sizes.sum())
    error = np.std(squared) / np.sqrt(N_RUNS)
    assert np.mean(squared) <= rule.target**2 + 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["assay", "thompson"])
def test_groups_of_strata_are_right_as_often_as_claimed_on_truths_of_their_model(strategy):
    rng, question, n_right = np.random.default_rng(14), Question("identify"), 0
    n_groups, n_cells, n_items = 8, 4, 12
    group = np.repeat(np.arange(n_groups), n_cells)
    scores = Scores(np.tile(np.linspace(-1, 4, n_cells), n_groups), np.zeros(group.size))
    alpha, beta, mixture = prior_of(Hyperparameters(log_tau=-0.5), scores)
    none = np.zeros(group.size, np.int64)
    for _ in range(N_RUNS):
        of = np.arange(group.size), rng.choice(mixture.size, n_groups, p=mixture)[group]
        outcomes = rng.random((group.size, n_items)) < rng.beta(alpha[of], beta[of])[:, None]
        b = Belief(group, none + n_items, none, none, alpha, beta, n_groups, mixture=mixture)
        v = followed(b, outcomes, question, MRR, STRATEGIES[strategy], rng, look_every=5)
        truth = outcomes.reshape(n_groups, -1).mean(axis=1)
        n_right += truth[v.chosen[0]] == truth.min()
    assert_right_as_often_as_claimed(n_right, N_RUNS, MRR.confidence)
