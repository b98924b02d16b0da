"""The fits of what people may say: by the definition, and one by one."""

import numpy as np
import pytest
from scipy import special, stats

from tests.core.soft_labels.people import subjective
from worker.core.soft_labels import mixtures
from worker.core.soft_labels.mixtures import SHAPES, Entries, refits

N, VOTES, WEIGHTS = 30, 5, 7


@pytest.fixture
def votes() -> Entries:
    human, predicted = subjective(N, seed=8)
    return Entries.of(np.random.default_rng(9).multinomial(VOTES, human), predicted)


@pytest.fixture
def worth() -> np.ndarray:
    return np.random.default_rng(10).standard_exponential((WEIGHTS, N))


def test_the_votes_are_as_likely_as_dirichlet_multinomials_say(votes, worth):
    ways = special.gammaln(VOTES + 1) - special.gammaln(votes.counts + 1).sum(axis=1)
    for some, fits in refits(votes, worth):
        for shape, found in zip(SHAPES, fits, strict=True):
            for r, of in enumerate(worth[some]):
                alphas = found.base[r][:, None] * shape.precisions[:, None]  # (n, M, K)
                each = stats.dirichlet_multinomial.pmf(votes.counts[:, None], alphas, VOTES)
                told = of @ (np.log(each @ found.mixture[r]) - ways)
                assert found.told[r] == pytest.approx(told)
                shares = each * found.mixture[r]
                expected = shares / shares.sum(axis=1, keepdims=True)
                own = found.weight[r] / found.weight[r].sum(axis=1, keepdims=True)
                assert own == pytest.approx(expected, abs=1e-12)


def test_refits_made_together_are_those_made_alone(votes, worth, monkeypatch):
    together = list(refits(votes, worth))
    monkeypatch.setattr(mixtures, "_AT_ONCE", 1)
    alone = list(refits(votes, worth))
    assert (len(together), len(alone)) == (2, WEIGHTS)
    for which in range(len(SHAPES)):
        for name in ("told", "base", "weight"):
            one, other = (
                np.concatenate([getattr(fits[which], name) for _, fits in each])
                for each in (together, alone)
            )
            assert one == pytest.approx(other, rel=1e-9)
