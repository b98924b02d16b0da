"""The pictures of a report that are not made of groups: progress, calibration, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from worker.formats import count, counted, error, percent, sentence, share, value
from worker.report import pictures_svg as on
from worker.report.contents import Bin, Reliability, Report
from worker.report.contents_progress import Point
from worker.report.pictures_svg import Picture

MOST_PAIRS = 30
_MOST_CLASSES = (
    30  # in a confusion matrix; of more, those with the smallest shares of right answers
)
_WITH_TEXT = 20
_LEVELS = 12


def noun(report: Report) -> str:
    """What a row is: a model, where the best one is asked for, else a group."""
    return "model" if report.models and "best" in report.models else "group"


def progress(report: Report) -> Picture:
    """What the rule asks about, against the number of labels, with the line where it stops."""
    sheet = on.sheet(260)
    axes = on.axes(sheet, 54, 26, 22, 44)
    points = [p for p in report.progress if p.reached is not None]
    is_share, target = report.progress_is_share, report.progress_target
    form = percent if is_share else error
    reached = [p.reached or 0.0 for p in points]
    top = 1.0 if is_share else 1.12 * max([*reached, target, 1e-6])
    axes.set_xlim(0, 1.02 * max(1, report.labels, *(p.labels for p in report.progress), 1))
    axes.set_ylim(0, top * 1.02)
    on.ruled(axes, "y", (lambda y: f"{100 * y:g}%") if is_share else on.rounded)
    if report.progress_decides:
        axes.axhline(target, color=on.CHOSEN, linewidth=1.2, linestyle=(0, (5, 3)))
        asked = f"asked for: {form(target)}"
        on.note(axes, 0, target - top * 0.05 * (1 if is_share else -1), asked, color=on.CHOSEN)
    at = [p.labels for p in points]
    axes.plot(at, reached, color=on.BLUE, linewidth=1.8, solid_joinstyle="round")
    turns = [b for a, b in pairwise(points) if _found(a) != _found(b)]
    if is_share:
        axes.plot(
            [p.labels for p in turns], [p.reached or 0.0 for p in turns],
            "o", color=on.BLUE, markerfacecolor=on.GROUND, markersize=5,
        )  # fmt: skip
    if points:
        axes.plot(at[-1:], reached[-1:], "o", color=on.BLUE, markersize=7, mew=0, clip_on=False)
    on.ruled(axes, "x", count)
    axes.xaxis.grid(False)
    on.labelled(axes, x="labels", y=report.progress_name)
    alt = _progress_alt(report, points)
    title = f"{report.progress_name[:1].upper()}{report.progress_name[1:]} against labels"
    return on.printed(sheet, "progress", title, alt)


def _found(point: Point) -> str:
    """The finding without how sure it is, which comes last."""
    return point.finding.rpartition(", ")[0]


def _progress_alt(report: Report, points: Sequence[Point]) -> str:
    form = percent if report.progress_is_share else error
    asked = f"the rule asks for {form(report.progress_target)}"
    if not report.progress_decides:
        asked = "the rule asks for bands that hold at any time instead"
    if not points:
        return f"No labels yet; {asked}."
    first, last = points[0], points[-1]
    return (
        f"{report.progress_name} after {counted(first.labels, 'label')}: "
        f"{form(first.reached or 0.0)}; "
        f"after {last.labels:,}: {form(last.reached or 0.0)}; {asked}."
    )


def calibration(report: Report) -> Picture:
    """Scores against accuracies of the whole pool."""
    assert report.reliability is not None, "drawn where there are bins"
    right = sentence(report.metric_name) if report.metric == "accuracy" else "Accuracy"
    return against_scores(report.reliability, "calibration", f"{right} against score")


def against_scores(reliability: Reliability, name: str, title: str) -> Picture:
    """Scores against accuracies with intervals, and below how many items and labels there are."""
    bins = reliability.bins
    sheet = on.sheet(462)
    axes, below = on.axes(sheet, 54, 26, 22, 146), on.axes(sheet, 54, 358, 22, 44)
    axes.plot([0, 1], [0, 1], color=on.QUIET, linewidth=0.8, linestyle=(0, (1, 2)))
    curve = reliability.curve
    along = [point.score for point in curve]
    edges = [point.low for point in curve], [point.high for point in curve]
    axes.fill_between(along, *edges, color=on.RULE, linewidth=0)
    axes.plot(along, [point.accuracy for point in curve], color=on.BLUE, linewidth=1.0)
    for one in bins:
        axes.plot([one.score, one.score], [one.low, one.high], color=on.BLUE, linewidth=1.8)
    at = [one.score for one in bins]
    axes.plot(at, [one.accuracy for one in bins], "o", color=on.BLUE, markersize=6, mew=0)
    most = max((one.items for one in bins), default=1) or 1
    width = _bar_width(bins)
    below.bar(at, [one.items for one in bins], width, color=on.RULE)
    below.bar(at, [one.labelled for one in bins], width, color=on.BLUE)
    ticks = {"x": (lambda x: f"{x:g}"), "y": (lambda y: f"{y:g}")}
    for one_axes in (axes, below):
        one_axes.set_xlim(-0.02, 1.02)
        on.ruled(one_axes, "x", ticks["x"])
    on.ruled(axes, "y", ticks["y"])
    axes.set_xticklabels([])
    axes.set_ylim(-0.02, 1.02)
    below.set_ylim(0, most * 1.05)
    on.ruled(below, "y", count, n=2)
    on.labelled(axes, y="share that is right, with its 95% interval")
    on.labelled(below, x="score", y="items (grey), labelled ones (blue)")
    ece = reliability.ece
    worst = max(bins, key=lambda one: abs(one.accuracy - one.score), default=None)
    alt = f"Accuracy against score in {len(bins)} bins." + (
        f" Farthest off: score {value(worst.score)}, accuracy {value(worst.accuracy)}."
        if worst
        else ""
    )
    if ece is not None:
        said = f"{value(ece.mean)} ({value(ece.low)} to {value(ece.high)})"
        alt += f" Expected calibration error {said}."
    if reliability.curve_ece is not None:
        alt += f" Over the smooth curve the error is {value(reliability.curve_ece.mean)}."
    return on.printed(sheet, name, title, alt)


def _bar_width(bins: Sequence[Bin]) -> float:
    """As wide as the closest two scores allow, so that bars of equal-mass bins do not overlap."""
    at = sorted(one.score for one in bins)
    steps = [b - a for a, b in pairwise(at) if b > a]
    return max(0.006, min([0.05, *(0.8 * step for step in steps)]))


def rope(report: Report) -> Picture:
    """For each pair three shares of one bar: below, within and above the region of equivalence."""
    pairs, epsilon = report.pairs, report.epsilon
    shown = pairs[:MOST_PAIRS]
    sheet = on.sheet(30 + 44 * max(1, len(shown)) + 44)
    axes = on.axes(sheet, 20, 30, 24, 44)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(shown) - 0.6, -0.6)
    axes.set_yticks([])
    colours = (on.CHOSEN, on.RULE, on.BLUE)
    for n, pair in enumerate(shown):
        left = 0.0
        for part, colour in zip((pair.below, pair.within, pair.above), colours, strict=True):
            axes.barh(n, part, 0.42, left=left, color=colour)
            if part >= 0.12:
                ink = on.INK if colour == on.RULE else on.GROUND
                on.note(axes, left + part / 2, n + 0.03, share(part), color=ink, ha="center")
            left += part
        said = f"{on.word(sheet, pair.first, 26)}  –  {on.word(sheet, pair.second, 26)}"
        on.note(axes, 0, n - 0.37, said, color=on.INK)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0%", "25%", "50%", "75%", "100%"])
    on.labelled(axes, x="probability")
    within = f"within {epsilon:g}" if epsilon else "equal"
    meanings = ("first is lower", within, "first is higher")
    for at, colour, meaning in zip((0.0, 0.32, 0.61), colours, meanings, strict=True):
        axes.plot(at + 0.012, -0.95, "s", color=colour, markersize=9, mew=0, clip_on=False)
        on.note(axes, at + 0.035, -0.95, meaning)
    alt = (
        f"Probabilities of {len(shown)} of {counted(report.n_pairs, 'pair')} that the first group "
        f"is lower, {within} or higher."
    )
    for pair in shown[:1]:
        alt += (
            f" {pair.first} to {pair.second}: lower {share(pair.below)}, {within} "
            f"{share(pair.within)}, higher {share(pair.above)}."
        )
    return on.printed(sheet, "pairs", "How the groups of each pair stand to each other", alt)
