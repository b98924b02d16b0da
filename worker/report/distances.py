"""How far predictions are from people's votes, item by item, and what is confused: for a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.soft_labels import SoftLabels, Votes, votes_of_tally
from worker.core.posterior.belief import Belief
from worker.core.posterior.intervals import whole
from worker.evaluator.experiments import Part, Predictor, PredictorExperiment
from worker.evaluator.measures import MEASURES
from worker.evaluator.summaries import Confused, Estimate, confused, distribution
from worker.formats import counted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST_ITEMS = 5  # with votes: fewer have no shape
_MOST_PARTS = 23  # the picture has no room for more
_SAMPLE = 4000  # at most
_DRAWS = 1000
_MOST_SENTENCES = 5


def distances_so_far(
    work: Assessment, belief: Belief, tally: Mapping[str, int]
) -> PredictorExperiment | None:
    """The distribution of the measure over the items, in all and by group, and what is confused.

    An item with votes stands for the items of its cell: in it votes go to items in random order.
    Groups with fewer than five such items are left out. None for other tasks, and before there are
    five.
    """
    by = work.soft_labels
    if by is None or belief.soft_labels is None:
        return None
    votes = votes_of_tally(tally, work.pool)
    n = votes.row.size
    if n < _LEAST_ITEMS:
        return None
    of_cell = np.bincount(votes.cell, minlength=work.pool.n_cells)
    weight = (work.pool.cell_size / np.maximum(of_cell, 1))[votes.cell]
    drawn = by.items_measured(votes)
    measure, level = MEASURES[work.plan.metric], belief.metric.level
    group = work.pool.cell_group[votes.cell]
    counts = np.bincount(group, minlength=len(work.pool.group_names))
    shown = [
        g for g in np.argsort(-counts, kind="stable")[:_MOST_PARTS] if counts[g] >= _LEAST_ITEMS
    ]
    ends = whole(belief)
    everything = _part("all items", drawn, weight, ends, by, level)
    parts = []
    for g in sorted(int(g) for g in shown):
        at = group == g
        values = np.sort(belief.soft_labels.values[:, g])
        narrow = distribution(values, level)
        ends = float(values.mean()), narrow.low, narrow.high
        name = work.pool.group_names[g]
        parts.append(_part(name, drawn[:, at], weight[at], ends, by, level))
    pairs = _confused(votes, weight, work.pool.classes, level)
    predictor = Predictor("all items", replace(everything, confused=pairs), tuple(parts), None)
    return PredictorExperiment(
        "live", "votes", measure.title, measure.unit, False, level, n, 1,
        (predictor,), ("all items",), ("all items",), ("all items",),
    )  # fmt: skip


def sentences(found: PredictorExperiment | None) -> tuple[str, ...]:
    """What the predictor confuses with what, in words, the most confused first."""
    if found is None:
        return ()
    pairs = found.predictors[0].whole.confused
    told = [pair for pair in pairs if pair.probability.mean >= 0.005]
    return tuple(map(_sentence, told[:_MOST_SENTENCES]))


def _sentence(pair: Confused) -> str:
    of = f"{counted(pair.items, 'item')} with votes"
    found = pair.probability
    return (
        f"Where most people say {pair.human} ({of}), the predictions give {pair.predicted} "
        f"{_percent(found.mean)} ({_percent(found.low)} to {_percent(found.high)}), and people "
        f"give it {_percent(pair.people)}; it is the predicted class of "
        f"{_percent(pair.seen_share)} of these items."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _part(
    name: str,
    drawn: Floats,
    weight: Floats,
    ends: tuple[float, float, float],
    by: SoftLabels,
    level: float,
) -> Part:
    """Some of the items. drawn: (R, n) equally likely measures of each; weight: (n,)."""
    each = np.sort(_resampled(drawn.ravel(), np.tile(weight, len(drawn))))
    mean, low, high = (round(x, 6) for x in ends)
    return Part(
        name=name,
        items=weight.size,
        draws=len(drawn),
        measure=distribution(each, level, 0.0, by.distance.highest),
        mean=Estimate(mean, low, high),
        seen=mean,
        seen_distribution=None,
        l2=mean,
        confused=(),
        n_clipped=0,
        diagnostics=None,
    )


def _resampled(values: Floats, weight: Floats) -> Floats:
    """An even sample, in which each has the chance that it weighs, and none comes twice.

    Systematic resampling; of numbers that came twice a density would have peaks.
    """
    upto = np.cumsum(weight)
    n = int(np.clip(upto[-1] / weight.max(), 2, _SAMPLE))
    at = np.searchsorted(upto, (np.arange(n) + 0.5) / n * upto[-1])
    sample: Floats = values[np.minimum(at, values.size - 1)]
    return sample


def _confused(
    votes: Votes, weight: Floats, classes: tuple[str, ...], level: float
) -> tuple[Confused, ...]:
    """The pairs of classes; their intervals are from items weighted at random (bootstrap)."""
    human = votes.counts / votes.counts.sum(axis=1, keepdims=True)
    k = len(classes)
    majority, first = np.eye(k)[human.argmax(axis=1)], np.eye(k)[votes.predicted.argmax(axis=1)]
    rng = np.random.default_rng(_DRAWS)
    means, shares = np.full((2, _DRAWS, k, k), np.nan)
    for d in range(_DRAWS):
        of = majority.T * (weight * rng.standard_exponential(weight.size))
        total = of.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            means[d], shares[d] = of @ votes.predicted / total, of @ first / total
    return confused((means, shares), human, votes.predicted[:, None, :], classes, level)
