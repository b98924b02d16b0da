"""What all groups share: held against hyperparameters drawn by the thousand, weighted exactly."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

from worker.core.posterior.belief import Belief, group_share, replaced
from worker.core.posterior.hypothetical import labelled, with_prior
from worker.core.posterior.intervals import interval, narrowest, whole
from worker.core.posterior.metrics import Errors, Metric
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import draws, marginals, mean, variance
from worker.core.prior.copula import Given, joined, points, spread_evenly
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit, loss
from worker.core.prior.hyperparameters import WEAK, Hyperparameters, Scores
from worker.core.prior.likelihood import evidence
from worker.core.prior.shared import N_POINTS
from worker.core.questions.comparison import region
from worker.core.questions.ranking import ranking, set_confidence
from worker.core.questions.rewards import estimate_worth, question_drop

N_DRAWN, N_KEPT = 12_000, 300


@dataclass
class Case:
    """A small pool with labels: the belief, and beliefs under certain hyperparameters."""

    believed: Belief
    exact: list[tuple[float, Belief]]

    def exactly(self, numbers):
        return sum(weight * np.asarray(numbers(b)) for weight, b in self.exact)


def case(n_groups, n_cells, n_items, n_labels, seed):
    rng = np.random.default_rng(seed)
    group, size = np.repeat(np.arange(n_groups), n_cells), np.full(n_groups * n_cells, n_items)
    level = rng.normal(0, 0.5, n_groups)
    cell = np.tile(np.linspace(0, 4, n_cells), n_groups) + level[group]
    scores = Scores(cell, (level - level.mean())[group])
    rate = special.expit(0.6 * cell - 0.2 + rng.normal(0, 0.3, n_groups)[group])
    n = np.minimum(rng.multinomial(n_labels, np.full(group.size, 1 / group.size)), size)
    right = rng.binomial(n, rate)
    found = fit(right, n - right, group, scores)
    first = Belief(
        group, size, right, n - right, *prior_of(Hyperparameters(), scores)[:2], n_groups,
        mixture=prior_of(Hyperparameters(), scores)[2],
    )  # fmt: skip
    shared = shared_of(found, scores, size, group, n_groups)
    prior = prior_of(found.mode, scores, found.covariance)
    z = rng.standard_normal((N_DRAWN, len(WEAK)))
    seen = evidence(right, n - right, group, scores)
    logs = np.array([0.5 * row @ row - loss(row, seen)[0] for row in z])
    chance = special.softmax(logs)
    assert 1 / (chance**2).sum() > 100  # else the yardstick itself is too rough
    # evenly spaced in the order of their parts of 1, which is less noisy than one by one
    at = np.searchsorted(np.cumsum(chance), (np.arange(N_KEPT) + 0.5) / N_KEPT)
    at, times = np.unique(at, return_counts=True)
    h = WEAK[:, 0] + WEAK[:, 1] * z
    exact = [
        (k / N_KEPT, with_prior(first, *prior_of(Hyperparameters(*h[i]), scores)))
        for i, k in zip(at, times, strict=True)
    ]
    return Case(with_prior(first, *prior, shared=shared), exact)


@pytest.fixture(
    scope="module",
    params=[(4, 3, 20, 20, 0), (4, 3, 20, 60, 2), (10, 4, 25, 50, 0), (2, 8, 50, 60, 0)],
    ids=lambda p: f"{p[0]} groups, {p[3]} labels",
)
def small(request):
    return case(*request.param)


def test_means_and_spreads_are_those_of_the_exact_posterior(small):
    expected = small.exactly(mean)
    spread = np.sqrt(small.exactly(lambda b: variance(b) + (mean(b) - expected) ** 2))
    assert np.abs(mean(small.believed) - expected).max() <= 0.05
    ratio = np.sqrt(variance(small.believed)) / spread
    assert ratio.min() >= 0.92  # rather too cautious than too sure
    assert ratio.max() <= 1.2


def test_the_whole_is_as_uncertain_as_the_exact_posterior_has_it(small):
    share = group_share(small.believed)
    expected = small.exactly(lambda b: mean(b) @ share)
    spread = small.exactly(lambda b: variance(b) @ share**2 + (mean(b) @ share - expected) ** 2)
    _, low, high = whole(small.believed)
    assert 0.95 <= (high - low) / (2 * 1.96) / np.sqrt(spread) <= 1.18
    alone = with_prior(
        small.believed, small.believed.alpha, small.believed.beta, small.believed.mixture
    )
    _, low_alone, high_alone = whole(alone)
    assert high_alone - low_alone < high - low


def test_the_accuracy_behind_a_confusion_matrix_is_as_uncertain_as_accuracy_alone(small):
    b = small.believed
    errors = Errors(np.column_stack([b.wrong, 0 * b.wrong]), np.full((b.group.size, 2), 0.5))
    matrix = replaced(b, metric=Metric("confusion"), errors=errors, _memo={})
    assert whole(matrix) == pytest.approx(whole(b))
    assert draws(matrix) == pytest.approx(draws(b))


def test_the_probability_of_the_least_group_is_the_exact_one(small):
    chosen = ranking(small.believed)[:1].tolist()
    expected = small.exactly(lambda b: set_confidence(b, chosen))
    off = set_confidence(small.believed, chosen) - float(expected)
    assert -0.1 <= off <= 0.05  # rather too cautious than too sure


def test_the_first_label_tells_no_group_apart_more_than_it_should():
    of = case(4, 3, 20, 1, 0)
    chosen = ranking(of.believed)[:1].tolist()
    expected = float(of.exactly(lambda b: set_confidence(b, chosen)))
    assert set_confidence(of.believed, chosen) <= expected + 0.1  # .21 where it went wrong


def test_a_pair_stands_as_the_exact_posterior_has_it(small):
    expected = small.exactly(lambda b: region(b, 0, 1, 0.05))
    assert np.abs(np.array(region(small.believed, 0, 1, 0.05)) - expected).max() <= 0.1


def test_one_group_does_not_count_its_labels_twice():
    alone = case(1, 8, 50, 30, 1)
    expected = alone.exactly(mean)
    spread = np.sqrt(alone.exactly(lambda b: variance(b) + (mean(b) - expected) ** 2))
    assert np.sqrt(variance(alone.believed))[0] == pytest.approx(spread[0], rel=0.08)


def test_what_a_label_is_worth_counts_what_it_tells_of_other_groups(small):
    b, share = small.believed, group_share(small.believed)
    cell = int(np.argmax(b.size - b.right - b.wrong))

    def expected_error(of):
        return share @ variance(of)

    p = float(moments(b).rate[cell])
    own = expected_error(b) - (
        p * expected_error(labelled(b, cell, 0)) + (1 - p) * expected_error(labelled(b, cell, 1))
    )
    assert question_drop(b)[cell] >= own - 1e-12


def test_what_a_label_is_worth_counts_what_it_tells_of_the_whole_pool(small):
    b, share = small.believed, group_share(small.believed)
    weights, beliefs = np.array([k for k, _ in small.exact]), [of for _, of in small.exact]

    def variance_of_whole(weight, of):
        means, within = (np.array([numbers(b) for b in of]) for numbers in (mean, variance))
        return weight @ (within @ share**2 + (means @ share - weight @ means @ share) ** 2)

    now, cells = variance_of_whole(weights, beliefs), np.arange(0, b.group.size, 3)
    expected = np.full(cells.size, now)
    for i, cell in enumerate(cells.tolist()):
        rate = np.array([moments(of).rate[cell] for of in beliefs])
        for outcome, chance in enumerate((rate, 1 - rate)):
            told = weights * chance
            later = [labelled(of, cell, outcome) for of in beliefs]
            expected[i] -= told.sum() * variance_of_whole(told / told.sum(), later)
    groups = question_drop(b) / (share @ variance(b))
    ratio = (estimate_worth(b) - groups)[cells] / (expected / now)
    assert ratio.min() >= 0.75
    assert ratio.max() <= 2.0  # most where nearly every answer is right: the rest tells little


def test_draws_of_correlated_groups_keep_their_distributions(small):
    drawn, bounds = draws(small.believed), interval(small.believed)
    inside = ((drawn >= bounds[:, 0]) & (drawn <= bounds[:, 1])).mean(axis=0)
    assert (inside >= 0.949).all()
    narrow = np.array([narrowest(d, 0.95) for d in marginals(small.believed)])
    assert (narrow[:, 1] - narrow[:, 0] <= bounds[:, 1] - bounds[:, 0] + 1e-12).all()


@pytest.mark.parametrize("n_directions", [1, 2, 3, 4, 5, 9])
def test_the_points_have_the_mean_and_covariance_of_a_standard_normal(n_directions):
    at = points(n_directions, N_POINTS)
    assert np.abs(at.mean(axis=0)).max() < 1e-12
    assert np.abs(at.T @ at / N_POINTS - np.eye(n_directions)).max() < 1e-12


def test_joined_rows_are_uniform_and_as_correlated_as_their_loadings():
    rng, parts = np.random.default_rng(1), (np.arange(2000) + 0.5) / 2000
    load = np.array([[0.8, 0.0], [0.8, 0.3], [0.0, -0.6]])
    drawn = joined(parts, load, spread_evenly(parts, 2, rng), rng)
    assert (np.sort(drawn, axis=1) == parts).all()
    found = np.corrcoef(special.ndtri(drawn))
    assert np.abs((found - load @ load.T)[np.triu_indices(3, 1)]).max() < 0.06


def test_tails_given_the_points_average_to_the_tail():
    given = Given.at(np.array([[0.7, 0.2, 0.0], [0.4, -0.5, 0.1]]), 32)
    tail = np.linspace(0.01, 0.99, 25)
    for g in range(2):
        assert np.abs(given.tail(g, tail).mean(axis=0) - tail).max() < 0.01


def test_of_more_directions_than_points_span_the_least_are_each_group_s_own():
    axes = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))[0]
    load = axes * np.array([0.6, 0.5, 0.4, 0.3, 0.05, 0.02])
    given = Given.at(load, 8)
    assert given.n_points == 8
    assert given.shift.mean(axis=1) == pytest.approx(0.0)
    assert (given.shift**2).mean(axis=1) + given.own**2 == pytest.approx(1.0)
    along = load[:, :4]
    assert given.shift @ given.shift.T / 8 == pytest.approx(along @ along.T)
