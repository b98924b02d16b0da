"""Pictures with a row for every group: intervals, labels, cost, ranks and who may be extreme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from worker.formats import count, counted, sentence, share, value
from worker.metrics import RANGES
from worker.report import pictures_svg as on
from worker.report.contents import Group, Report
from worker.report.pictures import noun
from worker.report.pictures_svg import Picture

_MOST = 60  # rows; of more groups only those near the answer and a few of the other end are shown
_NEAR, _FAR = 30, 8
_PITCH, _TOP, _BOTTOM = 18, 4, 44


@dataclass(frozen=True, slots=True)
class Rows:
    """Groups from top to bottom; None stands for a gap of `left_out` groups."""

    groups: tuple[Group | None, ...]
    left_out: tuple[int, ...]  # one a gap


def sorted_groups(report: Report) -> tuple[Group, ...]:
    """The groups with items, from the end that the question asks about."""
    filled = [group for group in report.groups if group.mean is not None]
    return tuple(sorted(filled, key=lambda g: g.mean or 0.0, reverse=report.which == "highest"))


def rows(groups: Sequence[Group]) -> Rows:
    """All groups, or, of many, those on either side of the boundary and some of the other end."""
    if len(groups) <= _MOST:
        return Rows(tuple(groups), ())
    last = max((n for n, group in enumerate(groups) if group.is_chosen), default=0)
    start = max(0, min(last + 1 - _NEAR, len(groups) - _FAR - 2 * _NEAR))
    end = start + (_NEAR if start == 0 and last < _NEAR // 2 else 2 * _NEAR)
    shown: list[Group | None] = list(groups[start:end])
    gaps = []
    if start:
        shown.insert(0, None)
        gaps.append(start)
    if end < len(groups) - _FAR:
        shown.append(None)
        gaps.append(len(groups) - _FAR - end)
    return Rows((*shown, *groups[max(end, len(groups) - _FAR) :]), tuple(gaps))


def forest(report: Report) -> Picture:
    """Mean and 95% interval of every group, sorted, with the boundary of the chosen ones."""
    groups = sorted_groups(report)
    shown = rows(groups)
    sheet, axes = _lines(shown, _values(report, groups))
    _intervals(axes, shown, [(g.low, g.mean, g.high) if g else None for g in shown.groups])
    bands = [
        (n, g.band_low, g.band_high)
        for n, g in enumerate(shown.groups)
        if g and g.band_low is not None and g.band_high is not None
    ]
    if bands:
        for at in (1, 2):
            axes.plot(
                [band[at] for band in bands], [band[0] for band in bands],
                "|", color=on.QUIET, markersize=7, clip_on=True,
            )  # fmt: skip
    if report.boundary is not None:
        axes.axvline(report.boundary, color=on.CHOSEN, linewidth=1, linestyle=(0, (4, 3)))
    _whole_pool(axes, report)
    on.ruled(axes, "x", on.rounded, n=7)
    on.labelled(axes, x=report.metric_name)
    chosen = [g.name for g in groups if g.is_chosen]
    alt = (
        f"Mean and 95% interval of the {report.metric_name} of {_of(shown, groups)}, "
        f"from the {report.which or 'lowest'} mean. {_extremes(groups)}"
        + (f" Marked as the answer: {', '.join(chosen[:5])}." if chosen else "")
    )
    return on.printed(
        sheet, "forest", f"{sentence(report.metric_name)} of each {noun(report)}", alt
    )


def labels_per_group(report: Report) -> Picture:
    """How many labels each group got, and how many of them say that the classifier is right."""
    groups = sorted_groups(report)
    shown = rows(groups)
    most = max((g.labelled for g in shown.groups if g), default=0)
    sheet, axes = _lines(shown, (0.0, max(1.0, most * 1.14)))
    here = [(n, g) for n, g in enumerate(shown.groups) if g and g.labelled]
    on.bars(axes, [n for n, _ in here], [g.labelled for _, g in here], on.RULE)
    for is_chosen, colour in ((False, on.PLAIN), (True, on.CHOSEN)):
        part = [(n, g.right) for n, g in _those(shown, is_chosen) if g.right]
        on.bars(axes, [n for n, _ in part], [r for _, r in part], colour)
    for n, g in here:
        on.note(axes, g.labelled + most * 0.015, n, count(g.labelled))
    on.ruled(axes, "x", count)
    strong = "right"
    if report.evaluation is not None:
        strong = "no class has more votes than the predicted one"
    on.labelled(axes, x=f"labels (strong: {strong})")
    total = sum(g.labelled for g in shown.groups if g)
    alt = (
        f"Labels of {_of(shown, groups)}, in the order of the picture above; those shown have "
        f"{total:,} of all {report.labels:,}."
    )
    return on.printed(sheet, "labels", f"Labels of each {noun(report)}", alt)


def costs(report: Report) -> Picture:
    """Bars of the groups' mean costs with their intervals, the dearest first."""
    groups = tuple(sorted(sorted_groups(report), key=lambda g: -(g.mean or 0.0)))
    shown = rows(groups)
    high = max(g.high or 0.0 for g in groups)
    sheet, axes = _lines(shown, (min(0.0, *(g.low or 0.0 for g in groups)), 1.06 * high or 1.0))
    for is_chosen, colour in ((False, on.PLAIN), (True, on.CHOSEN)):
        part = [(n, g.mean or 0.0) for n, g in _those(shown, is_chosen)]
        on.bars(axes, [n for n, _ in part], [mean for _, mean in part], colour)
    for n, g in enumerate(shown.groups):
        if g:
            axes.plot([g.low or 0.0, g.high or 0.0], [n, n], color=on.INK, linewidth=1)
    _whole_pool(axes, report)
    on.ruled(axes, "x", on.rounded)
    on.labelled(axes, x="expected cost of an item (line: 95% interval; dotted: the whole pool)")
    alt = f"Expected cost of an item in {_of(shown, groups)}, the dearest first."
    return on.printed(sheet, "costs", "What an item of each group costs", alt)


