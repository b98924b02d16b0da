"""From a few votes on an item to what people say of it: Dirichlet mixtures fitted to all items.

The share of votes itself will not do. Of five votes it lies so far from the frequencies behind it
that every prediction would look worse than it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# human (n, K) and predictions (n, 1, K) -> (n, 1) distances
Measure = Callable[[Floats, Floats], Floats]

# What people's frequencies are like on average is a mixture of: the prediction, as it is and with
# its powers, what is usual for items that are predicted so, and no preference.
_POWERS = (1.0, 0.5, 0.25)
_WORTH = 4.0  # items that the mean prediction of a class counts for in what is usual for it
_LEAST = 1e-6  # of a probability, before it is raised to a power


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """What people's frequencies may be like, before the first vote.

    flat: share of the average that knows nothing. precisions: (M,) how closely frequencies lie
    around their average, from one class for everybody to hardly any spread. before: (M,) items
    that each counts for; without it the precisions of some hundred items with few votes run away
    to no spread at all. chance: of this shape.
    """

    flat: float
    precisions: Floats
    before: Floats
    chance: float


def _shape(
    flat: float, more: list[float], worth: float, usual: float, apart: float, chance: float
) -> _Shape:
    """`worth` items, lognormal around a `usual` precision."""
    precisions = np.array([0.15, 0.4, 1.0, 2.5, 6.0, 15.0, 40.0, 100.0, 300.0, *more])
    before = np.exp(-0.5 * (np.log(precisions / usual) / apart) ** 2)
    return _Shape(flat, precisions, worth * before / before.sum(), chance)


# People differ, or agree with each other; and it may be that they say just what is predicted. Some
# votes an item hardly tell which, and each overstates or understates distances where another holds.
_SHAPES = (
    _shape(0.02, [], 6.0, 4.0, 2.0, 0.6),
    _shape(0.002, [1000.0, 5000.0], 2.0, 60.0, 1.5, 0.15),
)
_AS_PREDICTED = 0.25
_LEAST_PREDICTED = 1e-3  # no vote is impossible
# Of the likelihood, when shapes are weighed: neither holds exactly. Found by simulation.
_TEMPERED = 0.5
_CHANCES = np.array([*(shape.chance for shape in _SHAPES), _AS_PREDICTED])
_STEPS, _MORE_STEPS = 200, 60  # of the EM: from nothing, from the fit before
# Refits of the Bayesian bootstrap, up to so many items each; with many items they differ little.
_REFITS = ((500, 48), (2000, 24), (np.inf, 10))
_GAMMAS = 1 << 20  # random numbers drawn at most
_LEAST_DRAWS, _MOST_DRAWS = 3, 16  # of every item's frequencies, a refit
_EVEN_PARTS = np.full(len(_POWERS) + 2, 1 / (len(_POWERS) + 2))


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


@dataclass(slots=True)
class _Fitted:
    """A shape as fitted to votes, where the next fit begins."""

    shape: _Shape
    share: Floats
    weight: Floats


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
    fits = [_Fitted(s, _EVEN_PARTS, s.before / s.before.sum()) for s in _SHAPES]
    item, label = np.nonzero(counts)
    as_predicted = np.bincount(
        item,
        weights=counts[item, label] * np.log(np.maximum(predicted[item, label], _LEAST_PREDICTED)),
        minlength=n,
    )
    exact = 0.0
    for b in range(n_refits):
        worth = rng.standard_exponential(n)
        found = [
            _fit(one, counts, predicted, worth, _STEPS if b == 0 else _MORE_STEPS) for one in fits
        ]
        told = np.array([*(log for log, _, _ in found), worth @ as_predicted])
        chance = special.softmax(_TEMPERED * told + np.log(_CHANCES))
        exact += chance[-1] / n_refits
        which = int(rng.random() * chance[:-1].sum() >= chance[0])
        _, base, weighed = found[which]
        precisions = _SHAPES[which].precisions
        upto = np.cumsum(weighed, axis=1)
        for _ in range(n_draws):
            at = (upto < rng.random((n, 1)) * upto[:, -1:]).sum(axis=1)
            y = rng.standard_gamma(base * precisions[at][:, None] + counts)
            value = measure(y / y.sum(axis=1, keepdims=True), predicted[:, None, :])[:, 0]
            means[b] += value / n_draws
            squares += value**2 / (n_draws * n_refits)
            kept[b] = value
    mean = means.mean(axis=0)
    variance = np.maximum(squares - mean**2, 0.0)
    # normal quantiles, so that the allowance is the same in all beliefs
    off = special.ndtri((np.arange(n_refits) + 0.5) / n_refits)
    moved = misfit * rng.permutation(off)[:, None] * np.sqrt(variance)
    kept[: round(exact * n_refits)] = 0.0
    return Measured(exact, mean, variance, means + moved, kept)


def _fit(
    begun: _Fitted, counts: Ints, predicted: Floats, worth: Floats, n_steps: int
) -> tuple[float, Floats, Floats]:
    """Log likelihood of the votes, what is expected of each item (n, K), and (n, M) weights."""
    of = begun.shape
    base, begun.share = average(counts, predicted, worth, begun.share, n_steps, of.flat)
    fits = _log_likelihoods(counts, base, of.precisions)
    top = fits.max(axis=1, keepdims=True)
    likelihood = np.exp(fits - top)
    begun.weight = _mixture(likelihood, worth, begun.weight, of.before, n_steps)
    log = worth @ (np.log(likelihood @ begun.weight) + top[:, 0])
    return float(log), base, likelihood * begun.weight


def average(
    counts: Ints, predicted: Floats, worth: Floats, share: Floats, n_steps: int, flat: float
) -> tuple[Floats, Floats]:
    """(n, K) what people are expected to say of each item, from its prediction alone; the shares.

    Args:
        worth: (n,) how many times an item counts.
        share: of the parts, where the search begins. flat: as of a shape.
    """
    k = predicted.shape[1]
    is_of = np.eye(k)[predicted.argmax(axis=1)] * worth[:, None]
    shares = counts / counts.sum(axis=1, keepdims=True)
    n_of = is_of.sum(axis=0)[:, None]
    said = is_of.T @ predicted / np.maximum(n_of, 1e-9)
    usual = (is_of.T @ shares + _WORTH * said) / (n_of + _WORTH)
    tempered = [np.maximum(predicted, _LEAST) ** power for power in _POWERS]
    parts = [*(t / t.sum(axis=1, keepdims=True) for t in tempered)]
    parts += [usual[predicted.argmax(axis=1)], np.full_like(predicted, 1 / k)]
    item, label = np.nonzero(counts)
    said_so = np.stack([part[item, label] for part in parts])
    times = counts[item, label] * worth[item]
    for _ in range(n_steps):
        share = share * (said_so @ (times / (share @ said_so))) + _EVEN_PARTS
        share = share / share.sum()
    mixed = np.tensordot(share, np.stack(parts), 1)
    return (1 - flat) * mixed + flat / k, share


def _log_likelihoods(counts: Ints, base: Floats, precisions: Floats) -> Floats:
    """(n, M) of the votes, Dirichlet-multinomial, without the multinomial coefficient."""
    item, label = np.nonzero(counts)
    of = base[item, label]
    times, total = counts[item, label], counts.sum(axis=1)
    fits = np.empty((len(counts), precisions.size))
    for m, a in enumerate(precisions):
        risen = special.gammaln(a * of + times) - special.gammaln(a * of)
        fits[:, m] = np.bincount(item, weights=risen, minlength=len(counts))
        fits[:, m] += special.gammaln(a) - special.gammaln(a + total)
    return fits


def _mixture(
    likelihood: Floats, worth: Floats, weight: Floats, before: Floats, n_steps: int
) -> Floats:
    """(M,) weights of the precisions, fitted with the items counted `worth` times."""
    for _ in range(n_steps):
        weight = weight * ((worth / (likelihood @ weight)) @ likelihood) + before
        weight = weight / weight.sum()
    return weight
