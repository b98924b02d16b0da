"""Scores against accuracies, by bins and as a curve, whatever the groups and the question are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.covariates import effect_groups
from worker.core.posterior.belief import Belief
from worker.core.posterior.marginals import narrowest
from worker.core.reliability.curve import ScoreGrid, curve_of, right_answers, score_grid
from worker.findings.evidence import known_whole, tells_whole
from worker.findings.item_classes import Answered, answered
from worker.metrics import METRICS
from worker.plan.group_spec import GroupBy, group_factors
from worker.pool.groups import equal_mass_thresholds
from worker.report.contents import Bin, CurvePoint, Interval, Reliability
from worker.store.records import Record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_BINS = 10
_SEED = 400  # the same draws for the same tally


def reliability(
    work: Assessment, belief: Belief, tally: Mapping[str, int], records: Sequence[Record]
) -> Reliability | None:
    """Ten bins of equal width (or the plan's own), the smooth curve, and the pool's ECE over each.

    Always of the pool's items, also if the plan's population is infinite. None if the classifier
    gives no scores, or no answer is right. Without ECE until all is labelled and beyond doubt:
    where it is asked for, the belief tells it. None, too, where labels do not tell of the whole
    pool: of ImageNet's 1,000 classes, the least accurate looked for, the curve's interval held in
    .44 of 8 runs after 320 labels, and in .52 of 20 of groups with parents. Nor of a judge's rates:
    outputs of one score are those that it calls right and those that it calls wrong, and labels
    of the two do not lie as they do (in .69 of 60 runs).
    """
    pool = work.pool
    if not pool.has_scores or belief.soft_labels is not None or pool.models is not None:
        return None
    is_of_judge = METRICS[work.plan.question.metric].judge_says is not None
    if is_of_judge or not tells_whole(work, belief):
        return None
    # What fools a judge goes with the topic: with one level for both of its words bins held in .66
    # and .81 after 80 labels (a judge whom one topic fools, one that is surely wrong; 8 runs); with
    # a level for each in .86 and .94.
    levels = effect_groups(pool) if pool.is_judged else pool.cell_group
    group = np.repeat(levels, pool.cell_size)
    score = pool.score.astype(np.float64)
    known = answered(work, tally, records)
    found = against_scores(score, group, inner_bounds(work), known)
    return found if known_whole(belief) and len(known.is_right) == 1 else without_ece(found)


def without_ece(found: Reliability) -> Reliability:
    """The same bins and curve: these say where they were hardly tried, the sum over them does not.

    Of labels for a decision the ECE's 95% interval held in .75 of 40 runs (identify, surest off),
    for accuracies in .78 of 100 (estimate, CIFAR-100 by a wide ResNet), for the ECE itself, whose
    labels lie as items do, in .77 of 60 (CIFAR-100; on all kinds the belief's in .88 and more).
    Of items whose classes are inferred from three annotators it held in .72 and .80 of 25.
    """
    return replace(found, ece=None, curve_ece=None)


def against_scores(score: Floats, group: Ints, inner: Floats, known: Answered) -> Reliability:
    """What is known of N items' accuracy by score; bins without items are left out.

    The labelled items' outcomes are known; those of the others are drawn from a regression on score
    and group (`reliability.curve`), not from the belief about the groups: that states the error of
    one group rightly, but what is uncertain for all of them at once it takes for independent, and
    its intervals of sums over groups held the truth in a tenth to four fifths of the bins.

    Args:
        score: (N,) in [0, 1]. group: (N,) >= 0. inner: (B - 1,) bounds of the bins.
        known: the items with a label.

    Source: the reliability diagram and ECE of Ji et al. 2021 (eq. 2), with the finite population's
    completed draws instead of a rate, and with p_b and s_b of all items.
    """
    at = score_grid(score, inner)
    drawn = right_answers(
        at, group, known.rows, known.is_right, np.random.default_rng(_SEED), tells=known.tells
    )
    of_place = np.searchsorted(inner, at.score, side="right")
    n_bins = inner.size + 1
    items = np.bincount(of_place, weights=at.items, minlength=n_bins)
    filled = np.flatnonzero(items)
    is_in = (of_place[:, None] == filled).astype(np.float64)
    reached = drawn @ is_in / items[filled]
    mean_score = (at.score * at.items) @ is_in / items[filled]
    labelled = np.bincount(at.of_item[known.rows], minlength=at.items.size) @ is_in
    ece = np.abs(reached - mean_score) @ (items[filled] / items.sum())
    shown = np.stack([mean_score, reached.mean(axis=0), *_ends(reached)], axis=1).round(6).tolist()
    counts = np.stack([items[filled], labelled], axis=1).astype(int).tolist()
    bins = tuple(
        Bin(s, accuracy, low, high, n, m)
        for (s, accuracy, low, high), (n, m) in zip(shown, counts, strict=True)
    )
    around = Interval(*(round(x, 6) for x in narrowest(ece)))
    return Reliability(bins, around, *_smooth(at, drawn))


def _smooth(at: ScoreGrid, drawn: Floats) -> tuple[tuple[CurvePoint, ...], Interval]:
    curve = curve_of(at, drawn)
    numbers = np.stack([curve.score, curve.mean, curve.low, curve.high], axis=1).round(6)
    points = tuple(CurvePoint(*row) for row in numbers.tolist())
    return points, Interval(*(round(x, 6) for x in curve.ece))


def _ends(draws: Floats) -> tuple[Floats, Floats]:
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return low, high


def inner_bounds(work: Assessment) -> Floats:
    """(B - 1,) the scores between the bins: the plan's own bins, or ten of equal width."""
    plan = work.plan
    factor = plan.question.bin_factor or _of_groups(plan.pool.groups)
    n_bins = N_BINS if factor is None else factor.n_bins
    score = work.pool.score
    if factor is not None and factor.kind == "equal_mass_bin":
        return equal_mass_thresholds(score, n_bins).astype(np.float64)
    # in the score's own precision: 0.3 read as float32 must not fall below 3 / 10
    return (np.arange(1, n_bins) / n_bins).astype(score.dtype).astype(np.float64)


def _of_groups(spec: str | Sequence[str]) -> GroupBy | None:
    """The score bins, if they are the groups."""
    first, *others = group_factors(spec)
    return first if first.is_score_bin and not others else None
