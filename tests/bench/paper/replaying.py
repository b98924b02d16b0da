"""Many runs of one method side by side: which item each run labels next.

Nothing of the baseline comes from `worker.core`, so that it checks the core as well as the paper's
numbers. Every run has its own shuffle of the pool (seeded by the run's number, as the authors have
it); all runs take one label a tick, and a model's arrays have the runs as their first axis.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tests.bench.paper.data import Floats, Ints

LOG_EVERY = 10  # labels; the authors record the state no more often
Rng = np.random.Generator


class Model(Protocol):
    """What R runs believe of G groups."""

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        """(len(runs), G) what a label in each group is worth under a fresh posterior draw."""
        ...

    def learn(self, group: Ints, item: Ints) -> None:
        """Take in one label in every run: (R,) the group and the item of the pool."""
        ...


class Hasty:
    """A model whose labels go to groups drawn uniformly, whatever they hold."""

    def __init__(self, model: Model, n_groups: int) -> None:
        self.model, self.n_groups = model, n_groups

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        return rng.random((runs.size, self.n_groups))

    def learn(self, group: Ints, item: Ints) -> None:
        self.model.learn(group, item)


def shuffles(n_items: int, runs: range) -> NDArray[np.int32]:
    """(R, N) the order of the items in every run."""
    orders = np.empty((len(runs), n_items), np.int32)
    for i, run in enumerate(runs):
        orders[i] = np.random.default_rng(run).permutation(n_items)
    return orders


def label_at_random(model: Model, of: Ints, runs: range, until: int) -> Iterator[int]:
    """Label uniformly without replacement; say how many labels there are, every ten labels."""
    orders = shuffles(of.size, runs)
    for n in range(min(until, of.size)):
        items = orders[:, n]
        model.learn(of[items], items)
        if (n + 1) % LOG_EVERY == 0:
            yield n + 1


def label_by_reward(
    model: Model, of: Ints, n_groups: int, runs: range, until: int, top: int = 1
) -> Iterator[int]:
    """Label by TS, or by MP-TS for `top` > 1; say how many labels there are, every ten labels.

    One posterior draw ranks the groups; the `top` best that have items left get one label each,
    best first, and then comes the next draw. With fewer groups left the round is shorter.
    """
    rng = np.random.default_rng([runs.start, runs.stop, top])
    size = np.bincount(of, minlength=n_groups)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    orders = shuffles(of.size, runs)
    for i, order in enumerate(orders):  # group after group, shuffled within
        orders[i] = order[np.argsort(of[order], kind="stable")]
    n_runs = len(runs)
    rows = np.arange(n_runs)
    taken = np.zeros((n_runs, n_groups), np.int64)
    closed = np.tile(size == 0, (n_runs, 1))
    n_open = n_groups - closed.sum(axis=1)
    batch = np.zeros((n_runs, top), np.int64)
    at, length = np.zeros(n_runs, np.int64), np.zeros(n_runs, np.int64)
    for n in range(1, min(until, of.size) + 1):
        new = np.flatnonzero(at == length)
        if new.size:
            worth = model.reward(new, rng)
            worth[closed[new]] = -np.inf
            batch[new] = _best(worth, top)
            at[new], length[new] = 0, np.minimum(top, n_open[new])
        group = batch[rows, at]
        item = orders[rows, start[group] + taken[rows, group]]
        model.learn(group, item)
        taken[rows, group] += 1
        at += 1
        spent = taken[rows, group] == size[group]
        closed[rows, group] = spent
        n_open -= spent
        if n % LOG_EVERY == 0:
            yield n


def _best(worth: Floats, top: int) -> Ints:
    """(R, top) the indices of the largest values, largest first."""
    if top == 1:
        return worth.argmax(axis=1)[:, None]
    some = np.argpartition(-worth, top - 1, axis=1)[:, :top]
    order = np.argsort(-np.take_along_axis(worth, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
