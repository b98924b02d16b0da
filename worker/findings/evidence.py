"""What a finding rests on, as rows of numbers: groups and pairs, for decisions and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.queueing import unclaimed_cells
from worker.core.confidence_sequences.guarantee import alpha_split, ends
from worker.core.posterior.belief import Belief, group_labelled, group_right, group_size, unlabelled
from worker.core.posterior.confusion import confusion_mean
from worker.core.posterior.entries import confusion_interval
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.metrics import RATIOS
from worker.core.posterior.mixing import mixed
from worker.core.posterior.summary import mean
from worker.core.stopping.shortlist import Shortlist
from worker.core.stopping.verdict import Verdict
from worker.findings.ranks import GroupRanks
from worker.metrics import METRICS
from worker.store import State


def groups(assessment: Assessment, belief: Belief) -> list[dict[str, Any]]:
    """The posterior of every group's value, in the pool's order; an empty group has no numbers.

    mean, low to high: of the metric's value, with its 95% interval. For the metric confusion these
    are of the accuracy, and `confusion`, `confusion_low` and `confusion_high` have the share of
    every true class among the group's items: mean and 95% interval.
    """
    if assessment.several is not None and assessment.several.asked:
        return []  # of differences `worker.findings.model_comparison.models_of` tells
    size, labelled, right = group_size(belief), group_labelled(belief), group_right(belief)
    bounds = np.column_stack([mean(belief), interval(belief)])
    names = ("mean", "low", "high")
    of_classes: dict[str, NDArray[np.float64]] = {}
    if belief.metric.kind == "confusion":
        low, high = np.moveaxis(confusion_interval(belief), 2, 0)
        means = mixed(belief, confusion_mean)
        of_classes = {"confusion": means, "confusion_low": low, "confusion_high": high}
    rows = []
    for g, name in enumerate(assessment.group_names):
        row: dict[str, Any] = {"group": name, "size": int(size[g])}
        row |= {"labelled": int(labelled[g]), "right": int(right[g])}
        row |= dict(zip(names, map(rounded, bounds[g]), strict=True))
        for key, shares in of_classes.items():
            row[key] = _by_class(assessment, g, shares[g]) if size[g] else None
        rows.append(row)
    return rows


def group_rows(
    assessment: Assessment, belief: Belief, state: State, found: GroupRanks
) -> list[dict[str, Any]]:
    """All that is said of every group: `groups`, its place among all, and its band if it has one.

    p_lowest, p_highest: probabilities; only where lowest or highest groups are looked for, and of
    an ECE, cost, recall, precision or F1 only that of the end in question.
    rank, rank_low, rank_high: 1 is the lowest value; band_low, band_high: only with
    `guarantee: anytime`.
    """
    return [
        row | place | band
        for row, place, band in zip(
            groups(assessment, belief),
            _places(assessment, found),
            _bands(assessment, belief, state),
            strict=False,  # differences have no rows
        )
    ]


def among_rows(
    assessment: Assessment, belief: Belief, state: State
) -> tuple[tuple[Shortlist, ...], dict[str, Any] | None, list[dict[str, Any]]]:
    """The fewest groups that surely have the answer among them, as they are and for JSON.

    A row, None where none is looked for; of several models a row each, with the model's name.
    """
    found = assessment.shortlists(belief, unclaimed_cells(assessment, state))
    if assessment.several is not None:
        models = assessment.several.models
        rows = [
            {"model": name} | _among_row(one, own)
            for one, name, own in zip(found, models.names, models.own_names, strict=False)
        ]
        return found, None, rows
    return found, _among_row(found[0], assessment.group_names) if found else None, []


def _among_row(one: Shortlist, names: Sequence[str]) -> dict[str, Any]:
    return {"groups": [names[g] for g in one.groups], "confidence": rounded(one.confidence)}


def pair_rows(assessment: Assessment, verdict: Verdict) -> list[dict[str, Any]]:
    """How the groups of every pair in question stand to one another."""
    names = assessment.group_names
    return [
        {
            "groups": [names[p.g1], names[p.g2]],
            "region": p.region,
            "below": p.p_below,
            "within": p.p_within,
            "above": p.p_above,
        }
        for p in verdict.pairs
    ]


def tells_whole(assessment: Assessment, belief: Belief) -> bool:
    """Whether labels tell of the whole pool: where it is estimated, or once all is labelled.

    For a decision most labels go where it is open, and where the scores' curve is learnt fastest:
    the lowest and the highest of them. What lies between is then said by the curve alone. Where
    worst groups are looked for, the whole pool's 95% interval held in .84 of 100 runs on 20
    Newsgroups after 80 labels, and in .65 to .88 of 40 at any count where scores promise too much
    of the surest items; so it did where all pairs are compared. Of several models' own groups
    nobody asks for the whole.
    """
    if assessment.several is not None:
        return bool(assessment.several.asked)
    if assessment.best_model is not None:  # its groups are models
        return False
    if assessment.question.task in ("identify", "compare"):
        return known_whole(belief)
    return True


def known_whole(belief: Belief) -> bool:
    """Whether everything is labelled."""
    return bool((group_labelled(belief) == group_size(belief)).all())


def tells_overall(assessment: Assessment, belief: Belief) -> bool:
    """Whether the groups' mean, weighted by their shares of the pool, is told.

    Where labels tell of the whole pool, and it is the whole pool's value: several groups' mean
    recall is none. Of ECEs once all is known, for what inflates one inflates them all: of groups
    that are hardly ever wrong the interval of their mean held in .25 of 12 runs.
    """
    is_sum = METRICS[assessment.plan.question.metric].is_summed or belief.n_groups == 1
    is_of_eces = belief.metric.kind == "ece" and not belief.metric.pooled
    is_told = tells_whole(assessment, belief) and not (is_of_eces and not known_whole(belief))
    return is_sum and is_told


def overall(assessment: Assessment, belief: Belief) -> tuple[float, float, float] | None:
    """Mean and 95% interval of the groups' mean weighted by their shares of the pool.

    Of several models' differences, which overlap, the first one that is asked for. None unless it
    is told (`tells_overall`).
    """
    if not tells_overall(assessment, belief):
        return None
    if belief.metric.kind in ("difference", *RATIOS):
        low, high = interval(belief)[0].tolist()
        return float(mean(belief)[0]), low, high
    return whole(belief)


def overall_row(assessment: Assessment, belief: Belief) -> dict[str, float | None]:
    """`overall` as a row of JSON: mean, low and high, all None if it is."""
    ends = overall(assessment, belief) or (np.nan,) * 3
    return dict(zip(("mean", "low", "high"), map(rounded, ends), strict=True))


def _by_class(assessment: Assessment, g: int, shares: NDArray[np.float64]) -> dict[str, float]:
    """True class -> share: the first is that of the right answers, the rest of each kind of error.

    The metric confusion has one group for each predicted class.
    """
    return {
        name: float(round(shares[0] if k == g else shares[1 + k], 6))
        for k, name in enumerate(assessment.pool.classes)
    }


def _places(assessment: Assessment, found: GroupRanks) -> list[dict[str, float | None]]:
    names = ("p_lowest", "p_highest", "rank", "rank_low", "rank_high")
    asked = assessment.plan.question
    untold = set()
    if asked.task != "identify":
        # Labels that go to all groups alike leave open which is the lowest: of sixty groups, six of
        # them equally bad, .65 came true in .38 (`make calibration`).
        untold = {"p_lowest", "p_highest"}
    elif METRICS[asked.metric].best_is_open:
        # groups may have no error at all, or have missed none: of who is the best of them the prior
        # decides, and probabilities of .6 came true in .1 to .4 (`make calibration`)
        untold = {"p_lowest" if asked.which == "highest" else "p_highest"}
    columns = [getattr(found, name) * (np.nan if name in untold else 1) for name in names]
    return [dict(zip(names, map(rounded, row), strict=True)) for row in np.column_stack(columns)]


def _bands(assessment: Assessment, belief: Belief, state: State) -> list[dict[str, float | None]]:
    """What holds of each group's value at any time, if that is what the plan asks for."""
    sequence = assessment.confidence_sequence
    if sequence is None:
        return [{} for _ in assessment.group_names]
    unknown = unlabelled(belief) - unclaimed_cells(assessment, state)
    band = ends(belief, unknown, sequence, *alpha_split(belief, assessment.question, sequence.miss))
    return [
        {"band_low": rounded(low), "band_high": rounded(high)}
        for low, high in zip(band.low, band.high, strict=True)
    ]


def rounded(number: float) -> float | None:
    """To 6 digits after the point; nan, for which JSON has no word, becomes None."""
    return None if np.isnan(number) else round(float(number), 6)
