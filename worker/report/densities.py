"""The densities of a report, from the same posterior as its intervals and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.core.posterior.belief import Belief, by_group, group_size, unlabelled
from worker.core.posterior.intervals import draws_of_whole
from worker.core.posterior.summary import marginals
from worker.core.stopping.verdict import Verdict
from worker.evaluator.density import density
from worker.findings.differences import Difference, differences_of
from worker.formats import counted, probability
from worker.pool.models import ALL_ITEMS
from worker.report.contents import Group, Interval
from worker.report.contents_densities import (
    Densities,
    DifferenceDensity,
    Outline,
    ValueDensity,
)

Floats = NDArray[np.float64]

MOST_ECES = 6  # groups
_POINTS = 32
_QUANTILES = (np.arange(2000) + 0.5) / 2000


def densities_of(
    work: Assessment, belief: Belief, verdict: Verdict, groups: Sequence[Group]
) -> Densities | None:
    """Those of differences, and of the groups' ECEs where these are asked for; None without any."""
    found, told = differences_of(work, belief, verdict), Densities()
    if found is not None:
        of = tuple(_difference(work, belief, one) for one in found.of)
        told = replace(told, differences=of, text=found.text, epsilon=found.epsilon)
    if belief.metric.kind == "ece" and not belief.metric.pooled:
        told = with_eces(told, work.group_names, [_interval(group) for group in groups], belief)
    return told if told.differences or told.ece else None


def _interval(group: Group) -> Interval | None:
    if group.mean is None or group.low is None or group.high is None:
        return None
    return Interval(group.mean, group.low, group.high)


def with_eces(
    told: Densities,
    names: Sequence[str],
    intervals: Sequence[Interval | None],
    belief: Belief | None,
    pool: tuple[Interval, Belief] | None = None,
) -> Densities:
    """The same with those of the groups whose ECE has the highest mean; none where all are exact.

    Args:
        names, intervals: of the belief's groups. belief: None where nothing is known of groups.
        pool: interval and belief of the whole pool's, which comes first.
    """
    of_groups = [] if belief is None else marginals(belief)
    every = [
        (interval, names[g], g, of)
        for g, (interval, of) in enumerate(zip(intervals, of_groups, strict=True))
        if interval is not None and of is not None
    ]
    every.sort(key=lambda one: -one[0].mean)
    shown, left = every[:MOST_ECES], max(0, len(every) - MOST_ECES)
    found = []
    if pool is not None:
        step = 0.0 if not unlabelled(pool[1]).any() else 1 / int(pool[1].size.sum())
        found.append(_value("the whole pool", pool[0], draws_of_whole(pool[1]), step))
    for interval, name, g, of in shown:
        assert belief is not None, "these are its groups"
        found.append(_value(name, interval, of.quantiles(_QUANTILES), _step(belief, [g])))
    if not any(one.outline.at for one in found):
        return told
    text = ["The whole pool."] if pool is not None else []
    if every:
        which = f"The {MOST_ECES} of {counted(len(every), 'group')} with the highest mean."
        text.append(which if left else "Groups: the highest mean first.")
    return replace(told, ece=tuple(found), ece_text=" ".join(text))


def _value(name: str, of: Interval, drawn: Floats, step: float) -> ValueDensity:
    smooth = outline(np.abs(_smoothed(drawn, step)), low=0.0)
    return ValueDensity(name, of.mean, of.low, of.high, smooth)


def outline(sample: Floats, low: float | None = None) -> Outline:
    """The density of a sample (n,), whose values are no lower than `low`."""
    if np.ptp(sample) < 1e-9:
        return Outline((), ())
    at, height = density(sample, low).outline(_POINTS)
    return Outline(
        tuple(round(x, 6) for x in at.tolist()), tuple(float(f"{y:.4g}") for y in height.tolist())
    )


def _difference(work: Assessment, belief: Belief, one: Difference) -> DifferenceDensity:
    names, several = work.group_names, work.several
    first, second = names[one.first], names[one.second]
    if several is not None:
        asked = several.asked[one.first]
        where = "" if asked.group == ALL_ITEMS else f" in {asked.group}"
        first, second = (several.models.names[m] + where for m in (asked.first, asked.second))
    mean, low, high = (round(x, 6) + 0.0 for x in (one.mean, one.low, one.high))
    below, within, above = (probability(p) for p in (one.below, one.within, one.above))
    smooth = outline(_smoothed(one.drawn, _step(belief, (one.first, one.second))))
    return DifferenceDensity(first, second, mean, low, high, below, within, above, smooth)


def _step(belief: Belief, groups: Sequence[int]) -> float:
    """How far apart the possible values are, of which each is a count of whole items."""
    if belief.population == "infinite" or belief.accuracies is not None:
        return 0.0
    left, size = by_group(belief, unlabelled(belief)), group_size(belief)
    return max((1 / int(size[g]) for g in groups if left[g]), default=0.0)


def _smoothed(drawn: Floats, step: float) -> Floats:
    """The draws with up to half a step added to each, so that whole items show as no comb."""
    even = (np.random.default_rng(drawn.size).permutation(drawn.size) + 0.5) / drawn.size
    found: Floats = drawn + (even - 0.5) * step
    return found
