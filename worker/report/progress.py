"""The way so far, and what it would take to the end."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from worker.assessment import Assessment
from worker.assessment.outcomes import n_labelled
from worker.assessment.resolving import is_plain
from worker.core.posterior.belief import Belief, group_labelled
from worker.core.stopping.schedule import POINTS
from worker.core.stopping.verdict import Verdict
from worker.findings.foreseen import labels_more, within_budget
from worker.findings.wording import finding
from worker.formats import counted, probability
from worker.report.contents import Group
from worker.report.contents_progress import Changes, Forecast, Moved, Point

N_POINTS = 16
# Of votes that contradict each other, where each point infers twice, and of many groups.
N_POINTS_SLOW = 6
_MANY_GROUPS = 200
N_MOVED = 10
PACE_HOURS = 7 * 24.0
_LEAST_HOURS = 1 / 6  # ten minutes: a shorter time says nothing of a pace


def progress(work: Assessment, tally: Mapping[str, int], now: Verdict, text: str) -> list[Point]:
    """Where the assessment stood after the labels of its first claims, ascending; the last is now.

    A function of the tally alone, so that it is the same after any restart: labels that were
    corrected since count as they are now.
    """
    points: list[Point] = []
    for k in stages_told(work, tally):
        point = point_at(work, tally, k)
        if point is None or point.labels >= now.labels:
            continue
        if not points or points[-1].labels != point.labels:
            points.append(point)
    return [*points, Point(now.labels, _rounded(now), text)]


def stages_told(work: Assessment, tally: Mapping[str, int]) -> list[int]:
    """The stages of the schedule at which the way so far is told, ascending."""
    last = bisect_left(POINTS, n_labelled(tally))
    is_quick = is_plain(tally, work.rules) and work.first.n_groups <= _MANY_GROUPS
    most = N_POINTS if is_quick else N_POINTS_SLOW
    chosen = np.unique(np.linspace(1, last, min(last, most)).round().astype(int))
    return list(chosen.tolist())


def point_at(work: Assessment, tally: Mapping[str, int], stage: int) -> Point | None:
    """Where it stood when a stage began; None if none of its claims has a label."""
    belief = work.believed_at(tally, stage)
    n = int(group_labelled(belief).sum()) if belief.n_labels is None else belief.n_labels
    if n == 0:
        return None
    verdict = work.ask(belief, 1, replace(work.rule, budget=None))
    return Point(n, _rounded(verdict), finding(work, belief, verdict))


def reached(verdict: Verdict) -> float | None:
    """What the rule looks at: the confidence, or for `estimate` the error or the width."""
    return verdict.confidence if verdict.confidence is not None else verdict.value


def pace(times_us: Sequence[int], now: datetime) -> float | None:
    """Labels an hour, nights and weekends included, over the last week or since the first label.

    None before the second label.
    """
    now_us = now.timestamp() * 1e6
    if len(times_us) < 2:
        return None
    hours = min(PACE_HOURS, max(_LEAST_HOURS, (now_us - min(times_us)) / 3.6e9))
    recent = sum(now_us - t <= hours * 3.6e9 for t in times_us)
    return round(recent / hours, 6) if recent else None


def forecast(
    work: Assessment,
    belief: Belief,
    verdict: Verdict,
    left: int,
    times_us: Sequence[int],
    now: datetime,
) -> Forecast:
    """How many labels more, and when that would be at the present pace.

    Args:
        left: items that can still get a label.
        times_us: when each label was given, microseconds since 1970; empty: no word of the pace.
    """
    per_hour = pace(times_us, now)
    left = within_budget(work, verdict, left)
    missing = labels_more(work, belief, verdict)
    if missing is None:
        text = f"How many more it takes cannot be said yet; {left:,} can be had."
        return Forecast(None, None, per_hour, text)
    low, more, high = (min(_two_digits(math.ceil(m)), left) for m in missing)
    text = f"About {counted(more, 'more label')}"
    if more == left:
        every = "all of " * (left != 1)
        text = f"It may well take {every}the {counted(left, 'label')} that can be had"
    elif low < high:
        text += f" (perhaps {low:,} to {high:,})"
    at = None
    if per_hour and more / per_hour < 10 * 365 * 24:
        at = now + timedelta(hours=more / per_hour)
        text += f"; at the present pace that is {_when(at, now)}"
    stamp = at.astimezone(UTC).isoformat(timespec="minutes") if at else None
    return Forecast(more, stamp, per_hour, f"{text}.", low, high)


def changes(previous: Mapping[str, Any], labels: int, groups: Sequence[Group]) -> Changes:
    """What is new since a report, of which the JSON is given."""
    was = {row["name"]: row["mean"] for row in previous["groups"]}
    moved = [
        Moved(g.name, was[g.name], g.mean)
        for g in groups
        if g.mean is not None and was.get(g.name) is not None and was[g.name] != g.mean
    ]
    moved.sort(key=lambda m: -abs(m.now - m.was))
    return Changes(
        made_at=previous["made_at"],
        labels=labels - previous["labels"],
        confidence_was=previous["confidence"],
        text_was=previous["text"],
        moved=tuple(moved[:N_MOVED]),
    )


def _two_digits(n: int) -> int:
    """More would pretend to be exact."""
    step = int(10 ** max(0, len(str(n)) - 2))
    return -(-n // step) * step


def _when(at: datetime, now: datetime) -> str:
    if at - now < timedelta(hours=20):
        return f"{at:%A} at {at:%H}:00 {at:%Z}"
    year = "" if at.year == now.year else f" {at.year}"
    return f"{at:%A}, {at.day} {at:%B}{year}"


def _rounded(verdict: Verdict) -> float | None:
    number = reached(verdict)
    if number is None:
        return None
    return probability(number) if verdict.confidence is not None else round(number, 6)
