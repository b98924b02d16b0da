"""Pictures of densities: of calibration errors, and of differences with what counts as equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from worker.formats import counted, sentence, share, value
from worker.report import pictures_svg as on
from worker.report.contents import Report
from worker.report.contents_densities import DifferenceDensity, Outline, ValueDensity
from worker.report.pictures import noun
from worker.report.pictures_svg import Picture

Floats = NDArray[np.float64]
Places = list[tuple[float, float]]

_TOP, _BOTTOM = 8, 44
_HIGH = 0.8  # of a row: the highest point of a density above its line


def eces(report: Report) -> Picture:
    """The density of each calibration error with its mean and 95% interval."""
    assert report.densities is not None, "drawn where there are some"
    told = report.densities.ece
    sheet = on.sheet(_TOP + 46 * len(told) + _BOTTOM)
    axes = on.axes(sheet, on.beside([one.name for one in told]), _TOP, 14, _BOTTOM)
    axes.set_ylim(len(told) - 0.5, -_HIGH - 0.1)
    axes.set_xlim(*on.spread(_ends(told), (0.0, 1.0)))
    _filled(axes, [_shape(one.outline, n) for n, one in enumerate(told)], on.BLUE)
    for n, one in enumerate(told):
        axes.plot([one.low, one.high], [n, n], color=on.INK, linewidth=1.8)
        axes.plot([one.mean], [n], "o", color=on.INK, markersize=5, mew=0)
    on.named(axes, [on.word(sheet, one.name) for one in told])
    on.ruled(axes, "x", on.rounded, n=6)
    on.labelled(axes, x="calibration error (dot and line: mean, 95%)")
    said = " ".join(
        f"{one.name}: {value(one.mean)} ({value(one.low)} to {value(one.high)})." for one in told
    )
    alt = f"Densities of the expected calibration error. {said}"
    return on.printed(sheet, "eces", "How well each calibration error is known", alt)


def differences(report: Report) -> Picture:
    """The density of each difference, parted where a difference begins to matter."""
    assert report.densities is not None, "drawn where there are some"
    assert report.densities.epsilon is not None, "differences have one"
    told, epsilon = report.densities.differences, report.densities.epsilon
    sheet = on.sheet(_TOP + 82 * len(told) + _BOTTOM)
    axes = on.axes(sheet, 20, _TOP, 24, _BOTTOM)
    axes.set_ylim(len(told) - 0.9, -1.0)
    axes.set_yticks([])
    axes.set_xlim(*on.spread([*_ends(told), -1.2 * epsilon, 1.2 * epsilon], (-1.0, 1.0)))
    axes.axvspan(-epsilon, epsilon, color=on.RULE, alpha=0.4, linewidth=0)
    regions: Sequence[tuple[str, Callable[[Floats], NDArray[np.bool_]]]] = (
        (on.CHOSEN, lambda x: x <= -epsilon),
        (on.PLAIN, lambda x: np.abs(x) <= epsilon),
        (on.BLUE, lambda x: x >= epsilon),
    )
    for colour, is_in in regions:
        shapes = [_shape(one.outline, n, 0.45, (-epsilon, epsilon), is_in) for n, one in
                  enumerate(told)]  # fmt: skip
        _filled(axes, shapes, colour)
    for n, one in enumerate(told):
        axes.plot([one.low, one.high], [n, n], color=on.INK, linewidth=1.8)
        axes.plot([one.mean], [n], "o", color=on.INK, markersize=5, mew=0)
        _said(axes, sheet, n, one, epsilon)
    on.ruled(axes, "x", on.rounded, n=6)
    on.labelled(axes, x=f"first less second: {_of(report)} (dot and line: mean and 95% interval)")
    alt = f"Densities of {counted(len(told), 'difference')} in {_of(report)}. " + " ".join(
        f"{one.first} less {one.second}: lower {share(one.below)}, within {epsilon:g} "
        f"{share(one.within)}, higher {share(one.above)}."
        for one in told
    )
    title = f"{sentence(_of(report))}: how far {noun(report)}s are apart"
    return on.printed(sheet, "differences", title, alt)


def _ends(told: Sequence[ValueDensity | DifferenceDensity]) -> list[float]:
    """What has to be seen: thin tails are cut a half of the interval's width beyond it."""
    ends = [x for one in told for x in (one.low, one.high)]
    for one in told:
        air = (one.high - one.low) / 2
        ends += [min(max(x, one.low - air), one.high + air) for x in one.outline.at]
    return ends


def _of(report: Report) -> str:
    return report.metric_name.removeprefix("difference in ")


def _said(axes: Axes, sheet: on.Sheet, n: int, one: DifferenceDensity, epsilon: float) -> None:
    """Above a row: what is compared, and how probable each of the three regions is."""
    names = f"{on.word(sheet, one.first, 26)}  –  {on.word(sheet, one.second, 26)}"
    within = f"within {epsilon:g}" if epsilon else "equal"
    across = axes.get_yaxis_transform()
    for x, at, text, colour, side in (
        (0.0, 0.84, names, on.INK, "left"),
        (0.0, 0.60, f"lower {share(one.below)}", on.CHOSEN, "left"),
        (0.5, 0.60, f"{within} {share(one.within)}", on.QUIET, "center"),
        (1.0, 0.60, f"higher {share(one.above)}", on.BLUE, "right"),
    ):
        axes.text(x, n - at, text, color=colour, ha=side, va="center", fontsize=11,
                  transform=across)  # fmt: skip


def _shape(
    of: Outline,
    row: int,
    height: float = _HIGH,
    cuts: tuple[float, ...] = (),
    is_in: Callable[[Floats], NDArray[np.bool_]] | None = None,
) -> Places:
    """A density as a closed line above its row, of the part that `is_in` says; cut at `cuts`."""
    if not of.at:
        return []
    at, density = np.array(of.at), np.array(of.density)
    every = np.unique([*at, *(x for x in cuts if at[0] < x < at[-1])])
    high = row - np.interp(every, at, density) / density.max() * height
    if is_in is not None:
        here = is_in(every)
        every, high = every[here], high[here]
    if every.size < 2:
        return []
    line = list(zip(every.tolist(), high.tolist(), strict=True))
    return [(line[0][0], row), *line, (line[-1][0], row), (line[0][0], row)]


def _filled(axes: Axes, shapes: Sequence[Places], colour: str) -> None:
    """One path for all of a colour."""
    if drawn := [Path(shape) for shape in shapes if shape]:
        path = Path.make_compound_path(*drawn)
        axes.add_patch(PathPatch(path, facecolor=colour, alpha=0.6, linewidth=0))
