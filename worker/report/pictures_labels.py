"""The picture of accuracy against calibration error, of every group."""

from __future__ import annotations

from worker.formats import counted, sentence, value
from worker.report import pictures_svg as on
from worker.report.contents import Interval, Report
from worker.report.pictures_svg import Picture

_MOST_NAMED = 6
_Points = list[tuple[str, bool, Interval, Interval]]


def points(report: Report) -> _Points:
    """Name, whether it is chosen, accuracy and calibration error of every group that has both."""
    told = {} if report.source is None else {one.metric: one for one in report.source.metrics}
    if not {"accuracy", "ece"} <= told.keys() or report.models is not None:
        return []
    both = zip(report.groups, told["accuracy"].groups, told["ece"].groups, strict=False)
    return [
        (group.name, group.is_chosen, accuracy, ece)
        for group, accuracy, ece in both
        if accuracy is not None and ece is not None
    ]


def accuracy_against_ece(report: Report) -> Picture:
    """A dot for every group, with both of its 95% intervals; after Ji et al. 2021, figure 1."""
    found = points(report)
    sheet = on.sheet(400)
    axes = on.axes(sheet, 54, 26, 22, 44)
    for is_chosen, colour in ((False, on.PLAIN), (True, on.CHOSEN)):
        mine = [(a, e) for _, chosen, a, e in found if chosen == is_chosen]
        nan, across, up = float("nan"), list[tuple[float, float]](), list[tuple[float, float]]()
        for a, e in mine:
            across += [(a.low, e.mean), (a.high, e.mean), (nan, nan)]
            up += [(a.mean, e.low), (a.mean, e.high), (nan, nan)]
        if mine:
            axes.plot(*zip(*across, *up, strict=True), color=colour, linewidth=0.8, alpha=0.5)
            dots = [(a.mean, e.mean) for a, e in mine]
            axes.plot(*zip(*dots, strict=True), "o", color=colour, markersize=5, mew=0)
    xs = [x for _, _, a, _ in found for x in (a.low, a.high)]
    ys = [y for _, _, _, e in found for y in (e.low, e.high)]
    axes.set_xlim(*on.spread(xs, (0.0, 1.0)))
    axes.set_ylim(*on.spread(ys, (0.0, 1.0)))
    up_by = 0.025 * (axes.get_ylim()[1] - axes.get_ylim()[0])
    for group, _, a, e in [one for one in found if one[1]][:_MOST_NAMED]:
        on.note(axes, a.mean, e.mean + up_by, on.word(sheet, group), color=on.CHOSEN, ha="center")
    on.ruled(axes, "x", on.rounded)
    on.ruled(axes, "y", on.rounded)
    assert report.source is not None, "drawn of labels from a file"
    name = next(one.name for one in report.source.metrics if one.metric == "accuracy")
    on.labelled(axes, x=name, y="expected calibration error")
    worst = max(found, key=lambda one: one[3].mean)
    alt = (
        f"{sentence(name)} and expected calibration error of {counted(len(found), 'group')}, each "
        f"with its 95% interval. Worst calibrated: {worst[0]}, {name} {value(worst[2].mean)}, "
        f"error {value(worst[3].mean)}."
    )
    return on.printed(sheet, "against-ece", f"{sentence(name)} against calibration error", alt)
