"""What the second opinions of a pool were worth, from the labels that there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief
from worker.core.prior.hyperparameters import WEAK, Fit
from worker.findings.evidence import tells_whole
from worker.findings.opinions_drawn import Labels, draw, fitted, labels_of
from worker.findings.opinions_strata import sides_of
from worker.findings.opinions_values import Estimate, Opinions, Side, Weight, Worth
from worker.findings.opinions_words import (
    WHERE,
    misleading_text,
    saved_text,
    tells_truth_text,
    worth_text,
)
from worker.pool import Pool
from worker.pool.opinions import SAYS_NOTHING, Told

EVERY, ALL_SURE = "score and opinions", "all are sure"
LEAST_LABELS = 50  # before, what the opinions were worth is the prior's word
LEAST_OF_A_SIDE = 5  # labels where an opinion agrees, and where it does not
_TOLD = 40  # labels after which an opinion may be taken for the truth itself: such ones end soon
_MOST_AGAINST = 0.02
_NORMAL = 1.96
_TRIFLE = 0.02  # of accuracy: an opinion that tells nothing is by so little off to one side
_TRIFLE_OF_ODDS = 0.1


def opinions_of(work: Assessment, belief: Belief) -> Opinions | None:
    """What the opinions of a pool are worth by now; None if it has none.

    Rests on a fit to all labels, not to the early ones alone that the belief's prior rests on.
    """
    pool = work.pool
    if not pool.opinions:
        return None
    n_labels, labels, is_whole = (
        work.spent(belief), labels_of(pool, belief), tells_whole(work, belief)
    )  # fmt: skip
    fit = fitted(pool, labels) if n_labels >= LEAST_LABELS else None
    both = [sides_of(told, pool) for told in pool.opinions]
    drawn = None
    if fit is not None and all(_is_labelled(side, pool, labels) for of in both for side in of):
        drawn = draw(work, belief, fit, both)
    accuracy = iter(drawn.accuracy if drawn is not None else ())
    difference = iter(drawn.difference if drawn is not None else ())
    of, right = [], work.plan.words.right
    for told, sides in zip(pool.opinions, both, strict=True):
        shown = tuple(
            _side(where, side, pool, labels, next(accuracy, None) if is_whole else None)
            for where, side in zip(WHERE, sides, strict=False)
        )
        warning = _truth_told(told, pool, labels)
        less = next(difference, None) if sides else None
        is_against = fit is not None and _is_negative(told, pool, fit)
        if not warning and (is_against or (less is not None and less.high < -_TRIFLE)):
            warning = misleading_text(told.name, told.kind, right)
        agrees = _share(told, pool)
        text = worth_text(told.name, agrees, told.n_missing, shown, right)
        of.append(Worth(told.name, told.kind, told.n_missing, agrees, shown, text, warning))
    ratio = None if drawn is None else drawn.ratio
    n_items = pool.n_items if belief.population == "finite" else np.inf
    saved = None if ratio is None else _saved(ratio, n_labels, n_items)
    return Opinions(
        tuple(of),
        () if fit is None else tuple(_weights(pool, fit)),
        ratio,
        saved,
        " ".join(filter(None, (*(one.text for one in of), saved_text(saved, len(of))))),
        tuple(one.warning for one in of if one.warning),
    )


def _share(told: Told, pool: Pool) -> float | None:
    if told.agreed is None:
        return None
    return round(float(told.agreed.sum()) / (pool.n_items - told.n_missing), 6)


def _is_labelled(side: NDArray[np.bool_], pool: Pool, labels: Labels) -> bool:
    wanted = min(LEAST_OF_A_SIDE, pool.cell_size[side].sum())
    return bool(labels.all[side].sum() >= wanted)


def _saved(ratio: Estimate, n_labels: int, n_items: float) -> Estimate:
    """How many labels more; of all items of a finite population nothing is uncertain."""

    def more(times: float) -> int:
        needed = 1 / (1 / n_items + (1 / n_labels - 1 / n_items) / times)
        return max(0, round(needed - n_labels))

    return Estimate(more(ratio.mean), more(ratio.low), more(ratio.high))


def _side(
    where: str, side: NDArray[np.bool_], pool: Pool, labels: Labels, accuracy: Estimate | None
) -> Side:
    labelled = labels.all[side].sum()
    right = int(labels.right[side].sum())
    return Side(where, int(pool.cell_size[side].sum()), int(labelled), right, accuracy)


def _weights(pool: Pool, fit: Fit) -> list[Weight]:
    terms = [(told.name, term) for told in pool.opinions for term in told.terms]
    terms += [] if pool.all_sure is None else [(EVERY, ALL_SURE)]
    return [
        Weight(name, term, round(weight, 6), round(float(np.exp(weight)), 6))
        for (name, term), weight in zip(terms, fit.mode.weights, strict=True)
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
