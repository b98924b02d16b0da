"""Supplement Tables 3 and 4: the predicted classes of highest expected cost, CIFAR-100.

A row of the cost matrix has at most three values, 0 (right), 1 and the relative cost, so the
Dirichlet over 100 true classes is summed to one over three kinds of outcome: exactly, since a
Dirichlet's sums are Dirichlet. With a relative cost of 1 both cost types ask the same question (one
minus the accuracy); the printed tables differ there too (5,000 against 2,200 labels), which says
how far a single number of theirs can be trusted.
"""

from typing import Any, Literal

import numpy as np

from tests.bench.paper.accuracy import Method
from tests.bench.paper.confusion import mean_scores, true_matrix
from tests.bench.paper.data import Floats, Ints, Pool, load, superclass_of_class
from tests.bench.paper.measures import identification, mrr, worst_of
from tests.bench.paper.replaying import Rng, label_at_random, label_by_reward

Kind = Literal["human", "superclass"]
PEOPLE = 14  # the superclass of baby, boy, girl, man, woman


class Costs:
    """R x K Dirichlet posteriors over kinds of outcome; the reward is the drawn cost."""

    def __init__(self, level: Ints, pool: Pool, prior: Floats, price: Floats, n_runs: int) -> None:
        self.outcome = level[pool.predicted, pool.label]
        self.price = price
        self.alpha = np.tile(prior, (n_runs, 1, 1))
        self.rows = np.arange(n_runs)

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        drawn = rng.standard_gamma(self.alpha[runs])
        return (drawn @ self.price) / np.maximum(drawn.sum(axis=2), 1e-300)

    def learn(self, group: Ints, item: Ints) -> None:
        self.alpha[self.rows, group, self.outcome[item]] += 1

    def mean(self) -> Floats:
        """(R, K) posterior mean costs."""
        total: Floats = self.alpha @ self.price
        return total / self.alpha.sum(axis=2)


def identify(kind: Kind, ratio: float, method: Method, top: int, n_runs: int) -> dict[str, Any]:
    """Labels until the `top` most costly predicted classes are ranked first."""
    pool = load("cifar100-wrn")
    level, price = levels(kind), np.array([0.0, 1.0, ratio])
    truth = _by_level(true_matrix(pool), level) @ price
    uniform = np.full((pool.n_classes, pool.n_classes), 1 / pool.n_classes)
    prior = _by_level(uniform if method == "UPrior" else mean_scores(pool), level)
    model = Costs(level, pool, prior, price, n_runs)
    of, runs, n = pool.predicted, range(n_runs), pool.label.size
    if method == "IPrior+TS":
        steps = label_by_reward(model, of, pool.n_classes, runs, n, top)
    else:
        steps = label_at_random(model, of, runs, n)
    worst = worst_of(-truth, top)
    curves = [mrr(-model.mean(), worst) for _ in steps]
    return identification(np.array(curves), n)


def levels(kind: Kind) -> Ints:
    """(K, K) for predicted class k and true class j: 0 right, 1 a mistake, 2 a dear mistake.

    Human: dear where the true class is a person. Superclass: dear where the true class is of
    another superclass than the predicted one.
    """
    of_class = superclass_of_class()
    true = of_class[None, :]
    dear = (true == PEOPLE) if kind == "human" else (true != of_class[:, None])
    level = np.where(np.broadcast_to(dear, (of_class.size, of_class.size)), 2, 1)
    np.fill_diagonal(level, 0)
    return level


def _by_level(matrix: Floats, level: Ints) -> Floats:
    """(K, 3) the sum of every row of (K, K) over each kind of outcome."""
    return np.stack([np.where(level == v, matrix, 0).sum(axis=1) for v in range(3)], axis=1)
