"""A small picture of what each annotator says of the items of each class."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from worker.formats import share
from worker.report import pictures_svg as on
from worker.report.contents import Report
from worker.report.contents_people import Mistake, OwnConfusion
from worker.report.pictures_svg import Picture
from worker.report.tables_people import has_matrices
from worker.report.text_width import columns, shortened

_WIDTH, _TOP = 250.0, 8.0
_LEVELS = 12
_LETTERS = 10
_WITH_TEXT = 10  # classes; the squares of more are too small for numbers


def habits(report: Report) -> dict[str, Picture]:
    """One heat map an annotator, in their order; empty where there are too many to draw."""
    found = report.confusions
    if found is None or not has_matrices(report):
        return {}
    return {
        f"habit-{n}": _heat_map(f"habit-{n}", found.classes, one) for n, one in enumerate(found.of)
    }


def _says(one: Mistake) -> str:
    interval = f"({share(one.low)} to {share(one.high)})"
    return f"“{one.given}” for “{one.true}” {share(one.mean)} {interval}"


def _heat_map(name: str, classes: tuple[str, ...], one: OwnConfusion) -> Picture:
    """Squares as dark as their shares; the diagonal holds the right answers."""
    k = len(classes)
    left, below = _room(classes), _room(classes)
    pitch = min(40.0, (_WIDTH - left - 6) / k)
    sheet = on.sheet(_TOP + k * pitch + below, _WIDTH)
    axes = on.axes(sheet, left, _TOP, _WIDTH - left - k * pitch, below)
    axes.set_xlim(-0.5, k - 0.5)
    axes.set_ylim(k - 0.5, -0.5)
    mean = np.array(one.mean)
    level = np.ceil(mean * _LEVELS).astype(int)
    is_right = np.eye(k, dtype=bool)
    for colour, part in ((on.PLAIN, is_right), (on.CHOSEN, ~is_right)):
        for step in range(_LEVELS + 1):
            squares = [_square(x, y) for y, x in np.argwhere((level == step) & part)]
            if squares:
                axes.add_patch(
                    PathPatch(
                        Path.make_compound_path(*squares),
                        facecolor=colour,
                        alpha=0.05 + 0.6 * step / _LEVELS,
                        linewidth=0,
                    )
                )
    if k <= _WITH_TEXT:
        for (y, x), cell in np.ndenumerate(mean):
            if cell >= 0.005:
                on.note(axes, x, y, f"{100 * cell:.0f}", color=on.INK, ha="center", is_small=k > 6)
    labels = [on.word(sheet, text, _LETTERS) for text in classes]
    axes.set_yticks(range(k), labels=labels)
    axes.set_xticks(
        range(k), labels=labels, rotation=90, rotation_mode="anchor", ha="right", va="center"
    )
    axes.tick_params(labelcolor=on.INK, labelsize=11 if pitch >= 13 else 8)
    worst = f" Most often {_says(one.mistakes[0])}." if one.mistakes else ""
    alt = f"What {one.annotator} says of the items of {k} classes.{worst}"
    return on.printed(sheet, name, one.annotator, alt)


def _room(names: tuple[str, ...]) -> float:
    longest = max(columns(shortened(name, _LETTERS)) for name in names)
    return 12 + 6.6 * max(longest, 3)


def _square(x: int, y: int) -> Path:
    a, b, c, d = x - 0.47, x + 0.47, y - 0.47, y + 0.47
    return Path([(a, c), (b, c), (b, d), (a, d), (a, c)], closed=True)
