"""From a few votes on an item to what people say of it: Dirichlet mixtures fitted to all items.

The share of votes itself will not do. Of five votes it lies so far from the frequencies behind it
that every prediction would look worse than it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.soft_labels.mixtures import SHAPES, Entries, refits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# human (n, K) and predictions (n, 1, K) -> (n, 1) distances
Measure = Callable[[Floats, Floats], Floats]

_AS_PREDICTED = 0.25
_LEAST_PREDICTED = 1e-3  # no vote is impossible
# Of the likelihood, when shapes are weighed: neither holds exactly. Found by simulation.
_TEMPERED = 0.5
_CHANCES = np.array([*(shape.chance for shape in SHAPES), _AS_PREDICTED])
# Refits of the Bayesian bootstrap, up to so many items each; with many items they differ little.
_REFITS = ((500, 48), (2000, 24), (np.inf, 10))
_GAMMAS = 1 << 20  # random numbers drawn at most
_LEAST_DRAWS, _MOST_DRAWS = 3, 16  # of every item's frequencies, a refit


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is known of the measure of n items with votes.

    exact: probability that people say of all items just what is predicted, and every distance is 0.
    mean, variance: (n,) else. shifted: (B, n) the means by priors that are as likely as each other:
    what is not known of the prior moves all items together. drawn: (B, n) measures, equally likely,
    those of an exact prediction among them.
    """

    exact: float
    mean: Floats
    variance: Floats
    shifted: Floats
    drawn: Floats


def measured(
    counts: Ints,
    predicted: Floats,
    measure: Measure,
    rng: np.random.Generator,
    misfit: float = 0.15,
) -> Measured:
    """The posterior of every item's measure, given the votes on all of them.

    The frequencies behind the votes on an item are Dirichlet, around what is expected of an item so
    predicted (`average`), with one of some precisions. Both are fitted to all votes by EM (of the
    precisions this is the nonparametric maximum likelihood on a grid, held by a weak prior), under
    many random weights of the items, for how uncertain they are; each time by one of two shapes of
    the prior, as likely as the votes make it. Beside them it may be that nothing is to be fitted,
    as the predictions are what people say.

    Args:
        counts: (n, K) votes, whole; at least one an item.
        predicted: (n, K), rows sum to 1.
        measure: gives finite numbers.
        misfit: by so many of their posterior standard deviations all items' means may be off
            together, because their true prior has another shape. Found by simulation.

    Source:
        Koenker & Mizera, "Convex Optimization, Shape Constraints, Compound Decisions, and Empirical
        Bayes Rules" (JASA 2014), for the grid; Rubin, "The Bayesian Bootstrap" (1981), for the
        refits. That the mean of the Dirichlets is a mixture too, and the shapes, are ours.
    """
    n = len(counts)
    n_refits = next(times for most, times in _REFITS if n <= most)
    if not n:
        nothing = np.zeros((n_refits, 0))
        return Measured(0.0, np.zeros(0), np.zeros(0), nothing, nothing)
    n_draws = int(np.clip(_GAMMAS // (counts.size * n_refits), _LEAST_DRAWS, _MOST_DRAWS))
    means, squares, kept = np.zeros((n_refits, n)), np.zeros(n), np.zeros((n_refits, n))
    votes, worth = Entries.of(counts, predicted), rng.standard_exponential((n_refits, n))
    said_so = np.log(np.maximum(predicted[votes.item, votes.label], _LEAST_PREDICTED))
    as_predicted = worth @ votes.summed(votes.times * said_so)
    exact, tiled = 0.0, np.tile(predicted, (n_draws, 1))[:, None]
    for some, fits in refits(votes, worth):
        told = np.stack([*(one.told for one in fits), as_predicted[some]], axis=1)
        chance = special.softmax(_TEMPERED * told + np.log(_CHANCES), axis=1)
        exact += float(chance[:, -1].sum()) / n_refits
        second = rng.random(len(chance)) * chance[:, :-1].sum(axis=1) >= chance[:, 0]
        for r, which in enumerate(second.astype(int).tolist()):
            base, upto = fits[which].base[r], np.cumsum(fits[which].weight[r], axis=1)
            at = (upto < rng.random((n_draws, n, 1)) * upto[:, -1:]).sum(axis=2)
            precision = SHAPES[which].precisions[at]
            y = rng.standard_gamma(base * precision[:, :, None] + counts).reshape(-1, base.shape[1])
            value = measure(y / y.sum(axis=1, keepdims=True), tiled).reshape(n_draws, n)
            means[some.start + r], kept[some.start + r] = value.mean(axis=0), value[-1]
            squares += (value**2).sum(axis=0) / (n_draws * n_refits)
    mean = means.mean(axis=0)
    variance = np.maximum(squares - mean**2, 0.0)
    # normal quantiles, so that the allowance is the same in all beliefs
    off = special.ndtri((np.arange(n_refits) + 0.5) / n_refits)
    moved = misfit * rng.permutation(off)[:, None] * np.sqrt(variance)
    kept[: round(exact * n_refits)] = 0.0
    return Measured(exact, mean, variance, means + moved, kept)
