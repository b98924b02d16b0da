"""The paper that all pictures are drawn on: matplotlib figures that come out as small, themed SVG.

Sizes are in SVG units; a page scales a picture to its column and sets its fonts and colours.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from worker.formats import NOTHING, count, plain
from worker.report.text_width import columns, shortened

Floats = NDArray[np.float64]

WIDTH = 520

# No colour of ours reaches a page: each stands for a CSS variable, which is light or dark there.
INK, QUIET, RULE, CHOSEN, PLAIN, BLUE, GROUND = (f"#10000{n}" for n in range(1, 8))
_VARIABLES = dict(
    zip(
        (INK, QUIET, RULE, CHOSEN, PLAIN, BLUE, GROUND),
        ("ink", "quiet", "rule", "chosen", "plain", "blue", "ground"),
        strict=True,
    )
)
_COLUMNS = 16  # of a name, in letters
_NORMAL, _SMALL = 11, 8  # font sizes: the page's classes `t` and `s`
_one_at_a_time = Lock()  # svg.fonttype can only be set for the whole process


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG element to put into a page.

    alt: what it shows, in words. Same report, same bytes; ids begin with `name`.
    """

    name: str
    title: str
    alt: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure, and the words on it that matplotlib must not see.

    Names may hold formulas, or letters that its font lacks; a placeholder is drawn instead.
    """

    figure: Figure
    height: float
    width: float = WIDTH
    words: list[str] = field(default_factory=list)


def sheet(height: float, width: float = WIDTH) -> Sheet:
    """An empty sheet."""
    return Sheet(Figure(figsize=(width / 72, height / 72), facecolor="none"), height, width)


def axes(on: Sheet, left: float, top: float, right: float, bottom: float) -> Axes:
    """Axes with these margins: no frame, no ticks, thin vertical lines."""
    width, height = on.width - left - right, on.height - top - bottom
    made = on.figure.add_axes(
        (left / on.width, bottom / on.height, width / on.width, height / on.height),
        facecolor="none",
    )
    for spine in made.spines.values():
        spine.set_visible(False)
    made.tick_params(length=0, pad=6, labelsize=_NORMAL, labelcolor=QUIET)
    made.set_axisbelow(True)
    return made


def beside(names: Iterable[str], most: int = _COLUMNS) -> float:
    """Room for names along the axes: as much as the longest needs, cut as `word` cuts them."""
    longest = max((columns(shortened(name, most)) for name in names), default=0)
    return 20 + 8.8 * max(longest, 4)


def ruled(on: Axes, which: str, form: Callable[[float], str], n: int = 5) -> None:
    """Lines and labels along `x` or `y` at round numbers; at whole ones if `form` is `count`."""
    axis = on.xaxis if which == "x" else on.yaxis
    steps = [1, 2, 5, 10] if form is count else [1, 2, 2.5, 5, 10]
    axis.set_major_locator(MaxNLocator(n, steps=steps, integer=form is count))
    axis.set_major_formatter(_formatter(form))
    axis.grid(True, color=RULE, linewidth=0.7)


def _formatter(form: Callable[[float], str]) -> FuncFormatter:
    """Labels of an axis, from its numbers."""
    return FuncFormatter(lambda at, _: form(round(at, 9)))


def named(on: Axes, names: Sequence[str], chosen: Container[int] = ()) -> None:
    """Names on the left of rows 0, 1, ...; some of them marked.

    Plain texts: the ticks of an axis take five times as long.
    """
    on.yaxis.set_visible(False)
    figure = on.get_figure(root=True)
    assert figure is not None, "axes are made on a sheet"
    beside = -6 / (72 * figure.get_figwidth() * on.get_position().width)
    for row, name in enumerate(names):
        is_chosen = row in chosen
        on.text(
            beside, row, name, transform=on.get_yaxis_transform(), ha="right", va="center",
            fontsize=_NORMAL, color=CHOSEN if is_chosen else INK,
            fontweight="bold" if is_chosen else "normal",
        )  # fmt: skip


def bars(on: Axes, rows: Sequence[int], ends: Sequence[float], colour: str) -> None:
    """Horizontal bars from 0, one path for all of them."""
    corners = [
        [(0, row - 0.31), (end, row - 0.31), (end, row + 0.31), (0, row + 0.31), (0, row - 0.31)]
        for row, end in zip(rows, ends, strict=True)
    ]
    if corners:
        path = Path.make_compound_path(*map(Path, corners))
        on.add_patch(PathPatch(path, facecolor=colour, linewidth=0))


def labelled(on: Axes, x: str = "", y: str = "") -> None:
    """Names of the axes: below, and above on the left, where it can be read without turning."""
    on.set_xlabel(x, fontsize=_NORMAL, color=QUIET, labelpad=7)
    if y:
        figure = on.get_figure(root=True)
        assert figure is not None, "axes are made on a sheet"
        left = 4 - on.get_position().x0 * figure.get_figwidth() * 72
        on.annotate(
            y, (0, 1), (left, 12), xycoords="axes fraction", textcoords="offset points",
            fontsize=_NORMAL, color=QUIET,
        )  # fmt: skip


def word(on: Sheet, text: str, most: int = _COLUMNS) -> str:
    """A placeholder for `text`, cut to a width in columns; the whole of it shows on hovering."""
    on.words.append(plain(text) or NOTHING)
    return f"@{most}:{len(on.words) - 1}@"


def note(
    on: Axes,
    x: float,
    y: float,
    text: str,
    *,
    color: str = QUIET,
    ha: str = "left",
    is_small: bool = False,
) -> None:
    """Write at a place in the data."""
    size = _SMALL if is_small else _NORMAL
    on.text(x, y, text, color=color, ha=ha, va="center", fontsize=size, clip_on=False)


def rounded(number: float) -> str:
    """A round number on an axis."""
    return f"{number:.6g}".replace("-", "−")


def spread(
    numbers: Iterable[float], inside: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Limits of an axis that leave some air around the numbers, even if all are the same."""
    every = list(numbers)
    low, high = min(every), max(every)
    air = max(0.04 * (high - low), 0.02 * max(abs(low), abs(high)), 0.005)
    low, high = low - air, high + air
    if inside is not None:  # half a dot beyond the edge, so that no tick says 1.01
        low, high = max(low, inside[0] - air / 8), min(high, inside[1] + air / 8)
    return low, high


