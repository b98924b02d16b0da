"""Whether what is published of a pool is so: the rows that are published, held against the truth.

`assay simulate` and `make calibration` ask the same functions that a decision and a report ask, so
that a number cannot be published by one way and tested by another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import group_share, group_size
from worker.findings.evidence import overall_row, pair_rows
from worker.findings.opinions_drawn import item_weights, labels_of
from worker.findings.opinions_strata import labels_ratio, sides_of
from worker.simulate.findings import is_among, is_least_right, true_region
from worker.simulate.found import Found

Floats = NDArray[np.float64]
Json = Mapping[str, Any]

_ROUNDED = 1.5e-6  # published numbers have six digits after the point
_TIE = 12  # digits, as of the ranks


class Held(NamedTuple):
    """What came true of n numbers of one kind.

    said: (n,) how probable each was said to be. came: (n,) whether it is so.
    """

    said: Floats
    came: NDArray[np.bool_]


Statistic = Callable[[Found], Held | None]


def _between(
    rows: Sequence[Json], low: str, high: str, truths: Floats, level: float
) -> Held | None:
    """Of intervals, where there are any, how many hold the truth."""
    ends = [(row.get(low), row.get(high), x) for row, x in zip(rows, truths, strict=True)]
    held = [
        a - _ROUNDED <= x <= b + _ROUNDED
        for a, b, x in ends
        if a is not None and b is not None and not np.isnan(x)
    ]
    return Held(np.full(len(held), level), np.array(held)) if held else None


def _groups(found: Found) -> Held | None:
    if not found.groups:
        return None
    level = found.belief.metric.level if found.belief.soft_labels is not None else 0.95
    rows = [found.groups[g] for g in found.filled]
    return _between(rows, "low", "high", found.values[found.filled], level)


def _overall(found: Found) -> Held | None:
    told = overall_row(found.work, found.belief)
    if told["mean"] is None:
        return None
    first = found.belief.parts[0] if found.belief.parts else found.belief
    share = group_share(first)
    filled = np.flatnonzero(share)
    value = np.array([share[filled] @ found.values[: share.size][filled]])
    if found.belief.metric.kind == "difference":  # they overlap: it is the first one
        value = found.values[:1]
    level = found.belief.metric.level if found.belief.soft_labels is not None else 0.95
    return _between([told], "low", "high", value, level)


def _ranks(found: Found) -> Held | None:
    if not found.groups or found.filled.size < 2:
        return None
    values = found.values[found.filled].round(_TIE)
    first = 1 + (values[:, None] > values).sum(axis=1)
    last = (values[:, None] >= values).sum(axis=1)
    rows = [found.groups[g] for g in found.filled]
    # of tied groups each may stand before the others
    told = np.array([(row["rank_low"], row["rank_high"]) for row in rows], dtype=np.float64)
    came = (told[:, 0] - _ROUNDED <= last) & (first <= told[:, 1] + _ROUNDED)
    return Held(np.full(came.size, 0.95), came)


def _extreme(name: str, extreme: Callable[[Floats], float]) -> Statistic:
    """Of groups that are said to be the lowest, or highest, with at least 50%, how many are."""

    def held(found: Found) -> Held | None:
        if not found.groups or found.filled.size < 2:
            return None
        values = found.values[found.filled].round(_TIE)
        is_so = values == extreme(values)
        told = np.array([found.groups[g][name] for g in found.filled], dtype=np.float64)
        likely = told >= 0.5
        if not likely.any():
            return None
        return Held(told[likely], is_so[likely])

    return held


def _bands(found: Found) -> Held | None:
    sequence = found.work.confidence_sequence
    if sequence is None:
        return None
    rows = [found.groups[g] for g in found.filled]
    return _between(rows, "band_low", "band_high", found.values[found.filled], 1 - sequence.miss)


def _confusion(found: Found) -> Held | None:
    if found.truth.ndim < 2:
        return None
    rows, truths = [], []
    for g in found.filled:
        row = found.groups[g]
        for k, name in enumerate(found.work.pool.classes):
            rows.append({"low": row["confusion_low"][name], "high": row["confusion_high"][name]})
            truths.append(found.truth[g, 0] if k == g else found.truth[g, 1 + k])
    return _between(rows, "low", "high", np.array(truths), 0.95)


def _regions(found: Found) -> Held | None:
    """Of the likeliest regions of the pairs, how many hold the true difference."""
    if found.work.question.task != "compare":
        return None
    rows = pair_rows(found.work, found.verdict)
    told = [max(row["below"], row["within"], row["above"]) for row in rows]
    return Held(np.array(told), _are_so(found)) if rows else None


def _are_so(found: Found) -> NDArray[np.bool_]:
    """(P,) whether the true difference of every pair lies in the region that is told of it."""
    epsilon, values = found.work.question.epsilon, found.values
    return np.array(
        [
            pair.region == true_region(values[pair.g1] - values[pair.g2], epsilon)
            for pair in found.verdict.pairs
        ]
    )


def _apart(found: Found) -> Held | None:
    """Of the differences whose densities are shown, how many are as told."""
    if found.differences is None:
        return None
    told = found.differences.of
    truths = np.array([found.values[one.first] - found.values[one.second] for one in told])
    rows = [{"low": one.low, "high": one.high} for one in told]
    return _between(rows, "low", "high", truths, 0.95)


def _sides(found: Found) -> Held | None:
    """Of their likeliest regions how many hold the true difference."""
    if found.differences is None:
        return None
    told, is_so = [], []
    for one in found.differences.of:
        chances = {"below": one.below, "within": one.within, "above": one.above}
        likeliest = max(chances, key=lambda name: chances[name])
        apart = found.values[one.first] - found.values[one.second]
        told.append(chances[likeliest])
        is_so.append(likeliest == true_region(float(apart), found.differences.epsilon))
    return Held(np.array(told), np.array(is_so))


def _confidence(found: Found) -> Held | None:
    said = found.verdict.confidence
    if said is None or found.work.confidence_sequence is not None:
        return None  # under that guarantee it does not decide, and the regions are the bands'
    is_so = is_least_right(found.work, found.verdict, found.belief, found.truth)
    return Held(np.array([said]), np.array([is_so]))


def _differences(found: Found) -> Held | None:
    rows = found.models.get("differences") or found.models.get("pairs")
    if not rows:
        return None
    pairs = [(p.g1, p.g2) for p in found.verdict.pairs] or [*combinations(found.verdict.ranking, 2)]
    truths = np.array([found.values[first] - found.values[second] for first, second in pairs])
    return _between(rows, "low", "high", truths, 0.95)


def _own_groups(found: Found) -> Held | None:
    rows = found.models.get("groups")
    return _between(rows, "low", "high", found.values, 0.95) if rows else None


def _behind(found: Found) -> Held | None:
    rows = found.models.get("best")
    if not rows:
        return None
    ordered = found.values[list(found.verdict.ranking)]
    sign = 1 if found.work.question.which == "highest" else -1
    return _between(rows[1:], "low", "high", sign * (ordered[0] - ordered[1:]), 0.95)


def _p_best(found: Found) -> Held | None:
    """Of models that none is better than, with at least 50%, how many are so."""
    rows, question = found.models.get("best", ()), found.work.question
    values = found.values if question.which == "highest" else -found.values
    is_so = values >= values.max() - question.tolerance - 10.0**-_TIE
    told = np.array([row["p_best"] for row in rows])
    likely, is_so = told >= 0.5, is_so[list(found.verdict.ranking)] if rows else is_so
    return Held(told[likely], is_so[likely]) if likely.any() else None


def _shortlist(found: Found) -> Held | None:
    among, work = found.work.shortlists(found.belief), found.work
    if not among:
        return None
    begins = (0,) if work.several is None else work.several.begins
    held = []
    for one, part, begin in zip(among, found.belief.parts or (found.belief,), begins, strict=False):
        own = found.truth[begin : begin + part.n_groups]
        held.append(is_among(one.groups, np.flatnonzero(group_size(part)), own, work.question))
    return Held(np.array([one.confidence for one in among]), np.array(held))


def _by_agreement(found: Found) -> Held | None:
    """Of the accuracies where opinions agree, and where they do not, how many are as told."""
    if found.opinions is None or found.right is None:
        return None
    pool, rows, truths = found.work.pool, [], []
    labelled = labels_of(pool, found.belief).all
    weight = item_weights(found.work, found.belief, labelled)
    for told, of in zip(pool.opinions, found.opinions.of, strict=True):
        for shown, side in zip(of.sides, sides_of(told, pool), strict=True):
            if shown.accuracy is not None:
                rows.append({"low": shown.accuracy.low, "high": shown.accuracy.high})
                own = (side * weight)[:, None] * np.stack([found.right, pool.cell_size], axis=1)
                truths.append(np.divide(*own.sum(axis=0)))
    return _between(rows, "low", "high", np.array(truths), 0.95)


def _labels_without(found: Found) -> Held | None:
    if found.opinions is None or found.opinions.ratio is None or found.right is None:
        return None
    ratio = found.opinions.ratio
    row = {"low": ratio.low, "high": ratio.high}
    labelled = labels_of(found.work.pool, found.belief).all
    truth = labels_ratio(found.work.pool, found.right[None], labelled)
    return _between([row], "low", "high", truth, 0.95)


# By the names under which `worker.findings.published` and the calibration know them.
STATISTICS: dict[str, Statistic] = {
    "group interval": _groups,
    "overall interval": _overall,
    "rank interval": _ranks,
    "P(lowest)": _extreme("p_lowest", lambda values: float(values.min())),
    "P(highest)": _extreme("p_highest", lambda values: float(values.max())),
    "any-time bands": _bands,
    "confusion entry": _confusion,
    "pair region": _regions,
    "difference of groups": _apart,
    "pair region of a difference": _sides,
    "confidence": _confidence,
    "shortlist": _shortlist,
    "model difference": _differences,
    "model's own group": _own_groups,
    "model behind": _behind,
    "P(best model)": _p_best,
    "accuracy by agreement": _by_agreement,
    "ratio of labels": _labels_without,
}


def held(found: Found) -> dict[str, Held]:
    """What came true of all that is published of this state."""
    return {name: of for name, ask in STATISTICS.items() if (of := ask(found)) is not None}
