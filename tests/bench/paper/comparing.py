"""Table 7: labels until a comparison of two groups is what all labels would say of it.

Random pairs side by side, one pair a run. mu = (P(d < -.05), P(|d| <= .05), P(d > .05)) for
d = theta_1 - theta_2 comes from the two distribution functions on a grid; one more label changes
them by a closed-form term (the recurrences of the incomplete beta function), so the look-ahead of
TS needs no draws of 10,000 values.
"""

import random
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import betainc, betaln

from tests.bench.paper.accuracy import METHODS, Method, prior_of
from tests.bench.paper.data import Bools, Floats, Groups, Ints, by_class, by_superclass, load

CELLS = 400
WIDTH = CELLS // 20  # the region of practical equivalence, .05, in cells of the grid
GRID = np.linspace(0, 1, CELLS + 1)
DECIDED = 0.95
NEAR = 0.05  # a lambda within 5% of the final one is a success
PairOf = tuple[Floats, Floats]
Criterion = Literal["text", "released", "decided"]


def groups_of(pool: str, quirks: bool) -> Groups:
    """The groups of Table 7: predicted superclass for CIFAR-100, else predicted class."""
    items = load(pool)
    return by_superclass(items, quirks) if pool == "cifar100-wrn" else by_class(items)


def pairs_of(n_groups: int, n_pairs: int) -> Ints:
    """(P, 2) the pairs that the authors' seeds 0, 1, 2, ... choose."""
    pairs = []
    for seed in range(n_pairs):
        order = list(range(n_groups))
        random.Random(seed).shuffle(order)
        pairs.append(order[:2])
    return np.array(pairs)


def compare(
    pool: str, n_pairs: int | None, cap: int | None, criterion: Criterion = "text"
) -> dict[str, Any]:
    """Mean labels a pair (random ones, or all) for each method.

    "text": eta is right and lambda within 5% of its value on the whole pool; a miss is counted at
    the cap (or at both groups' sizes, if smaller). "released", the authors' code: the region is
    known beforehand, only its probability is tested, a pair that never succeeds counts as one
    label; on CIFAR-100 the superclass labels are the model's own. "decided": lambda is at least .95
    and eta the region of the pool's true difference; a miss as in the text.
    """
    groups = groups_of(pool, quirks=criterion == "released")
    every = np.array(list(combinations(range(groups.n), 2)))
    pairs = every if n_pairs is None else pairs_of(groups.n, n_pairs)
    result: dict[str, Any] = {"pairs": len(pairs), "cap": cap}
    for method in METHODS:
        result[method] = _labels_needed(groups, pairs, method, cap, criterion)
    return result


def region_probabilities(first: Floats, second: Floats) -> Floats:
    """(P, 3) mu from (P, cells + 1) distribution functions of the two rates.

    The mass of the first in a cell meets the mean of the second's distribution function there.
    """
    mass = np.diff(first)
    below = _shifted(second, -WIDTH)  # P(theta_2 <= t - .05)
    above = _shifted(second, WIDTH)  # P(theta_2 <= t + .05)
    higher = (mass * (below[:, 1:] + below[:, :-1])).sum(axis=1) / 2
    lower = 1 - (mass * (above[:, 1:] + above[:, :-1])).sum(axis=1) / 2
    return np.stack([lower, 1 - lower - higher, higher], axis=1)


