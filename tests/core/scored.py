"""Pools whose scores and accuracies are known, and assessments of their calibration error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from worker.core.posterior.belief import Belief
from worker.core.posterior.calibration_prior import shared_prior
from worker.core.posterior.hypothetical import labelled, with_prior
from worker.core.posterior.intervals import whole
from worker.core.posterior.metrics import Metric
from worker.core.questions.question import Question
from worker.core.questions.rewards import squared_error
from worker.core.stopping.schedule import is_look, is_refit
from worker.core.strategies import STRATEGIES
from worker.pool.groups import cell_codes, equal_mass_thresholds

LEAST, MOST = 0.001, 0.9995
STRATA = 16

# n scores of a kind
SCORES: dict[str, Any] = {
    "deep net": lambda rng, n: rng.beta(8, 1.5, n),
    "very sure": lambda rng, n: special.expit(rng.normal(4.5, 2, n)),
    "uniform": lambda rng, n: rng.random(n),
    "U-shaped": lambda rng, n: rng.beta(0.5, 0.5, n),
    "five values": lambda rng, n: rng.choice([0.35, 0.55, 0.75, 0.9, 0.98], n),
    "constant": lambda rng, n: np.full(n, 0.9),
}
# the accuracy of the items with a score; none of them drawn from the prior
TRUTHS: dict[str, Any] = {
    "calibrated": lambda s: s,
    "temperature .8": lambda s: special.expit(0.8 * special.logit(s)),
    "temperature 1.5": lambda s: special.expit(1.5 * special.logit(s)),
    "shift -.3": lambda s: special.expit(special.logit(s) - 0.3),
    "shift +.3": lambda s: special.expit(special.logit(s) + 0.3),
    "surest 30% off": lambda s: np.where(s > np.quantile(s, 0.7), 0.9 * s, s),
    "waves": lambda s: np.clip(s + 0.06 * np.sin(25 * s), 0.01, 0.999),
    "shift -1.2": lambda s: special.expit(special.logit(s) - 1.2),
    "shift -2.5": lambda s: special.expit(special.logit(s) - 2.5),
    "scores say nothing": lambda s: np.full(s.size, 0.6 * s.mean()),
    "the wrong way round": lambda s: np.clip(1 - 0.7 * s, 0.02, 0.98),
}


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPool:
    """N items in strata inside bins. ece: true, on the whole pool."""

    cell: Any
    group: Any
    size: Any
    score: Any
    right: Any
    ece: float


def made(scores: str, truth: str, n: int, rng: np.random.Generator, mass: bool = False):
    """A pool of n items of a kind; every other one cut into bins of equal mass."""
    score = np.clip(SCORES[scores](rng, n), LEAST, MOST)
    return cut(score, rng.random(n) < TRUTHS[truth](score), mass)


def cut(score, right, mass: bool = False, n_bins: int = 10) -> ScoredPool:
    """Scores and outcomes (N,) in bins of equal width, or of equal mass."""
    inner = equal_mass_thresholds(score, n_bins) if mass else np.arange(1, n_bins) / n_bins
    bins = np.unique(np.searchsorted(inner, score, side="right"), return_inverse=True)[1]
    cell, group, _ = cell_codes(bins.astype(np.int32), np.zeros_like(bins), score, STRATA)
    size = np.bincount(cell)
    mean = np.clip(np.bincount(cell, score) / size, 0, 1)
    ece = float(np.abs(np.bincount(bins, score - right)).sum() / score.size)
    return ScoredPool(cell, group.astype(np.int64), size, mean, right, ece)


def first(pool: ScoredPool) -> Belief:
    """What is believed of the pool's ECE before any label, as the plan's default has it."""
    none = np.zeros(pool.size.size, np.int64)
    metric = Metric("ece", score=pool.score, unit=none, pooled=True)
    alpha, beta, mixture = shared_prior(pool.score, pool.size, pool.group)
    n_groups = int(pool.group[-1]) + 1
    return Belief(
        pool.group, pool.size, none, none, alpha, beta, n_groups, mixture=mixture, metric=metric
    )


def beliefs(pool: ScoredPool, strategy: str, rng: np.random.Generator) -> Iterator[Belief]:
    """The beliefs after every label, the prior's components laid out as the schedule has it."""
    b, choose, question = first(pool), STRATEGIES[strategy], Question("estimate")
    order = rng.permutation(pool.cell.size)
    waiting = [order[pool.cell[order] == c].tolist() for c in range(pool.size.size)]
    left, none = pool.size.copy(), np.zeros_like(pool.size)
    for n in range(1, pool.cell.size + 1):
        cell = choose(b, question, left, none, rng).cell
        left[cell] -= 1
        b = labelled(b, cell, int(not pool.right[waiting[cell].pop()]))
        if is_refit(n):
            b = laid_out(b, pool)
        yield b


def laid_out(b: Belief, pool: ScoredPool) -> Belief:
    """The belief with components where its labels put them."""
    told = np.stack([b.right, b.wrong], axis=1)
    return with_prior(b, *shared_prior(pool.score, pool.size, pool.group, told))


def at_once(pool: ScoredPool, n: int, rng: np.random.Generator) -> Belief:
    """The belief after n labels of items at random."""
    rows = rng.permutation(pool.cell.size)[:n]
    counts = [np.bincount(pool.cell[rows], w, pool.size.size) for w in
              (pool.right[rows], ~pool.right[rows])]  # fmt: skip
    right, wrong = (c.astype(np.int64) for c in counts)
    b = first(pool)
    told = Belief(b.group, b.size, right, wrong, b.alpha, b.beta, b.n_groups, mixture=b.mixture,
                  metric=b.metric)  # fmt: skip
    return laid_out(told, pool)


def found(b: Belief, pool: ScoredPool) -> tuple[float, bool, float]:
    """Of what is published: its error, whether its interval holds, and how wide that is."""
    mean, low, high = whole(b)
    return mean - pool.ece, low <= pool.ece <= high, high - low


def at_stop(
    pool: ScoredPool, target: float, strategy: str, rng: np.random.Generator, looks: int = 3
) -> tuple[int, float]:
    """Labels and error where `rmse: target` stops: it held at that many points of the schedule."""
    held = 0
    for n, b in enumerate(beliefs(pool, strategy, rng), start=1):
        if is_look(n):
            held = held + 1 if squared_error(b) <= target**2 else 0
        if held == looks or n == pool.cell.size:
            return n, found(b, pool)[0]
    raise AssertionError("a pool has items")


def followed(
    pool: ScoredPool, at: Sequence[int], strategy: str, rng: np.random.Generator
) -> list[tuple[float, bool, float]]:
    """`found` after so many labels each."""
    if strategy == "random":
        return [found(at_once(pool, n, rng), pool) for n in at]
    seen = []
    for n, b in enumerate(beliefs(pool, strategy, rng), start=1):
        if n in at:
            seen.append(found(b, pool))
        if n == max(at):
            break
    return seen
