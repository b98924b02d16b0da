"""Pools of which two classifiers predict the same items, or more: made ones, and real ones."""

from __future__ import annotations

import numpy as np

from tests.bench.paper.data import load
from tests.calibration.made import Ints, Made

# Of two classifiers: how many items, how often they disagree, and who is right then. Scores say
# nothing of it, and every stratum and site is like every other: what a comparison assumed away.
TWO: dict[str, tuple[int, float, list[list[float]]]] = {
    "b ten points in a hundred": (3000, 0.10, [[0.75, 0.05], [0.8, 0.05]]),
    "b two in a hundred": (10000, 0.02, [[0.75, 0.05], [0.8, 0.05]]),
    "b four in a hundred": (10000, 0.04, [[0.55, 0.25]]),
    "e near the rope": (3000, 0.10, [[0.5, 0.38], [0.52, 0.33]]),
    "c like": (3000, 0.10, [[0.4, 0.4]]),
    "d cells scatter": (3000, 0.10, [[0.4, 0.4]]),
}


def made_of_two(kind: str) -> Made:
    """A pool that two classifiers predict; kind "a model" has the first one's predictions."""
    n, apart, chances = TWO["c like" if kind == "a model" else kind]
    k, rng = 10, np.random.default_rng([20261124, n])
    first = rng.integers(k, size=n)
    differs = rng.random(n) < apart
    second = np.where(differs, (first + rng.integers(1, k, n)) % k, first)
    scores = np.clip(rng.beta(8.0, 1.5, (2, n)), 0.3, 0.999).round(6)
    return Made(
        kind, k, first, scores[0], rng.integers(5, size=n), None, None, second, scores[1],
        None if kind == "a model" else np.array(chances),
    )  # fmt: skip


MANY = ("b six by shares", "d six, three copies")


def made_of_many(kind: str) -> Made:
    """A pool that six classifiers predict; of copies, three of them say nearly the same."""
    n, k, rng = 3000, 10, np.random.default_rng([20261128, len(kind)])
    common = rng.integers(k, size=n)
    hard = rng.random(n) < 0.4

    def other_than(said: Ints, chance: float) -> Ints:
        differs = hard & (rng.random(n) < chance)
        return np.where(differs, (said + rng.integers(1, 4, n)) % k, said)

    said = [other_than(common, 0.5) for _ in range(6)]
    if kind == "d six, three copies":
        said[1:3] = [other_than(said[0], 0.1) for _ in range(2)]
    score = np.clip(rng.beta(8.0, 1.5, n), 0.3, 0.999).round(6)
    return Made(
        kind, k, said[0], score, rng.integers(5, size=n), None, None, said[1], score,
        others=tuple(said[2:]),
    )  # fmt: skip


REAL_MANY = {"g cifar100, three models": ("cifar100", "cifar100-resnet", "cifar100-wrn")}


def made_of_real(kind: str) -> Made:
    """The pool of a kind, whose data is there."""
    first, second, *others = (load(name) for name in REAL_MANY[kind])
    score = [np.clip(one.score, 1e-6, 1 - 1e-6) for one in (first, second, *others)]
    site = np.zeros(score[0].size, dtype=np.int64)
    return Made(
        kind, first.n_classes, first.predicted, score[0], site, None, first.label,
        second.predicted, score[1], others=tuple(one.predicted for one in others),
        other_scores=tuple(score[2:]),
    )  # fmt: skip
