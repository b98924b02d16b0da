"""Draws of the joint posterior, against what summing and weighing give."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from tests.amount import IS_SHORT
from tests.core.crowd.drawn import MIXTURE, NO_POOL, crowds_of_the_prior, drawn_from_the_model
from worker.core.crowd import annotators, gibbs
from worker.core.crowd.inference import infer
from worker.core.crowd.votes import Votes


def exact(votes, of, n_crowds=20_000):
    """P(class) of every item: a sum over all truths, and over crowds of the prior.

    Of two classes, wrong predictions tell nothing of how often there is each; no more do gold
    items outside the pool.
    """
    k, n = votes.n_classes, votes.n_items
    _, _, pseudo = crowds_of_the_prior(np.random.default_rng(1), k, votes.n_annotators, n_crowds)
    total, kept, found = pseudo.sum(axis=3), {}, np.zeros((n, k))
    each, evenness = gibbs.CONCENTRATIONS, special.softmax(gibbs.LOG_CONCENTRATION_PRIOR)

    def chance(a, j, row):
        """(n_crowds,) of what annotator a gave to items of class j."""
        if (a, j, row) not in kept:
            logs = special.poch(pseudo[:, a, j], row).prod(axis=1)
            kept[a, j, row] = logs / special.poch(total[:, a, j], sum(row))
        return kept[a, j, row]

    for truth in itertools.product(range(k), repeat=n):
        z = np.array(truth)
        if (votes.is_gold & (z != votes.truth)).any():
            continue
        tables = np.zeros((votes.n_annotators, k, k), int)
        np.add.at(tables, (votes.annotator, z[votes.item], votes.label), 1)
        rows = [chance(a, j, tuple(tables[a, j].tolist())) for a, j in np.ndindex(tables.shape[:2])]
        weight = float(np.prod(rows, axis=0).mean())
        is_right = z == votes.predicted
        for g in range(of.group.max() + 1):
            by_component = of.mixture.copy()
            for c in np.flatnonzero(of.group == g):
                r, w = (is_right & (votes.cell == c)).sum(), (~is_right & (votes.cell == c)).sum()
                by_component *= np.exp(
                    special.betaln(of.alpha[c] + r, of.beta[c] + w)
                    - special.betaln(of.alpha[c], of.beta[c])
                )
            weight *= by_component.sum()
        of_class = np.bincount(z[(votes.predicted < 0) & ~votes.is_gold], minlength=k)
        chances = special.poch(each[:, None], of_class).prod(axis=1)
        weight *= evenness @ (chances / special.poch(k * each, of_class.sum()))
        found[np.arange(n), z] += weight
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_gold", [0, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("n_predicted", [0, 6])
def test_small_posteriors_are_those_of_summing_over_everything(seed, n_gold, n_predicted):
    rng = np.random.default_rng(seed)
    votes, truth, _, _ = drawn_from_the_model(rng, 2, 2, 6, 2, MIXTURE)
    votes = replace(votes, truth=np.where(np.arange(6) < n_gold, truth, -1))
    if not n_predicted:
        none, one_sided = np.full(6, -1), np.where(votes.item < 5, 0, votes.label)
        votes = replace(votes, cell=none, predicted=none, label=one_sided)
    found = infer(votes, MIXTURE, n_draws=1024, seed=seed)
    assert found.probability == pytest.approx(exact(votes, MIXTURE), abs=0.03)
    assert (found.truth == 1).mean(axis=0) == pytest.approx(found.probability[:, 1], abs=0.05)


@pytest.mark.parametrize(
    ("k", "a", "n", "favour"), [(2, 3, 14, 0.0), (2, 3, 14, 0.6), (3, 2, 6, 0.3)]
)
def test_annotators_are_what_weighing_crowds_of_the_prior_gives(k, a, n, favour):
    """Where all classes are known: posterior means by importance sampling."""
    rng = np.random.default_rng([k, int(favour > 0)])
    truth, item = np.arange(n) % k, np.repeat(np.arange(n), a)
    who = np.tile(np.arange(a), n)
    label = np.where(rng.random(n * a) < favour, who % k, truth[item])
    label = np.where(rng.random(n * a) < 0.2, rng.integers(0, k, n * a), label)
    none = np.full(n, -1)
    found = infer(Votes(item, who, label, none, none, truth, a, k), NO_POOL, n_draws=1024, seed=1)

    tables = np.zeros((a, k, k))
    np.add.at(tables, (who, truth[item], label), 1)
    strength, spread, pseudo = crowds_of_the_prior(np.random.default_rng(2), k, a, 100_000)
    logs = (special.gammaln(pseudo + tables) - special.gammaln(pseudo)).sum(axis=(1, 2, 3))
    total, all_votes = pseudo.sum(axis=3), tables.sum(axis=2)
    logs -= (special.gammaln(total + all_votes) - special.gammaln(total)).sum(axis=(1, 2))
    weight = special.softmax(logs)
    assert 1 / (weight**2).sum() > 300
    share = (pseudo + tables) / (total + all_votes)[..., None]
    confusion = np.einsum("n,najl->ajl", weight, share)
    assert found.confusion == pytest.approx(confusion, abs=0.02)
    for drawn, values in ((found.strength, strength), (found.spread, spread)):
        logs = np.log(values)
        mean = weight @ logs
        sd = np.sqrt(weight @ (logs - mean) ** 2)
        assert np.log(drawn).mean() == pytest.approx(mean, abs=0.2 * sd)
        assert np.log(drawn).std() == pytest.approx(sd, rel=0.2)


def test_the_chance_of_votes_is_that_of_dirichlet_multinomials():
    rng = np.random.default_rng(1)
    pseudo, n = rng.gamma(1.0, size=(3, 4, 3, 2)), rng.poisson(2.5, (3, 4, 3, 2))
    found = annotators.log_marginal(pseudo, annotators.tallied(n))
    for m in range(2):
        c, x = (array[..., m].reshape(-1, 3) for array in (pseudo, n))
        orders = special.gammaln(x.sum(axis=1) + 1) - special.gammaln(x + 1).sum(axis=1)
        expected = stats.dirichlet_multinomial.logpmf(x, c, x.sum(axis=1)) - orders
        assert found[m] == pytest.approx(expected.sum())


@pytest.mark.slow
@pytest.mark.parametrize("k", [pytest.param(2, marks=pytest.mark.long), 3])
def test_what_was_drawn_ranks_evenly_among_its_posterior_draws(k):
    """Simulation-based calibration: Talts et al. (2018), arXiv 1804.06788."""
    n_runs, ranks = 40 if IS_SHORT else 200, []
    for run in range(n_runs):
        rng = np.random.default_rng([21, k, run])
        votes, truth, strength, spread = drawn_from_the_model(rng, k, 8, 50, 3, MIXTURE)
        found = infer(votes, MIXTURE, seed=run)
        right = (found.truth == votes.predicted).sum(axis=1)
        hits = (truth == votes.predicted).sum()
        firsts = (found.truth == 0).sum(axis=1)
        pairs = (
            (right, hits),
            (firsts, (truth == 0).sum()),
            (found.strength, strength),
            (found.spread, spread),
        )
        ranks.append([mid_rank(draws, value, rng) for draws, value in pairs])
    for column in np.array(ranks).T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4


def mid_rank(draws, value, rng):
    equal = np.isclose(draws, value)
    return ((draws < value) & ~equal).mean() + rng.random() * equal.mean()
