"""The two pictures of a live page: the way to the stop line, and labels an hour.

A picture is what the template `chart.j2` draws: places on a sheet of `WIDTH` x `HEIGHT`, and the
same in words and as a table. Those of a report are matplotlib's, which takes too long here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from worker.assessment import Assessment
from worker.formats import count, error, percent, sentence
from worker.report.contents_progress import Forecast, Point
from worker.report.status import Status
from worker.report.words import progress_name

WIDTH, HEIGHT = 360, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 20, 18, 24
# A foreseen end that is farther away would leave no room for what was.
_TIMES_AHEAD, _LEAST_LABELS = 4, 40

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture.

    says: what it shows, in words. x_ticks, y_ticks: places along an axis, with their texts.
    bars: left, top, width and height. line: places from left to right. stop: the height of the
    stop line, that of its text (where the line comes last), and the text. ahead: from now to the
    foreseen end, or towards it. end: from where to where on the stop line that probably is.
    """

    name: str
    title: str
    says: str
    head: tuple[str, str]
    rows: tuple[tuple[str, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    bars: tuple[tuple[float, float, float, float], ...] = ()
    line: tuple[Place, ...] = ()
    stop: tuple[float, float, str] | None = None
    ahead: tuple[Place, ...] = ()
    end: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where numbers lie; both axes begin at 0."""

    most_x: float
    most_y: float

    def x(self, number: float) -> float:
        return round(_LEFT + number / self.most_x * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, number: float) -> float:
        return round(HEIGHT - _BOTTOM - number / self.most_y * (HEIGHT - _TOP - _BOTTOM), 1)


def way(status: Status, work: Assessment, before: Sequence[Point]) -> Chart | None:
    """What the rule asks about, against the number of labels; None before the first label.

    Args:
        before: where it stood at fewer labels, ascending.
    """
    rule, is_share = work.rule, work.rule.confidence is not None
    reached = status.confidence if status.confidence is not None else status.value
    if reached is None or not status.labels:
        return None
    told = [(p.labels, p.reached) for p in before if p.reached is not None]
    told.append((status.labels, reached))
    form = percent if is_share else error
    target = rule.confidence if rule.confidence is not None else rule.target
    most = 1.0 if is_share else 1.12 * max(target, *(number for _, number in told))
    axes = _Axes(_most_labels(status), most)
    has_line = work.confidence_sequence is None or not is_share
    at_stop = axes.y(target)
    ahead, end = _ahead(axes, status, reached, target)
    ticks = (0.0, 0.5, 1.0) if is_share else _ticks(most)
    name = progress_name(work)
    return Chart(
        name="way",
        title=f"{sentence(name)}, against labels",
        says=_way_in_words(name, [(n, form(number)) for n, number in told], status.forecast)
        + (f" The rule stops at {form(target)}." if has_line else ""),
        head=("Labels", sentence(name)),
        rows=tuple((count(n), form(number)) for n, number in reversed(told)),
        x_ticks=tuple((axes.x(n), count(n)) for n in _ticks(axes.most_x, is_whole=True)),
        y_ticks=tuple((axes.y(y), f"{100 * y:g}%" if is_share else f"{y:g}") for y in ticks),
        line=tuple((axes.x(n), axes.y(number)) for n, number in told),
        stop=(at_stop, at_stop + (-4 if is_share else 11), f"stops at {form(target)}")
        if has_line
        else None,
        ahead=ahead,
        end=end,
    )


def hours(per_hour: Sequence[int], now: float, timezone: str) -> Chart | None:
    """How many labels were given in each hour of the clock; None if none was.

    Args:
        per_hour: the hour of `now` comes last.
        now: seconds since 1970.
    """
    n, in_all = len(per_hour), sum(per_hour)
    if not in_all:
        return None
    this = datetime.fromtimestamp(int(now) // 3600 * 3600, UTC)
    began = [
        (this - timedelta(hours=ago)).astimezone(ZoneInfo(timezone)) for ago in reversed(range(n))
    ]
    axes, busiest = _Axes(n, 1.08 * max(per_hour)), max(range(n), key=lambda k: per_hour[k])
    width = axes.x(1) - axes.x(0)
    return Chart(
        name="hours",
        title=f"Labels an hour ({timezone})",
        says=f"{in_all:,} label{'s' * (in_all != 1)} in the last {n} hours: at most "
        f"{per_hour[busiest]:,} in one, from {began[busiest]:%H:%M} on; {per_hour[-1]:,} since "
        f"{began[-1]:%H:%M} (times in {timezone}).",
        head=("Hour from", "Labels"),
        rows=tuple((f"{at:%a %H:%M}", count(k)) for at, k in zip(began, per_hour, strict=True))[
            ::-1
        ],
        x_ticks=tuple(
            (axes.x(k + 0.5), f"{at:%H:%M}") for k, at in enumerate(began) if at.hour % 6 == 0
        ),
        y_ticks=tuple((axes.y(y), count(y)) for y in _ticks(axes.most_y, is_whole=True)),
        bars=tuple(
            (axes.x(k), axes.y(number), round(0.8 * width, 1), round(axes.y(0) - axes.y(number), 1))
            for k, number in enumerate(per_hour)
            if number
        ),
    )


def _most_labels(status: Status) -> float:
    """How far the axis of labels goes: to the foreseen end, if that is not too far away."""
    ahead = status.forecast
    if ahead is None or ahead.labels_high is None:
        return 1.02 * status.labels
    room = max(_TIMES_AHEAD * status.labels, _LEAST_LABELS)
    return 1.02 * min(status.labels + ahead.labels_high, room)


def _ahead(
    axes: _Axes, status: Status, reached: float, target: float
) -> tuple[tuple[Place, ...], tuple[float, float] | None]:
    """The line from now to the foreseen end, as far as the sheet goes, and where that end lies."""
    ahead = status.forecast
    if ahead is None or not ahead.labels_more:
        return (), None
    n, most = status.labels, axes.most_x
    share = min(1.0, (most - n) / ahead.labels_more)
    to = n + share * ahead.labels_more, reached + share * (target - reached)
    line = (axes.x(n), axes.y(reached)), (axes.x(to[0]), axes.y(to[1]))
    low, high = ahead.labels_low, ahead.labels_high
    if low is None or high is None or n + low >= most:
        return line, None
    return line, (axes.x(n + low), axes.x(min(most, n + high)))


def _way_in_words(name: str, told: Sequence[tuple[int, str]], ahead: Forecast | None) -> str:
    first, last = told[0], told[-1]
    text = f"{sentence(name)} after {count(last[0])} label{'s' * (last[0] != 1)}: {last[1]}."
    if len(told) > 1:
        text += f" After {count(first[0])} it was {first[1]}."
    return text if ahead is None else f"{text} {ahead.text}"


def _ticks(most: float, *, is_whole: bool = False) -> list[float]:
    """Round numbers from 0 to `most`: five at most, two at least."""
    power = 10.0 ** math.floor(math.log10(most / 4))
    steps = (m * power for m in (1, 2, 5, 10))
    step = next(step for step in steps if most / step < 5)
    if is_whole:
        step = max(1.0, step)
    ticks = [round(k * step, 12) for k in range(6)]
    return [tick for tick in ticks if tick <= most]
