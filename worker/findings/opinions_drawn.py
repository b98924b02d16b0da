"""What labels tell of second opinions: accuracies and the ratio of labels, drawn from the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.assessment import Assessment
from worker.assessment.covariates import effect_groups, scores
from worker.core.posterior.belief import Belief
from worker.core.posterior.completing import completions
from worker.core.posterior.counts import BoundedCache
from worker.core.prior import fitting
from worker.core.prior.hyperparameters import WEAK, Fit
from worker.findings.evidence import tells_whole
from worker.findings.opinions_strata import (
    MOST_TIMES,
    Sides,
    by_labels,
    can_be_chosen,
    labels_ratio,
)
from worker.findings.opinions_values import Estimate
from worker.pool import Pool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Labels of a decision lie where it is open: beyond so many they say of the surest items what the
# curve makes of the others. After 1,000 of them, of a worst class that was found after 120, the
# ratio's interval held in .2 of 40 runs (CIFAR-10); with a fit as sure as after 200, in .93 of 30.
_TELLING = 200.0
# What an opinion tells may not be the curve that the fit has of it: where all items are wrong that
# it doubts most, and hardly any others, intervals as wide as the draws held in .6 to .9 of runs.
_WIDER = 1.5
_INSIDE = 1e-6  # of an accuracy
_SEED = 402  # the same draws for the same tally

_fits = BoundedCache(1 << 20)


class Labels(NamedTuple):
    """(C,) labels that tell of other items."""

    right: Ints
    wrong: Ints

    @property
    def all(self) -> Ints:
        """(C,) right and wrong."""
        return self.right + self.wrong


class Drawn(NamedTuple):
    """What draws of the pool say: accuracies by side, differences by classifier, the ratio."""

    accuracy: tuple[Estimate | None, ...]
    difference: tuple[Estimate | None, ...]
    ratio: Estimate


def labels_of(pool: Pool, belief: Belief) -> Labels:
    """The labels that tell of other items."""
    tells = can_be_chosen(pool)
    return Labels(*((of * tells).astype(np.int64) for of in (belief.right, belief.wrong)))


def item_weights(work: Assessment, belief: Belief, labelled: Ints) -> Floats:
    """(C,) how much an item counts in an accuracy: all alike where labels tell of the whole pool,
    else its group by its labels."""
    if tells_whole(work, belief):
        return np.ones(work.pool.n_cells)
    return by_labels(work.pool, labelled)


def fitted(pool: Pool, labels: Labels) -> Fit:
    """The prior, fitted to all labels."""
    key = pool.hash, labels.right.tobytes(), labels.wrong.tobytes()
    fit: Fit | None = _fits.get(key)
    if fit is None:
        fit = fitting.fit(*labels, effect_groups(pool), scores(pool))
        _fits.put(key, fit, fit.covariance.size + labels.right.size)
    return fit


def draw(work: Assessment, belief: Belief, fit: Fit, both: Sequence[tuple[()] | Sides]) -> Drawn:
    """Draw the pool; intervals reach the ends that no label speaks against.

    Args:
        both: the sides of every opinion.
    """
    pool = work.pool
    labels = labels_of(pool, belief)
    labelled, is_useless = labels.all, _may_be_useless(fit)
    if not tells_whole(work, belief):
        times = max(1.0, labelled.sum() / _TELLING)
        fit = Fit(fit.mode, fit.covariance * times)
    sides = np.array([side for of in both for side in of], dtype=np.float64)
    sides = sides.reshape(-1, pool.n_cells) * item_weights(work, belief, labelled)
    tallies = [
        (v.right.astype(np.int64), v.wrong.astype(np.int64)) for v in belief.variants or (belief,)
    ]
    right, ratios = [], []
    for block in completions(
        fit, scores(pool), pool.cell_group, pool.cell_size, tallies, can_be_chosen(pool),
        np.random.default_rng(_SEED),
    ):  # fmt: skip
        right.append(block @ sides.T)
        ratios.append(labels_ratio(pool, block, labelled))
    items = sides @ pool.cell_size
    accuracy = np.concatenate(right) / np.where(items > 0, items, np.nan)
    middle = float(np.median(np.concatenate(ratios)))
    low, high = np.exp(_wider(np.log(np.concatenate(ratios)))).clip(1.0, MOST_TIMES).tolist()
    return Drawn(
        tuple(
            _reaching(_accuracy(of), side, labels)
            for of, side in zip(accuracy.T, sides > 0, strict=True)
        ),
        tuple(_estimate(of) for of in (accuracy[:, ::2] - accuracy[:, 1::2]).T),
        Estimate(
            round(middle, 6),
            1.0 if is_useless else round(low, 6),
            MOST_TIMES if _may_be_pure(both, labels) else round(high, 6),
        ),
    )


def _accuracy(draws: Floats) -> Estimate | None:
    """None of no items."""
    if np.isnan(draws[0]):
        return None
    if not np.ptp(draws):
        return Estimate(*[round(float(draws[0]), 6)] * 3)
    low, high = special.expit(_wider(special.logit(np.clip(draws, _INSIDE, 1 - _INSIDE))))
    return Estimate(*(round(float(x), 6) for x in (draws.mean(), low, high)))


def _wider(draws: Floats) -> Floats:
    """(2,) ends of a 95% interval, away from the median by more than the draws have them."""
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return np.array([middle - _WIDER * (middle - low), middle + _WIDER * (high - middle)])


def _estimate(draws: Floats) -> Estimate | None:
    """None of no items."""
    if np.isnan(draws[0]):
        return None
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(*(round(float(x), 6) for x in (draws.mean(), low, high)))


def _reaching(of: Estimate | None, side: NDArray[np.bool_], labels: Labels) -> Estimate | None:
    """As of groups: the interval reaches the end that no label speaks against."""
    if of is None:
        return None
    low = of.low if labels.right[side].any() else 0.0
    return Estimate(of.mean, low, of.high if labels.wrong[side].any() else 1.0)


def _may_be_pure(both: Sequence[tuple[()] | Sides], labels: Labels) -> bool:
    """Whether no label speaks against an opinion that tells right from wrong of all items."""
    seen = [{(bool(labels.right[s].any()), bool(labels.wrong[s].any())) for s in of} for of in both]
    return {(True, False), (False, True)} in seen


def _may_be_useless(fit: Fit) -> bool:
    """Whether the opinions' weights, all together, may be 0 (95%)."""
    z = np.array(fit.mode.weights)
    precision = np.linalg.inv(fit.covariance[len(WEAK) :, len(WEAK) :])
    return not z.size or bool(z @ precision @ z < special.chdtri(z.size, 0.05))
