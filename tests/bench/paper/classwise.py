"""Supplement Table 2: the least calibrated predicted classes, by ECE in ten bins of equal width."""

from typing import Any

import numpy as np

from tests.bench.paper.accuracy import Method
from tests.bench.paper.data import N_BINS, Bools, Floats, Ints, Pool, load
from tests.bench.paper.measures import identification, mrr, worst_of
from tests.bench.paper.replaying import Hasty, Rng, label_at_random, label_by_reward

HOLDOUT = 0.1  # the share of the pool that the authors' older code sets aside


class BinAccuracies:
    """R x K x B Beta posteriors of the accuracy in each bin of each predicted class.

    By the text: bins weigh by their share of the class in the pool, the score of a bin is the mean
    of the pool's items in it, and the prior sits there. In the authors' older code (`quirks`) the
    prior sits in the middle of the bin, weights are counts of the labelled items and the score of a
    bin is the running mean of the labelled ones, so that the choice of items moves the metric.
    """

    def __init__(self, pool: Pool, strength: float, n_runs: int, quirks: bool) -> None:
        shape = (pool.n_classes, N_BINS)
        self.right = pool.predicted == pool.label
        self.score = pool.score
        self.bin = bins_of(pool.score)
        at = (pool.predicted, self.bin)
        count, total = np.zeros(shape), np.zeros(shape)
        np.add.at(count, at, 1)
        np.add.at(total, at, pool.score)
        middle = np.tile((np.arange(N_BINS) + 0.5) / N_BINS, (shape[0], 1))
        mean = np.where(count > 0, total / np.maximum(count, 1), middle)
        share = count / np.maximum(count.sum(axis=1, keepdims=True), 1)
        start = middle if quirks else np.clip(mean, 1e-9, 1 - 1e-9)
        self.alpha = np.tile(strength * start, (n_runs, 1, 1))
        self.beta = np.tile(strength * (1 - start), (n_runs, 1, 1))
        self.weight = np.tile(np.full(shape, 2e-4) if quirks else share, (n_runs, 1, 1))
        self.middle = np.tile(start if quirks else mean, (n_runs, 1, 1))
        self.quirks = quirks
        self.rows = np.arange(n_runs)

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        return self._ece(rng.beta(self.alpha[runs], self.beta[runs]), runs)

    def learn(self, group: Ints, item: Ints) -> None:
        at = (self.rows, group, self.bin[item])
        right = self.right[item]
        self.alpha[at] += right
        self.beta[at] += ~right
        if self.quirks:
            self.weight[at] += 1
            weight = self.weight[at]
            self.middle[at] += (self.score[item] - self.middle[at]) / weight

    def mean(self) -> Floats:
        """(R, K) the ECE at the posterior means of the bins, as the authors rank."""
        return self._ece(self.alpha / (self.alpha + self.beta), self.rows)

    def _ece(self, theta: Floats, runs: Ints) -> Floats:
        weight = self.weight[runs]
        gap: Floats = (np.abs(theta - self.middle[runs]) * weight).sum(axis=2)
        return gap / np.maximum(weight.sum(axis=2), 1e-300)


def identify(
    name: str, method: Method, top: int, n_runs: int, strength: float = 2, quirks: bool = False
) -> dict[str, Any]:
    """Labels until the `top` classes of highest ECE are ranked first, and their share of the pool.

    The truth is the ECE of the class over the pool. The authors set a tenth of the pool aside, so
    that no method can need more than 90%, draw classes and not items where they do not use TS, and
    call what their own posterior says after all labels the truth; `quirks` repeats that.
    ImageNet's runs stop once the mean MRR is .998, far behind the marks.
    """
    pool = load(name)
    n_whole = pool.label.size
    if quirks:
        pool = _without_holdout(pool)
    n, runs = pool.label.size, range(n_runs)
    model = BinAccuracies(pool, strength, n_runs, quirks)
    if method == "IPrior+TS":
        steps = label_by_reward(model, pool.predicted, pool.n_classes, runs, n, top)
    elif quirks:
        hasty = Hasty(model, pool.n_classes)
        steps = label_by_reward(hasty, pool.predicted, pool.n_classes, runs, n, top)
    else:
        steps = label_at_random(model, pool.predicted, runs, n)
    worst = worst_of(-_truth(pool, strength, quirks), top)
    curves = []
    for _ in steps:
        curves.append(mrr(-model.mean(), worst))
        if name == "imagenet" and curves[-1].mean() > 0.998:
            break
    return identification(np.array(curves), n_whole)


def bins_of(score: Floats) -> Ints:
    """(N,) the bin of equal width of each score; a score of 1 is in the last."""
    return np.minimum((score * N_BINS).astype(np.int64), N_BINS - 1)


def _truth(pool: Pool, strength: float, quirks: bool) -> Floats:
    if quirks:
        model = BinAccuracies(pool, strength, 1, quirks)
        for i in range(pool.label.size):
            model.learn(pool.predicted[[i]], np.array([i]))
        return model.mean()[0]
    gap = np.zeros((pool.n_classes, N_BINS))
    right: Bools = pool.predicted == pool.label
    np.add.at(gap, (pool.predicted, bins_of(pool.score)), pool.score - right)
    size = np.bincount(pool.predicted, minlength=pool.n_classes)
    ece: Floats = np.abs(gap).sum(axis=1) / np.maximum(size, 1)
    return ece


def _without_holdout(pool: Pool) -> Pool:
    n = pool.label.size
    kept = np.sort(np.random.default_rng(0).permutation(n)[: n - int(HOLDOUT * n)])
    parts = (pool.predicted[kept], pool.score[kept], pool.label[kept])
    return Pool(pool.name, pool.n_classes, *parts, None)
