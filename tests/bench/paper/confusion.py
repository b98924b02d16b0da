"""Table 4: confusion matrices, as the text describes them and as the printed numbers arose.

The printed numbers cannot be right. They fall a thousandfold while the labels grow fivefold, where
an honest error falls as the root of the labels. The released update adds every label to the
*predicted* class (argmax of the scores), so that each estimate tends to the identity matrix, and
the stored outputs of their notebook fit a reference that is the identity as well, a squared error
without its root, and the identity's distance to the true matrix as the scale.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.bench.paper.accuracy import METHODS, Method
from tests.bench.paper.data import Floats, Ints, Pool, load
from tests.bench.paper.measures import mean_and_spread
from tests.bench.paper.replaying import Rng, label_at_random, label_by_reward


class Dirichlets:
    """R x K Dirichlet posteriors over the true classes, one a predicted class.

    The reward is p_k (V - E V after one label), with V the summed variance of the row and the
    expectation at a drawn row. The authors add the supposed label to the *drawn* row and not to
    the posterior's parameters; `quirks` repeats that.
    """

    def __init__(self, pool: Pool, prior: Floats, n_runs: int, quirks: bool) -> None:
        self.label = pool.predicted if quirks else pool.label
        self.share = np.bincount(pool.predicted, minlength=pool.n_classes) / pool.label.size
        self.alpha = np.tile(prior, (n_runs, 1, 1))
        self.rows = np.arange(n_runs)
        self.quirks = quirks

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        alpha = self.alpha[runs]
        theta = rng.standard_gamma(alpha)
        theta /= np.maximum(theta.sum(axis=2, keepdims=True), 1e-300)
        grown = theta if self.quirks else alpha
        total, squares = alpha.sum(axis=2), (alpha**2).sum(axis=2)
        now = (1 - squares / total**2) / (total + 1)
        total, squares = grown.sum(axis=2), (grown**2).sum(axis=2)
        expected = squares + 2 * (theta * grown).sum(axis=2) + 1
        later = (1 - expected / (total + 1) ** 2) / (total + 2)
        return self.share * (now - later)

    def learn(self, group: Ints, item: Ints) -> None:
        self.alpha[self.rows, group, self.label[item]] += 1

    def mean(self) -> Floats:
        """(R, K, K) posterior means; [:, k] sums to 1."""
        return self.alpha / self.alpha.sum(axis=2, keepdims=True)


def estimate(name: str, at: Sequence[int], n_runs: int, quirks: bool = False) -> dict[str, Any]:
    """For each method and N: the error over that of the score prior without labels.

    By the text: the root of sum_k p_k sum_j (theta_jk - true)^2, averaged over the runs. With
    `quirks`: the squared error to the identity, over the identity's squared distance to the truth.
    """
    pool = load(name)
    score_prior = mean_scores(pool)
    truth = true_matrix(pool)
    share = np.bincount(pool.predicted, minlength=pool.n_classes) / pool.label.size
    identity = np.eye(pool.n_classes)
    reference = identity if quirks else truth
    scale = error(identity if quirks else score_prior, truth, share)
    result: dict[str, Any] = {}
    for method in METHODS:
        prior = prior_of(score_prior, method, quirks)
        model = Dirichlets(pool, prior, n_runs, quirks)
        result[method] = {}
        for n in _labels(model, pool, method, n_runs, max(at)):
            if n in at:
                off = error(model.mean(), reference, share) / scale
                result[method][str(n)] = mean_and_spread(off**2 if quirks else off)
    return result


def prior_of(score_prior: Floats, method: Method, quirks: bool = False) -> Floats:
    """(K, K) Dirichlet parameters of strength 1 a predicted class; UPrior 1e-6 in the code."""
    k = score_prior.shape[0]
    if method == "UPrior":
        return np.full((k, k), (1e-6 if quirks else 1) / k)
    return score_prior


def mean_scores(pool: Pool) -> Floats:
    """(K, K) mean probability vector of the items of each predicted class; uniform if none.

    Raises:
        ValueError: the pool has no full probability vectors.
    """
    if pool.probs is None:
        raise ValueError(f"{pool.name} has no full probability vectors; take another pool.")
    k = pool.n_classes
    means = np.full((k, k), 1 / k)
    for c in np.unique(pool.predicted):
        means[c] = pool.probs[pool.predicted == c].astype(np.float64).mean(axis=0)
    return means / means.sum(axis=1, keepdims=True)


def true_matrix(pool: Pool) -> Floats:
    """(K, K) shares of the true classes within each predicted class, over the whole pool."""
    k = pool.n_classes
    counts = np.zeros((k, k))
    np.add.at(counts, (pool.predicted, pool.label), 1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def error(matrix: Floats, reference: Floats, share: Floats) -> Floats:
    """Root of sum_k p_k sum_j (matrix - reference)^2, for each run if there are several."""
    squared: Floats = ((matrix - reference) ** 2).sum(axis=-1) @ share
    return np.sqrt(squared)


def _labels(
    model: Dirichlets, pool: Pool, method: Method, n_runs: int, until: int
) -> Iterator[int]:
    runs = range(n_runs)
    if method == "IPrior+TS":
        return label_by_reward(model, pool.predicted, pool.n_classes, runs, until)
    return label_at_random(model, pool.predicted, runs, until)
