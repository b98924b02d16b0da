"""How far groups move with the hyperparameters: held against differences of their exact means."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.drawn_labels import TRUTHS, labels_of, of_size, pool
from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import labelled, with_pending, with_prior
from worker.core.posterior.metrics import ACCURACY, Errors, Metric
from worker.core.posterior.moments import moments
from worker.core.prior.empirical import prior_of, shared_of
from worker.core.prior.fitting import fit
from worker.core.prior.hyperparameters import Covariate, Hyperparameters, Level
from worker.core.prior.shared import with_fixed

N_GROUPS, N_CELLS, STEP = 6, 4, 1e-4
N = N_GROUPS * N_CELLS


def case(metric=ACCURACY, errors=None, more=(), level=None, population="finite", n=3, seed=0):
    """A belief about labelled groups, its fit, and what the prior is made of."""
    group, scores = pool(seed, N_GROUPS, N_CELLS)
    scores, size = replace(scores, more=more), of_size(group)
    at = np.where(group == 2, 0, np.arange(N) % 3 * n)  # one group and a third of all cells: none
    right, wrong = labels_of(TRUTHS[0], group, replace(scores, more=()), at, seed)
    if errors is not None:
        errors = Errors(np.column_stack([wrong, 0 * wrong]), errors)
    found = fit(right, wrong, group, scores)
    prior = prior_of(found.mode, scores, found.covariance, level)
    shared = shared_of(found, scores, size, group, N_GROUPS, level)
    b = Belief(
        group, size, right, wrong, *prior[:2], N_GROUPS, population, prior[2], metric, errors,
        shared=shared,
    )  # fmt: skip
    return b, found, scores


def differences(b, found, prior):
    """(G, R) and (C, R) by finite differences; `prior` gives one for hyperparameters."""
    spread, axes = np.linalg.eigh(found.covariance)
    ends, root = [], (axes * np.sqrt(spread)).T
    for sign in (1, -1):
        moved = [found.at_mean_tau.numbers + sign * STEP * away for away in root]
        ends.append([moments(with_prior(b, *prior(Hyperparameters.of(h)))) for h in moved])
    pairs = list(zip(*ends, strict=True))
    of_groups = np.array([(up.mean - down.mean) / (2 * STEP) for up, down in pairs]).T
    return of_groups, np.array([(up.rate - down.rate) / (2 * STEP) for up, down in pairs]).T


COSTS = np.column_stack([np.zeros(N), np.full(N, 2.0), np.linspace(1, 5, N)])
METRICS = {
    "accuracy": (ACCURACY, None),
    "bias": (Metric("bias", score=np.linspace(0.3, 0.9, N)), None),
    "cost": (Metric("cost", values=COSTS), np.full((N, 2), 0.7)),
}


@pytest.mark.parametrize("name", METRICS)
def test_means_and_rates_move_as_the_exact_ones_do(name):
    b, found, scores = case(*METRICS[name])
    of_groups, rates = differences(b, found, lambda h: prior_of(h, scores))
    assert np.abs(of_groups).max() > 0.03
    assert moments(b).moved == pytest.approx(of_groups, abs=1e-7)
    assert moments(b).rate_moved == pytest.approx(rates, abs=1e-7)


def test_the_value_of_an_endless_population_moves_likewise():
    group = np.arange(N_GROUPS)
    b, found, scores = case(population="infinite")
    one = np.flatnonzero(np.diff(b.group, prepend=-1))
    scores = replace(scores, cell=scores.cell[one], group=scores.group[one])
    prior = prior_of(found.mode, scores, found.covariance)
    b = Belief(
        group, b.size[one], b.right[one], b.wrong[one], *prior[:2], N_GROUPS, "infinite", prior[2],
        shared=shared_of(found, scores, b.size[one], group, N_GROUPS),
    )  # fmt: skip
    of_groups, _ = differences(b, found, lambda h: prior_of(h, scores))
    assert moments(b).moved == pytest.approx(of_groups, abs=1e-7)


def test_further_covariates_move_them_too():
    apart = Covariate(np.arange(N) % 2.0, -1.0, 0.5)
    b, found, scores = case(more=(apart,))
    of_groups, _ = differences(b, found, lambda h: prior_of(h, scores))
    assert of_groups.shape == (N_GROUPS, 7)
    assert moments(b).moved == pytest.approx(of_groups, abs=1e-7)


def test_siblings_say_how_far_the_level_is_shifted():
    group = np.repeat(np.arange(N_GROUPS), N_CELLS)
    shift, left = np.linspace(-0.5, 0.5, N_GROUPS)[group], np.linspace(0.4, 1.2, N_GROUPS)[group]
    level = Level(shift, left, np.zeros(group.size))
    b, found, scores = case(level=level)
    of_groups, _ = differences(b, found, lambda h: prior_of(h, scores, level=level))
    assert moments(b).moved == pytest.approx(of_groups, abs=1e-7)


def test_what_is_known_besides_moves_with_nothing():
    """As of an earlier month: a share of its labels at some components, the prior at all."""
    b, found, scores = case()
    earlier, rng = np.array([0.0, 0.5]), np.random.default_rng(2)
    counts = rng.integers(0, 4, (2, N, 1))

    def with_earlier(h):
        alpha, beta, mixture = prior_of(h, scores)
        more = [
            np.concatenate([of + share * n for share in earlier], axis=1)
            for of, n in zip((alpha, beta), counts, strict=True)
        ]
        return *more, np.concatenate([0.3 * mixture, 0.7 * mixture])

    alpha, beta, mixture = with_earlier(found.at_mean_tau)
    b = with_prior(b, alpha, beta, mixture, shared=with_fixed(b.shared, alpha, beta))
    of_groups, rates = differences(b, found, with_earlier)
    assert moments(b).moved == pytest.approx(of_groups, abs=1e-7)
    assert moments(b).rate_moved == pytest.approx(rates, abs=1e-7)


def test_a_group_with_many_labels_hardly_moves_and_of_its_strata_those_without_move_further():
    b, _, _ = case(n=30)
    known = moments(b)
    of_groups, rates = (np.linalg.norm(of, axis=1) for of in (known.moved, known.rate_moved))
    none = np.flatnonzero(b.right + b.wrong == 0)
    assert of_groups[2] > 1.5 * np.delete(of_groups, 2).max()
    assert rates[none].mean() > 2 * np.delete(rates, none).mean()


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("pending", [{1: 2}, {0: 1, 1: 1}, {0: 1, 3: 2, 5: 1}])
def test_items_more_move_their_own_groups_only_and_to_the_bit_as_if_all_were_worked_out_anew(
    name, pending
):
    b, _, _ = case(*METRICS[name])
    before, groups = moments(b).moved, list(pending)
    more = np.zeros(N, dtype=int)
    for g, n in pending.items():
        more[np.flatnonzero(b.group == g)[:2]] = n
    after = with_pending(b, more)
    anew = replace(after, _memo={})
    for name in ("moved", "rate_moved", "own", "mean", "variance", "drop"):
        assert (getattr(moments(after), name) == getattr(moments(anew), name)).all(), name
    again = with_pending(labelled(b, 0, 1), more)  # a label meanwhile; some are as they were
    anew = replace(again, _memo={})
    assert (moments(again).moved == moments(anew).moved).all()
    assert (moments(again).rate_moved == moments(anew).rate_moved).all()
    rest = [np.delete(of, groups, axis=0) for of in (before, moments(after).moved)]
    assert (rest[0] == rest[1]).all()
    assert (before[groups] != moments(after).moved[groups]).any(axis=1).all()


def test_pending_items_count_as_labels():
    b, _, _ = case()
    pending = with_pending(b, np.where(b.group == 2, 5, 0))
    length = np.linalg.norm(moments(pending).moved[2])
    assert length < 0.8 * np.linalg.norm(moments(b).moved[2])