def one_more(distribution: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """(P, cells + 1) distribution functions after a right and after a wrong answer."""
    inside = GRID[1:-1]
    step = np.zeros_like(distribution)
    a, b = a[:, None], b[:, None]
    step[:, 1:-1] = np.exp(a * np.log(inside) + b * np.log1p(-inside) - betaln(a, b))
    return distribution - step / a, distribution + step / b


def _labels_needed(
    groups: Groups, pairs: Ints, method: Method, cap: int | None, criterion: Criterion
) -> dict[str, float]:
    n_pairs = len(pairs)
    rows, rng = np.arange(n_pairs), np.random.default_rng([n_pairs, METHODS.index(method)])
    answers, sizes = _answers(groups, pairs)
    budget = np.minimum(sizes.sum(axis=1), cap or groups.of.size)
    a, b = (p[pairs] for p in prior_of(groups, method))  # N0 = 2 for all three, in the code too
    region, certain = _truth(groups, pairs, criterion)
    at: list[Floats] = [betainc(a[:, [s]], b[:, [s]], GRID) for s in (0, 1)]
    taken = np.zeros((n_pairs, 2), np.int64)
    first_hit, last_miss = np.zeros(n_pairs, np.int64), np.zeros(n_pairs, np.int64)
    for n in range(1, int(budget.max()) + 1):
        going = n <= budget
        left = sizes - taken
        after = [one_more(at[s], a[:, s], b[:, s]) for s in (0, 1)]
        if method == "IPrior+TS":
            arm = _most_deciding(at, after, rng.beta(a, b), left, criterion == "released", rng)
        else:
            arm = (rng.random(n_pairs) * left.sum(axis=1) >= left[:, 0]).astype(np.int64)
        right = answers[rows, arm, np.minimum(taken[rows, arm], answers.shape[2] - 1)]
        for s in (0, 1):
            mine = (going & (arm == s))[:, None]
            at[s] = np.where(mine, np.where(right[:, None], *after[s]), at[s])
        a[rows, arm] += going & right
        b[rows, arm] += going & ~right
        taken[rows, arm] += going
        mu = region_probabilities(at[0], at[1])
        if criterion == "decided":
            hit = mu[rows, region] >= DECIDED
        else:
            hit = np.abs(mu[rows, region] - certain) < NEAR * certain
        if criterion == "text":
            hit &= mu.argmax(axis=1) == region
        first_hit = np.where(going & hit & (first_hit == 0), n, first_hit)
        last_miss = np.where(going & ~hit, n, last_miss)
    missed = first_hit == 0
    labels = np.where(missed, 1 if criterion == "released" else budget, first_hit)
    return {
        "labels": float(labels.mean()),
        "spread": float(labels.std()),
        "missed": float(missed.sum()),
        "last_miss": float(last_miss.mean()),
    }


def _most_deciding(
    at: list[Floats],
    after: list[tuple[Floats, Floats]],
    theta: Floats,
    left: Ints,
    quirks: bool,
    rng: np.random.Generator,
) -> Ints:
    """(P,) the arm of the larger E[lambda after one label], at drawn rates.

    The authors' lambda is a share of 10,000 draws; `quirks` adds that noise.
    """
    worth = np.empty(theta.shape)
    for s in (0, 1):
        lambdas = []
        for outcome in (0, 1):
            distributions = (after[0][outcome], at[1]) if s == 0 else (at[0], after[1][outcome])
            top = region_probabilities(*distributions).max(axis=1)
            if quirks:
                noise = np.sqrt(np.clip(top * (1 - top), 0, None) / 10_000)
                top = top + noise * rng.standard_normal(top.size)
            lambdas.append(top)
        worth[:, s] = theta[:, s] * lambdas[0] + (1 - theta[:, s]) * lambdas[1]
    worth[left == 0] = -np.inf
    arm: Ints = worth.argmax(axis=1)
    return arm


def _truth(groups: Groups, pairs: Ints, criterion: Criterion) -> tuple[Ints, Floats]:
    """(P,) the region eta and lambda when every item has its label (no prior)."""
    right = groups.size * (groups.accuracy + 1e-6)
    wrong = groups.size * (1 - groups.accuracy + 1e-6)
    distributions: list[Floats] = [
        betainc(right[pairs[:, [s]]], wrong[pairs[:, [s]]], GRID) for s in (0, 1)
    ]
    mu = region_probabilities(distributions[0], distributions[1])
    region = mu.argmax(axis=1)
    if criterion != "text":
        difference = groups.accuracy[pairs[:, 0]] - groups.accuracy[pairs[:, 1]]
        region = np.where(difference < -0.05, 0, np.where(difference > 0.05, 2, 1))
    return region, mu[np.arange(len(pairs)), region]


def _answers(groups: Groups, pairs: Ints) -> tuple[Bools, Ints]:
    """(P, 2, n) right or wrong in shuffled order, and (P, 2) how many there are."""
    sizes = groups.size[pairs]
    answers = np.zeros((*pairs.shape, int(sizes.max())), np.bool_)
    for run, pair in enumerate(pairs):
        order = np.random.default_rng(run).permutation(groups.of.size)
        for s, group in enumerate(pair):
            answers[run, s, : sizes[run, s]] = groups.right[order[groups.of[order] == group]]
    return answers, sizes


def _shifted(distribution: Floats, cells: int) -> Floats:
    """The distribution function at t + cells, 0 and 1 outside."""
    moved = np.zeros_like(distribution) if cells < 0 else np.ones_like(distribution)
    if cells < 0:
        moved[:, -cells:] = distribution[:, :cells]
    else:
        moved[:, :-cells] = distribution[:, cells:]
    return moved
