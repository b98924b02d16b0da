"""Pictures of a confusion matrix: the shares, and how uncertain each of them is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from worker.formats import share
from worker.report import pictures_svg as on
from worker.report.contents import Confusion, Report
from worker.report.pictures_svg import Picture

_MOST = 30  # classes; of more, those with the smallest shares of right answers
_WITH_TEXT = 20
_LEVELS = 12
_TOP = 26
_NONE = Confusion((), (), (), ())


def confusion(report: Report) -> Picture:
    """The shares of the true classes in each predicted one."""
    found = report.confusion or _NONE
    rows, columns = _shown(found)
    alt = f"Confusion matrix of {_some(found, rows)}: the darker, the larger the share."
    names = _names(found, rows), _names(found, columns)
    title = "Share of each true class, in percent"
    return _matrix("confusion", title, names, _numbers(found.mean, rows, columns), 1.0, alt)


def uncertainty(report: Report) -> Picture:
    """Half the widths of the intervals of the same shares."""
    found = report.confusion or _NONE
    rows, columns = _shown(found)
    high, low = (_numbers(ends, rows, columns) for ends in (found.high, found.low))
    half = (high - low) / 2
    widest = float(half.max(initial=0.0))
    alt = (
        f"Uncertainty of the confusion matrix of {_some(found, rows)}: half-widths of the 95% "
        f"intervals, at most {share(widest)}."
    )
    title = "Half the width of its 95% interval, in percentage points"
    names = _names(found, rows), _names(found, columns)
    return _matrix("uncertainty", title, names, half, widest or 1.0, alt)


def _shown(found: Confusion) -> tuple[list[int], list[int]]:
    """The predicted and the true classes that are drawn; a class that is never predicted is a
    column without a row."""
    known = [k for k, row in enumerate(found.mean) if row[k] is not None]
    worst = sorted(known, key=lambda k: found.mean[k][k] or 0.0)[:_MOST]
    every = len(found.classes) <= _MOST
    return sorted(worst), list(range(len(found.classes))) if every else sorted(worst)


def _names(found: Confusion, classes: Sequence[int]) -> list[str]:
    return [found.classes[k] for k in classes]


def _some(found: Confusion, shown: Sequence[int]) -> str:
    some = f"{len(shown)} of {len(found.classes):,} classes"
    cut = len(shown) == _MOST < len(found.classes)
    return some + (", those predicted with the fewest right answers" if cut else "")


def _numbers(
    cells: Sequence[Sequence[float | None]], rows: Sequence[int], columns: Sequence[int]
) -> on.Floats:
    return np.array([[cells[j][k] for k in columns] for j in rows], dtype=float)


def _matrix(
    name: str,
    title: str,
    names: tuple[Sequence[str], Sequence[str]],
    cells: on.Floats,
    full: float,
    alt: str,
) -> Picture:
    """Cells as dark as their numbers, in a few levels: a path each, so that big ones stay small."""
    rows, columns = names
    n = len(columns)
    left, below = on.beside(rows), on.beside(columns, 13)
    pitch = min(44.0, (on.WIDTH - left - 14) / n)
    sheet = on.sheet(_TOP + len(rows) * pitch + below)
    axes = on.axes(sheet, left, _TOP, on.WIDTH - left - n * pitch, below)
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    level = np.ceil(np.nan_to_num(cells) / full * _LEVELS).astype(int)
    for k in range(_LEVELS + 1):
        squares = [_square(x, y) for y, x in np.argwhere(level == k)]
        if squares:
            alpha = 0.04 + 0.5 * k / _LEVELS
            path = Path.make_compound_path(*squares)
            axes.add_patch(PathPatch(path, facecolor=on.BLUE, alpha=alpha, linewidth=0))
    if n <= _WITH_TEXT:
        for (y, x), cell in np.ndenumerate(cells):
            if np.isfinite(cell) and cell >= 0.005:
                on.note(axes, x, y, f"{100 * cell:.0f}", color=on.INK, ha="center", is_small=n > 9)
    labels = [on.word(sheet, text) for text in rows]
    axes.set_yticks(range(len(rows)), labels=labels)
    turned = [on.word(sheet, text, 13) for text in columns]
    axes.set_xticks(
        range(n), labels=turned, rotation=90, rotation_mode="anchor", ha="right", va="center"
    )
    axes.tick_params(labelcolor=on.INK, labelsize=11 if pitch >= 13 else 8)
    on.labelled(axes, y="rows: predicted class · columns: true class")
    return on.printed(sheet, name, title, alt)


def _square(x: int, y: int) -> Path:
    left, right, top, bottom = x - 0.48, x + 0.48, y - 0.48, y + 0.48
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return Path(corners, closed=True)
