"""What people may say of items so predicted: Dirichlet mixtures, fitted to all votes by EM."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.core.prior.rising import log_rising, rising

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What people's frequencies are like on average is a mixture of: the prediction, as it is and with
# its powers, what is usual for items that are predicted so, and no preference.
_POWERS = (1.0, 0.5, 0.25)
_WORTH = 4.0  # items that the mean prediction of a class counts for in what is usual for it
_LEAST = 1e-6  # of a probability, before it is raised to a power
_STEPS, _MORE_STEPS = 200, 60  # of the EM: from nothing, from the fit before
_AT_ONCE = 1 << 17  # numbers of what people are expected to say, of refits that are made together
_EVEN_PARTS = np.full(len(_POWERS) + 2, 1 / (len(_POWERS) + 2))


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
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
) -> Shape:
    """`worth` items, lognormal around a `usual` precision."""
    precisions = np.array([0.15, 0.4, 1.0, 2.5, 6.0, 15.0, 40.0, 100.0, 300.0, *more])
    before = np.exp(-0.5 * (np.log(precisions / usual) / apart) ** 2)
    return Shape(flat, precisions, worth * before / before.sum(), chance)


# People differ, or agree with each other; and it may be that they say just what is predicted. Some
# votes an item hardly tell which, and each overstates or understates distances where another holds.
SHAPES = (
    _shape(0.02, [], 6.0, 4.0, 2.0, 0.6),
    _shape(0.002, [1000.0, 5000.0], 2.0, 60.0, 1.5, 0.15),
)


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The votes on n items, entry by entry: `times` votes on a class of an item, those together.

    item, label, times: (E,). begin: (n,) where an item's entries begin.
    """

    counts: Ints
    predicted: Floats
    item: Ints
    label: Ints
    times: Ints
    begin: Ints

    @classmethod
    def of(cls, counts: Ints, predicted: Floats) -> "Entries":
        """Every item has a vote."""
        item, label = np.nonzero(counts)
        begin = np.flatnonzero(np.diff(item, prepend=-1))
        return cls(counts, predicted, item, label, counts[item, label], begin)

    def summed(self, entries: Floats) -> Floats:
        """(..., n) sums over the entries (..., E) of each item."""
        total: Floats = np.add.reduceat(entries, self.begin, axis=-1)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """A shape as fitted to the votes under R random weights of the items.

    told: (R,) log likelihoods of the votes. base: (R, n, K) what is expected of each item. weight:
    (R, n, M) of the precisions. share (R, P), mixture (R, M): where other fits begin.
    """

    told: Floats
    base: Floats
    weight: Floats
    share: Floats
    mixture: Floats


def refits(votes: Entries, worth: Floats) -> Iterator[tuple[slice, list[Fits]]]:
    """Each shape's fits under the weights (B, n): the first ones alone, the others begin there."""
    begun = [(_EVEN_PARTS[None], s.before[None] / s.before.sum()) for s in SHAPES]
    first = [
        _fit(shape, votes, worth[:1], *at, _STEPS) for shape, at in zip(SHAPES, begun, strict=True)
    ]
    yield slice(0, 1), first
    step = max(1, _AT_ONCE // (votes.counts.size * len(_EVEN_PARTS)))
    for start in range(1, len(worth), step):
        some = slice(start, min(start + step, len(worth)))
        yield (
            some,
            [
                _fit(shape, votes, worth[some], at.share, at.mixture, _MORE_STEPS)
                for shape, at in zip(SHAPES, first, strict=True)
            ],
        )


def _fit(
    shape: Shape, votes: Entries, worth: Floats, share: Floats, mixture: Floats, n_steps: int
) -> Fits:
    base, share = average(votes, worth, share, n_steps, shape.flat)
    logs = _log_likelihoods(votes, base, shape.precisions)
    top = logs.max(axis=2, keepdims=True)
    likelihood = np.exp(logs - top)
    mixture = _mixture(likelihood, worth, mixture, shape.before, n_steps)
    weight = likelihood * mixture[:, None]
    told = np.vecdot(worth, np.log(weight.sum(axis=2)) + top[:, :, 0])
    return Fits(told, base, weight, share, mixture)


def average(
    votes: Entries, worth: Floats, share: Floats, n_steps: int, flat: float
) -> tuple[Floats, Floats]:
    """(R, n, K) what people are expected to say of each item, from its prediction alone.

    And (R, P) the shares of the parts.

    Args:
        worth: (R, n) how many times an item counts.
        share: (R or 1, P) of the parts, where the search begins. flat: as of a shape.
    """
    counts, predicted, k = votes.counts, votes.predicted, votes.predicted.shape[1]
    top = predicted.argmax(axis=1)
    is_of = (np.eye(k)[:, top] * worth[:, None]).astype(np.float64)  # (R, K, n)
    n_of = is_of.sum(axis=2, keepdims=True)
    said = is_of @ predicted / np.maximum(n_of, 1e-9)
    usual = is_of @ (counts / counts.sum(axis=1, keepdims=True)) + _WORTH * said
    usual = (usual / (n_of + _WORTH))[:, top]  # (R, n, K)
    tempered = [np.maximum(predicted, _LEAST) ** power for power in _POWERS]
    parts = [*(t / t.sum(axis=1, keepdims=True) for t in tempered), np.full(predicted.shape, 1 / k)]
    alike = np.broadcast_to(np.stack(parts), (len(worth), len(parts), *predicted.shape))
    every = np.concatenate([alike, usual[:, None]], axis=1)  # (R, P, n, K)
    said_so = every[:, :, votes.item, votes.label]
    times = votes.times * worth[:, votes.item]
    for _ in range(n_steps):
        told = times / (share[:, None] @ said_so)[:, 0]
        share = share * (said_so @ told[:, :, None])[:, :, 0] + _EVEN_PARTS
        share = share / share.sum(axis=1, keepdims=True)
    mixed = (share[:, None] @ every.reshape(*share.shape, -1)).reshape(usual.shape)
    return (1 - flat) * mixed + flat / k, share


def _log_likelihoods(votes: Entries, base: Floats, precisions: Floats) -> Floats:
    """(R, n, M) of the votes, Dirichlet-multinomial, without the multinomial coefficient."""
    of = base[:, votes.item, votes.label]
    pseudo = precisions[:, None] * of[:, None]  # (R, M, E)
    risen = log_rising(pseudo.reshape(-1, of.shape[1]).T, rising(votes.times))[0].T
    total = log_rising(
        np.tile(precisions, (len(votes.counts), 1)), rising(votes.counts.sum(axis=1))
    )
    logs: Floats = votes.summed(risen.reshape(pseudo.shape)).swapaxes(1, 2) - total[0]
    return logs


def _mixture(
    likelihood: Floats, worth: Floats, weight: Floats, before: Floats, n_steps: int
) -> Floats:
    """(R, M) weights of the precisions, fitted with the items counted `worth` (R, n) times.

    Args:
        likelihood: (R, n, M). weight: (R or 1, M) where the search begins.
    """
    for _ in range(n_steps):
        told = worth / (likelihood @ weight[:, :, None])[:, :, 0]
        weight = weight * (told[:, None] @ likelihood)[:, 0] + before
        weight = weight / weight.sum(axis=1, keepdims=True)
    return weight