def printed(on: Sheet, name: str, title: str, alt: str) -> Picture:
    """The picture on a sheet."""
    out = io.StringIO()
    with _one_at_a_time, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        on.figure.savefig(out, format="svg", metadata={"Date": None})
    body = _simplified(out.getvalue(), name)
    body = re.sub(r"@(\d+):(\d+)@", lambda m: _told(on.words[int(m[2])], int(m[1])), body)
    alt = " ".join(plain(alt).split())
    svg = (
        f'<svg viewBox="0 0 {on.width:g} {on.height:g}" role="img" '
        f'aria-label="{html.escape(alt)}">{body}</svg>'
    )
    return Picture(name, plain(title), alt, Markup(svg))


def _told(text: str, most: int) -> str:
    cut = shortened(text, most)
    whole = "" if cut == text else f"<title>{html.escape(text)}</title>"
    return html.escape(cut) + whole


def _simplified(svg: str, name: str) -> str:
    """Drop what a page does not need of matplotlib's SVG: half of it."""
    svg = svg[svg.index("<g id=") : svg.rindex("</svg>")]
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([\w.-]+)', svg))
    ours = {old: f"{name}-{n}" for n, old in enumerate(used)}
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{ours[m[1]]}"' if m[1] in ours else "", svg)
    svg = re.sub(r'(href="#|url\(#)([\w.-]+)', lambda m: m[1] + ours[m[2]], svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r'<text style="([^"]*)"', _text_style, svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\d+\.\d{2,}", _fewer_digits, tag[0]), svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r"> <", "><", svg)
    return re.sub(r"<g>((?:<(?:path|text|use)[^>]*>)?)</g>", r"\1", svg).strip()


def _fewer_digits(number: re.Match[str]) -> str:
    """A tenth of a unit will do for a place, a hundredth for an opacity."""
    return f"{float(number[0]):.{2 if number[0].startswith('0.') else 1}f}"


def _text_style(match: re.Match[str]) -> str:
    """Fonts are the page's affair; where the text hangs and its colour are the picture's."""
    style = dict(part.split(": ", 1) for part in match[1].split("; ") if ": " in part)
    size = "s" if style.get("font-size") == f"{_SMALL}px" else "t"
    anchor = style.get("text-anchor", "start")
    fill = style.get("fill", INK)
    bold = ' font-weight="600"' if "font-weight" in style else ""
    return f'<text class="{size}" text-anchor="{anchor}"{bold} style="fill: {fill}"'
