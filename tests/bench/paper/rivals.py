"""Other ways to choose than Thompson sampling, and the questions of the 2019 workshop paper.

Ji, Logan, Smyth & Steyvers: the supplement's Figures 8, 12 and 13 (AAAI 2021); Figures 3 and 7 of
"Bayesian Evaluation of Black-Box Classifiers" (ICML 2019 workshop).
"""

from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv

from tests.bench.paper.accuracy import Betas, prior_of
from tests.bench.paper.data import Floats, Groups, Ints, by_class, load
from tests.bench.paper.measures import identification, mrr, worst_of
from tests.bench.paper.replaying import Rng, label_at_random, label_by_reward

Way = Literal["random", "TS", "TTTS", "epsilon-greedy", "Bayes-UCB"]
Worst = Literal["accuracy", "bias"]

KEEP = 0.5  # TTTS: how often the first draw's class is kept
EXPLORE = 0.1  # epsilon-greedy: how often any class is taken
TAIL = 0.025  # Bayes-UCB of the error rate at its 97.5% quantile: the accuracy's other tail
_MAX_REDRAWS = 50


class Chooser(Betas):
    """Betas of R runs whose classes are chosen in one of the ways.

    "bias" asks for the largest mean score less accuracy, as the 2019 paper does, with a draw of the
    accuracy; "accuracy" for the lowest.
    """

    def __init__(self, groups: Groups, is_informed: bool, n_runs: int, way: Way, of: Worst) -> None:
        prior = prior_of(groups, "IPrior" if is_informed else "UPrior")
        super().__init__(groups, prior, n_runs, "identify")
        self.way = way
        score = np.nan_to_num(groups.score) if of == "bias" else np.zeros(groups.n)
        self.worth = np.where(groups.size > 0, score, -np.inf)
        if way == "Bayes-UCB":
            self.low = betaincinv(self.alpha, self.beta, TAIL)

    def reward(self, runs: Ints, rng: Rng) -> Floats:
        if self.way == "Bayes-UCB":
            return self.worth - self.low[runs]
        if self.way == "epsilon-greedy":
            found = self.worth - self.mean()[runs]
            any_class = rng.random(runs.size) < EXPLORE
            found[any_class] = rng.random((int(any_class.sum()), self.groups.n))
            return found
        drawn = self._drawn(runs, rng)
        return self._second(drawn, runs, rng) if self.way == "TTTS" else drawn

    def learn(self, group: Ints, item: Ints) -> None:
        super().learn(group, item)
        if self.way == "Bayes-UCB":
            at = self.rows, group
            self.low[at] = betaincinv(self.alpha[at], self.beta[at], TAIL)

    def lowest_first(self) -> Floats:
        """(R, G) the classes looked for come first, by the posterior means."""
        return self.mean() - self.worth

    def _drawn(self, runs: Ints, rng: Rng) -> Floats:
        worth: Floats = self.worth - rng.beta(self.alpha[runs], self.beta[runs])
        return worth

    def _second(self, drawn: Floats, runs: Ints, rng: Rng) -> Floats:
        first = drawn.argmax(axis=1)
        still = np.flatnonzero(rng.random(runs.size) >= KEEP)
        for _ in range(_MAX_REDRAWS):
            drawn[still] = self._drawn(runs[still], rng)
            still = still[drawn[still].argmax(axis=1) == first[still]]
            if not still.size:
                break
        return drawn


def identify(
    pool: str, way: Way, top: int, n_runs: int, is_informed: bool = False, of: Worst = "accuracy"
) -> dict[str, Any]:
    """Labels until the `top` classes are ranked first, and how often the first one is right.

    `success`: [labels, share of the runs in which the class that is looked for has the lowest mean
    accuracy, or the largest mean bias], for `top` 1. Prior strength 2.
    """
    groups = by_class(load(pool))
    model = Chooser(groups, is_informed, n_runs, way, of)
    n, runs = groups.of.size, range(n_runs)
    if way == "random":
        steps = label_at_random(model, groups.of, runs, n)
    else:
        steps = label_by_reward(model, groups.of, groups.n, runs, n, top)
    worst = worst_of(groups.accuracy - model.worth, top)
    curves = np.array([mrr(model.lowest_first(), worst) for _ in steps])
    found = identification(curves, n)
    first = (curves == 1).mean(axis=1)
    return found | {
        "success": [[labels, float(first[labels // 10 - 1])] for labels, _ in found["curve"]]
    }
