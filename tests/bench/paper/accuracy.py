"""Beta posteriors of the groups' accuracies: Tables 3, 5 and 6 and supplement Table 1."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tests.bench.paper.data import Floats, Groups, Ints, by_class, by_score, load
from tests.bench.paper.measures import ece, identification, mean_and_spread, mrr, rmse, worst_of
from tests.bench.paper.replaying import Rng, label_at_random, label_by_reward

Method = Literal["UPrior", "IPrior", "IPrior+TS"]
METHODS: tuple[Method, ...] = ("UPrior", "IPrior", "IPrior+TS")
Aim = Literal["identify", "estimate"]


def prior_of(
    groups: Groups, method: Method, strength: float = 2, quirks: bool = False
) -> tuple[Floats, Floats]:
    """(G,) alpha and beta of UPrior or IPrior.

    The text gives both the strength 2. The authors' code gives UPrior 1e-6 (not for comparisons);
    `quirks` repeats that. A group without items has mean 1/2; a mean score of 1 makes a zero
    parameter, on which the authors' code stops and which is raised a little here.
    """
    if method == "UPrior":
        strength = 1e-6 if quirks else strength
        mean = np.full(groups.n, 0.5)
    else:
        mean = np.clip(np.nan_to_num(groups.score, nan=0.5), 1e-9, 1 - 1e-9)
    return strength * mean, strength * (1 - mean)


class Betas:
    """R x G independent Beta posteriors, for an infinite population.

    The reward of "identify" is minus the drawn accuracy; of "estimate" p_g (Var - E Var after one
    label), with the expectation at the drawn accuracy (paper, Table 1).
    """

    def __init__(self, groups: Groups, prior: tuple[Floats, Floats], n_runs: int, aim: Aim) -> None:
        self.groups, self.aim = groups, aim
        self.alpha, self.beta = (np.tile(p, (n_runs, 1)) for p in prior)
        self.rows = np.arange(n_runs)

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        a, b = self.alpha[runs], self.beta[runs]
        theta = rng.beta(a, b)
        if self.aim == "identify":
            return -theta
        n = a + b
        now = a * b / (n**2 * (n + 1))
        later = theta * (a + 1) * b + (1 - theta) * a * (b + 1)
        return self.groups.share * (now - later / ((n + 1) ** 2 * (n + 2)))

    def learn(self, group: Ints, item: Ints) -> None:
        right = self.groups.right[item]
        self.alpha[self.rows, group] += right
        self.beta[self.rows, group] += ~right

    def mean(self) -> Floats:
        """(R, G) posterior means."""
        return self.alpha / (self.alpha + self.beta)


def identify(
    pool: str, method: Method, top: int, n_runs: int, strength: float = 2, quirks: bool = False
) -> dict[str, Any]:
    """Table 6: labels until the least accurate predicted classes are ranked first.

    ImageNet's TS stops once the mean MRR is .998, far behind the marks.
    """
    groups = by_class(load(pool))
    model = Betas(groups, prior_of(groups, method, strength, quirks), n_runs, "identify")
    worst = worst_of(groups.accuracy, top)
    curves = []
    for _ in labels(model, method, n_runs, groups.of.size, top):
        curves.append(mrr(model.mean(), worst))
        if pool == "imagenet" and method == "IPrior+TS" and curves[-1].mean() > 0.998:
            break
    return identification(np.array(curves), groups.of.size)


def estimate(
    pool: str,
    bins: bool,
    method: Method,
    at: Sequence[int],
    n_runs: int,
    strength: float = 2,
    quirks: bool = False,
) -> dict[str, Any]:
    """Table 3 (predicted classes) or Table 5 and supplement Table 1 (ten bins of equal size).

    RMSE x 100, and for bins the error of the ECE in percent of the whole pool's, after `at` labels.
    The authors' index is one step of their log too far, so that what they print under N is at
    N + 10; `quirks` repeats that, and their other bins for the whole pool's ECE.
    """
    items = load(pool)
    groups = by_score(items, quirks) if bins else by_class(items)
    model = Betas(groups, prior_of(groups, method, strength, quirks), n_runs, "estimate")
    reference = _whole_ece(groups, items.score, quirks)
    shift = 10 if quirks else 0
    errors: dict[str, Any] = {}
    wrong_ece: dict[str, Any] = {}
    for n in labels(model, method, n_runs, max(at) + shift, 1):
        if n - shift in at:
            errors[str(n - shift)] = mean_and_spread(100 * rmse(model.mean(), groups))
            off = np.abs(ece(model.mean(), groups) / reference - 1)
            wrong_ece[str(n - shift)] = mean_and_spread(100 * off)
    return {"rmse_x100": errors} | ({"ece_error_percent": wrong_ece} if bins else {})


def labels(model: Betas, method: Method, n_runs: int, until: int, top: int) -> Iterator[int]:
    of, runs = model.groups.of, range(n_runs)
    if method == "IPrior+TS":
        return label_by_reward(model, of, model.groups.n, runs, until, top)
    return label_at_random(model, of, runs, until)


def _whole_ece(groups: Groups, score: Floats, quirks: bool) -> float:
    """The ECE of the whole pool in the same bins; in the authors' code in 20 of equal width."""
    if not quirks:
        return float(ece(groups.accuracy[None], groups)[0])
    bins = np.digitize(score, np.linspace(0, 1, 21)[1:-1])
    gap = np.bincount(bins, score) - np.bincount(bins, groups.right)
    return float(np.abs(gap).sum() / score.size)
