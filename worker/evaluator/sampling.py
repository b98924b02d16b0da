"""Draws of an evaluator, measured block by block: all of them at once may not fit into memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from worker.evaluator.contract import Evaluator
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.measures import (
    FLOOR,
    Measure,
    auc,
    auc_of_hits,
    class_counts,
    class_hits,
    clipped,
    kl_divergence,
    measured,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FLOATS_PER_BLOCK = 1 << 22  # 32 MB of draws, and some times as much while they are measured
_MOST_VALUES = 1 << 25  # item x draw, of 4 bytes
_MOST_AT_ONCE = 1 << 25  # floats of draws that a measure of the whole sees at once
_MOST_CONFUSIONS = 1 << 23  # draw x class x class


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What became of the draws of N items under a measure.

    values: (N x D,) of a measure of items; (D,) of one of the whole. mean: (D,) over the items, a
    draw; the same for one of the whole. majority: (K,) items whose majority chose each class.
    hits: (2, D, K), as of `class_hits`. mass: (C, K, K), C <= D draws: the sum over the items whose
    majority chose [k] of the probability predicted for [j]. counts: (C, K, K) these items by their
    likeliest predicted class.
    n_clipped: item-draws whose KL divergence depends on its floor.
    """

    n_items: int
    values: NDArray[np.float32]
    mean: Floats
    majority: Ints
    hits: Ints
    mass: Floats
    counts: Ints
    n_clipped: int

    @property
    def confusions(self) -> tuple[Floats, Floats]:
        """(C, K, K) mean probabilities, and shares by likeliest class; nan where no items are."""
        with np.errstate(invalid="ignore", divide="ignore"):
            of = self.majority[:, None]
            return self.mass / of, self.counts / of


def together(parts: Sequence[Drawn], measure: Measure) -> Drawn:
    """The draws of several parts of the items, each by its own fit, as draws of all of them.

    Draw d of the whole is made of draw d of each part. A measure of the whole, other than the AUC,
    cannot be made of its parts: there the mean, weighted by the items, stands for it.
    """
    if len(parts) == 1:
        return parts[0]
    n_items = sum(part.n_items for part in parts)
    hits = np.sum([part.hits for part in parts], axis=0)
    majority = np.sum([part.majority for part in parts], axis=0)
    mean = np.sum([part.n_items * part.mean for part in parts], axis=0) / n_items
    if measure.of is auc:
        mean = auc_of_hits(hits[0], hits[1], majority)
    values = np.concatenate([part.values for part in parts])
    return Drawn(
        n_items,
        values if measure.per_item else mean.astype(np.float32),
        mean,
        majority,
        hits,
        np.sum([part.mass for part in parts], axis=0),
        np.sum([part.counts for part in parts], axis=0),
        sum(part.n_clipped for part in parts),
    )


def draw_blocks(
    evaluator: Evaluator, human: Floats, n_draws: int, rng: Generator, *, noise: bool
) -> Iterator[tuple[slice, Floats]]:
    """Yield parts of the items and their draws (n, D, K), about 32 MB at a time."""
    step = max(1, _FLOATS_PER_BLOCK // (n_draws * human.shape[1]))
    for start in range(0, human.shape[0], step):
        block = slice(start, min(start + step, human.shape[0]))
        yield block, evaluator.sample(human[block], n_draws, rng, noise=noise)


def draws_that_fit(n_items: int, n_draws: int) -> int:
    """As many of `n_draws` draws as can be kept for every item; never fewer than 20."""
    return min(n_draws, max(20, _MOST_VALUES // n_items))


def draw_measure(
    evaluator: Evaluator, human: Floats, measure: Measure, n_draws: int, rng: Generator
) -> Drawn:
    """Draw predictions for every item, without the likelihood's noise, and measure them.

    Args:
        human: (N, K), rows sum to 1.
        n_draws: D; `draws_that_fit` says how many of N items' fit into memory.

    Raises:
        EvaluatorError: a measure of the whole, other than the AUC, over more draws than fit into
            memory at once; or what `measured` and `auc` refuse.
    """
    n_items, k = human.shape
    is_auc, is_kl = measure.of is auc, measure.of is kl_divergence
    if not measure.per_item and not is_auc:
        return _draw_whole(evaluator, human, measure, n_draws, rng)
    n_kept = _n_confusions(n_draws, k)
    majority = np.eye(k)[human.argmax(axis=1)]
    values = np.empty((n_items if measure.per_item else 0, n_draws), dtype=np.float32)
    total, mass = np.zeros(n_draws), np.zeros((k, n_kept * k))
    hits = np.zeros((2, n_draws, k), dtype=np.int64)
    counts, n_clipped = np.zeros((n_kept, k, k), dtype=np.int64), 0
    for block, drawn in draw_blocks(evaluator, human, n_draws, rng, noise=False):
        if measure.per_item:
            found = measured(measure, human[block], drawn)
            values[block] = found
            total += found.sum(axis=0)
        n_clipped += clipped(human[block], drawn, FLOOR) if is_kl else 0
        mass += majority[block].T @ drawn[:, :n_kept].reshape(drawn.shape[0], -1)
        counts += class_counts(human[block], drawn[:, :n_kept])
        hits += class_hits(human[block], drawn)
    of_class = majority.sum(axis=0).astype(np.int64)
    mean = auc_of_hits(hits[0], hits[1], of_class) if is_auc else total / n_items
    of_items = values.ravel() if measure.per_item else mean.astype(np.float32)
    return Drawn(n_items, of_items, mean, of_class, hits, _by_draw(mass), counts, n_clipped)


def _draw_whole(
    evaluator: Evaluator, human: Floats, measure: Measure, n_draws: int, rng: Generator
) -> Drawn:
    """As `draw_measure`, for a measure that must see all items of a draw together."""
    n_items, k = human.shape
    if human.size * n_draws > _MOST_AT_ONCE:
        most = _MOST_AT_ONCE // human.size
        raise EvaluatorError(
            f"The measure {measure.name} looks at all {n_items:,} items together; {n_draws:,} "
            f"draws of them need too much memory. Ask for at most {most:,} draws."
        )
    drawn = evaluator.sample(human, n_draws, rng, noise=False)
    values = measured(measure, human, drawn)
    n_kept = _n_confusions(n_draws, k)
    majority = np.eye(k)[human.argmax(axis=1)]
    return Drawn(
        n_items,
        values.astype(np.float32),
        values,
        majority.sum(axis=0).astype(np.int64),
        np.stack(class_hits(human, drawn)),
        _by_draw(majority.T @ drawn[:, :n_kept].reshape(n_items, -1)),
        class_counts(human, drawn[:, :n_kept]),
        0,
    )


def _n_confusions(n_draws: int, n_classes: int) -> int:
    """Of how many draws the classes' confusions are kept."""
    return max(2, min(n_draws, _MOST_CONFUSIONS // n_classes**2))


def _by_draw(mass: Floats) -> Floats:
    """(K, C x K) -> (C, K, K)."""
    k = mass.shape[0]
    return mass.reshape(k, -1, k).transpose(1, 0, 2)