def ranks(report: Report) -> Picture:
    """Median rank and 95% interval of every group."""
    groups = sorted_groups(report)
    shown = rows(groups)
    sheet, axes = _lines(shown, on.spread([1, max(g.rank_high or 1 for g in groups)]))
    _intervals(
        axes, shown, [(g.rank_low, g.rank, g.rank_high) if g else None for g in shown.groups]
    )
    on.ruled(axes, "x", count, n=min(5, len(groups)))
    on.labelled(axes, x=f"rank (1: the lowest {report.metric_name})")
    alt = f"Median rank and 95% interval of the rank of {_of(shown, groups)}; 1 is the lowest."
    return on.printed(sheet, "ranks", "Rank of each group", alt)


def chances(report: Report) -> Picture:
    """The probability of each group to be the extreme one; the likeliest 20."""
    is_high = report.which == "highest"
    end = "highest" if is_high else "lowest"

    def chance(group: Group) -> float:
        return (group.p_highest if is_high else group.p_lowest) or 0.0

    groups = tuple(sorted(sorted_groups(report), key=chance, reverse=True))
    likely = Rows(tuple(g for g in groups[:20] if chance(g) > 0) or groups[:1], ())
    sheet, axes = _lines(likely, (0, 1.12))
    for is_chosen, colour in ((False, on.PLAIN), (True, on.CHOSEN)):
        part = _those(likely, is_chosen)
        on.bars(axes, [n for n, _ in part], [chance(g) for _, g in part], colour)
    for n, g in enumerate(likely.groups):
        if g:
            on.note(axes, chance(g) + 0.012, n, share(chance(g)))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0%", "25%", "50%", "75%", "100%"])
    axes.xaxis.grid(True, color=on.RULE, linewidth=0.7)
    on.labelled(axes, x=f"probability to have the {end} {report.metric_name}")
    best = likely.groups[0]
    alt = f"Probability to be the {end}: " + (
        f"{best.name} leads with {share(chance(best))}; {len(likely.groups)} are shown."
        if best
        else "no group has items."
    )
    return on.printed(sheet, "chances", f"Which group is the {end}?", alt)


