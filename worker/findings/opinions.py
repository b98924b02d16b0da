"""What the second opinions of a pool were worth, from the labels that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.believing import scores
from worker.core.posterior.belief import Belief
from worker.core.posterior.completing import completions
from worker.core.posterior.counts import BoundedCache
from worker.core.prior import empirical
from worker.core.prior.hyperparameters import WEAK, Fit
from worker.findings.evidence import tells_whole
from worker.findings.opinions_strata import (
    Sides,
    by_labels,
    can_be_chosen,
    labels_ratio,
    sides_of,
)
from worker.findings.opinions_values import Estimate, Opinions, Side, Weight, Worth
from worker.findings.opinions_words import (
    WHERE,
    misleading_text,
    saved_text,
    tells_truth_text,
    weight_text,
    worth_text,
)
from worker.pool import Pool
from worker.pool.opinions import SAYS_NOTHING, Told

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_LABELS = 50  # before, what the opinions were worth is the prior's word
LEAST_OF_A_SIDE = 5  # labels where an opinion agrees, and where it does not
_TOLD = 100  # labels after which an opinion may be taken for the truth itself
_MOST_AGAINST = 0.02
_NORMAL = 1.96
_TRIFLE = 0.02  # of accuracy: an opinion that tells nothing is by so little off to one side
_TRIFLE_OF_ODDS = 0.1
_TELLING = float(__import__("os").environ.get("TELL", "200"))
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


class _Drawn(NamedTuple):
    """What draws of the pool say: accuracies by side, differences by classifier, the ratio."""

    accuracy: tuple[Estimate | None, ...]
    difference: tuple[Estimate | None, ...]
    ratio: Estimate


def opinions_of(work: Assessment, belief: Belief) -> Opinions | None:
    """What the opinions of a pool are worth by now; None if it has none.

    Rests on a fit to all labels, not to the early ones alone that the belief's prior rests on.
    """
    pool = work.pool
    if not pool.opinions:
        return None
    n_labels, labels = work.spent(belief), labels_of(pool, belief)
    fit = _fitted(pool, labels) if n_labels >= LEAST_LABELS else None
    both = [sides_of(told, pool) for told in pool.opinions]
    drawn = None
    if fit is not None and all(_is_labelled(side, pool, labels) for of in both for side in of):
        drawn = _drawn(work, belief, fit, both)
    accuracy = iter(drawn.accuracy if drawn is not None else ())
    difference = iter(drawn.difference if drawn is not None else ())
    of = []
    for told, sides in zip(pool.opinions, both, strict=True):
        shown = tuple(
            _side(where, side, pool, labels, next(accuracy, None))
            for where, side in zip(WHERE, sides, strict=False)
        )
        warning = _truth_told(told, pool, labels)
        less = next(difference, None) if sides else None
        is_against = fit is not None and _is_negative(told, pool, fit)
        if not warning and (is_against or (less is not None and less.high < -_TRIFLE)):
            warning = misleading_text(told.name, told.kind)
        agrees = _share(told, pool)
        is_whole = tells_whole(work, belief)
        text = worth_text(told.name, agrees, told.n_missing, shown, is_whole=is_whole)
        of.append(Worth(told.name, told.kind, told.n_missing, agrees, shown, text, warning))
    ratio = None if drawn is None else drawn.ratio
    saved = None if ratio is None else _saved(ratio, n_labels)
    return Opinions(
        tuple(of),
        () if fit is None else tuple(_weights(pool, fit)),
        ratio,
        saved,
        " ".join(filter(None, (*(one.text for one in of), saved_text(saved, len(of))))),
        tuple(one.warning for one in of if one.warning),
    )


def _share(told: Told, pool: Pool) -> float | None:
    return None if told.agreed is None else round(float(told.agreed.sum()) / pool.n_items, 6)


def item_weights(work: Assessment, belief: Belief, labelled: Ints) -> Floats:
    """(C,) how much an item counts in an accuracy: all alike where labels tell of the whole pool,
    else its group by its labels."""
    if tells_whole(work, belief):
        return np.ones(work.pool.n_cells)
    return by_labels(work.pool, labelled)


def labels_of(pool: Pool, belief: Belief) -> Labels:
    """The labels that tell of other items."""
    tells = can_be_chosen(pool)
    return Labels(*((of * tells).astype(np.int64) for of in (belief.right, belief.wrong)))


def _is_labelled(side: NDArray[np.bool_], pool: Pool, labels: Labels) -> bool:
    wanted = min(LEAST_OF_A_SIDE, pool.cell_size[side].sum())
    return bool(labels.all[side].sum() >= wanted)


def _fitted(pool: Pool, labels: Labels) -> Fit:
    key = pool.hash, labels.right.tobytes(), labels.wrong.tobytes()
    fit: Fit | None = _fits.get(key)
    if fit is None:
        fit = empirical.fit(*labels, pool.cell_group, scores(pool))
        _fits.put(key, fit, fit.covariance.size + labels.right.size)
    return fit


def _drawn(work: Assessment, belief: Belief, fit: Fit, both: Sequence[tuple[()] | Sides]) -> _Drawn:
    pool = work.pool
    labels = labels_of(pool, belief)
    labelled = labels.all
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
    return _Drawn(
        tuple(
            _reaching(_estimate(of), side, labels)
            for of, side in zip(accuracy.T, sides > 0, strict=True)
        ),
        tuple(_estimate(of) for of in (accuracy[:, ::2] - accuracy[:, 1::2]).T),
        Estimate(*np.quantile(np.concatenate(ratios), [0.5, 0.025, 0.975]).round(6).tolist()),
    )


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


def _saved(ratio: Estimate, n_labels: int) -> Estimate:
    ends = (ratio.mean, ratio.low, ratio.high)
    return Estimate(*(max(0, round(n_labels * (x - 1))) for x in ends))


def _side(
    where: str, side: NDArray[np.bool_], pool: Pool, labels: Labels, accuracy: Estimate | None
) -> Side:
    labelled = labels.all[side].sum()
    return Side(where, int(pool.cell_size[side].sum()), int(labelled), accuracy)


def _weights(pool: Pool, fit: Fit) -> list[Weight]:
    terms = [(told, term) for told in pool.opinions for term in told.terms]
    return [
        Weight(
            told.name,
            term,
            round(weight, 6),
            round(float(np.exp(weight)), 6),
            weight_text(told.name, told.kind, None if term == SAYS_NOTHING else term, weight),
        )
        for (told, term), weight in zip(terms, fit.mode.weights, strict=True)
    ]


def _is_negative(told: Told, pool: Pool, fit: Fit) -> bool:
    """Whether the 95% interval of the weight of being sure that our class is right is below 0, by
    more than a trifle."""
    if told.kind in ("number", "category") or told.terms[:1] in ((), (SAYS_NOTHING,)):
        return False
    names = [one.name for one in pool.opinions]
    before = sum(len(one.terms) for one in pool.opinions[: names.index(told.name)])
    at = len(WEAK) + before
    return bool(
        fit.mode.weights[before] + _NORMAL * np.sqrt(fit.covariance[at, at]) < -_TRIFLE_OF_ODDS
    )


def _truth_told(told: Told, pool: Pool, labels: Labels) -> str:
    """A warning where agreement told right from wrong in all but a handful; else empty.

    By the strata in which it agrees on all items or on none.
    """
    if told.agreed is None:
        return ""
    whole, none = told.agreed == pool.cell_size, told.agreed == 0
    n_agreed, n_not = (int(labels.all[side].sum()) for side in (whole, none))
    against = int(labels.wrong[whole].sum() + labels.right[none].sum())
    n = n_agreed + n_not
    is_so = n >= _TOLD and min(n_agreed, n_not) >= LEAST_OF_A_SIDE and against <= _MOST_AGAINST * n
    return tells_truth_text(told.name, against, n) if is_so else ""