def _lines(shown: Rows, limits: tuple[float, float]) -> tuple[on.Sheet, Axes]:
    """A sheet with a row for each group, its name on the left."""
    n = max(1, len(shown.groups))
    sheet = on.sheet(_TOP + n * _PITCH + _BOTTOM)
    left = on.beside([g.name for g in shown.groups if g])
    axes = on.axes(sheet, left, _TOP, 14, _BOTTOM)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlim(*limits)
    names = [on.word(sheet, g.name) if g else "" for g in shown.groups]
    on.named(axes, names, {n for n, g in enumerate(shown.groups) if g and g.is_chosen})
    gaps = [at for at, group in enumerate(shown.groups) if group is None]
    for at, left_out in zip(gaps, shown.left_out, strict=True):
        more = f"{counted(left_out, 'more group')}; the table has them all"
        axes.axhline(at, color=on.RULE, linewidth=1, linestyle=(0, (1, 3)))
        axes.text(
            0.5, at, more, transform=axes.get_yaxis_transform(), color=on.QUIET,
            ha="center", va="center", fontsize=11, zorder=5,
            bbox={"facecolor": on.GROUND, "edgecolor": "none", "pad": 3},
        )  # fmt: skip
    return sheet, axes


def _those(shown: Rows, is_chosen: bool) -> list[tuple[int, Group]]:
    """The rows of groups that are part of the answer, or of the others."""
    return [(n, g) for n, g in enumerate(shown.groups) if g and g.is_chosen == is_chosen]


def _intervals(
    axes: Axes,
    shown: Rows,
    places: Sequence[tuple[float | None, float | None, float | None] | None],
) -> None:
    """A line from low to high and a dot at the middle, each row; one path for all of a colour."""
    for is_chosen, colour in ((False, on.PLAIN), (True, on.CHOSEN)):
        lines: list[tuple[float, float]] = []
        dots: list[tuple[float, float]] = []
        for n, (group, place) in enumerate(zip(shown.groups, places, strict=True)):
            if group is None or place is None or group.is_chosen != is_chosen:
                continue
            low, middle, high = (float("nan") if x is None else x for x in place)
            lines += [(low, n), (high, n), (float("nan"), n)]
            dots.append((middle, n))
        if dots:
            axes.plot(*zip(*lines, strict=True), color=colour, linewidth=1.8)
            axes.plot(
                *zip(*dots, strict=True), "o", color=colour, markersize=5, mew=0, clip_on=False
            )


def _whole_pool(axes: Axes, report: Report) -> None:
    if report.overall is not None:
        axes.axvline(report.overall.mean, color=on.QUIET, linewidth=0.8, linestyle=(0, (1, 2)))


def _values(report: Report, groups: Sequence[Group]) -> tuple[float, float]:
    ends = [x for g in groups for x in (g.low, g.high, g.band_low, g.band_high)]
    inside = RANGES.get(report.metric)
    whole = None if report.overall is None else report.overall.mean
    every = [*ends, report.boundary, whole]
    return on.spread([x for x in every if x is not None], inside)


def _of(shown: Rows, groups: Sequence[Group]) -> str:
    here = sum(g is not None for g in shown.groups)
    every = counted(len(groups), "group")
    return f"{here} of {every}" if shown.left_out else every


def _extremes(groups: Sequence[Group]) -> str:
    first, last = groups[0], groups[-1]
    if first is last:
        return f"{first.name}: {_told(first)}."
    return f"First {first.name}: {_told(first)}; last {last.name}: {_told(last)}."


def _told(group: Group) -> str:
    numbers = (group.mean, group.low, group.high)
    mean, low, high = ("–" if x is None else value(x) for x in numbers)
    return f"{mean} ({low} to {high})"
