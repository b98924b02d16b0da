"""The pictures of a simulation: curves of every strategy, one picture for each prior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes

from worker.formats import count, counted, error
from worker.report import pictures_svg as on
from worker.report.pictures_svg import Picture

_COLOURS = (on.BLUE, on.CHOSEN, on.INK, on.QUIET)
_DASHES = ("solid", (0, (5, 2)), (0, (1, 2)))
_ROW = 18.0  # of the legend
_PER_ROW = 4

Result = dict[str, Any]


def pictures(report: dict[str, Any]) -> Iterator[Picture]:
    """Rank and success against labels, errors, labels to the stop, as far as they were asked."""
    for prior, of in groupby(report["results"], key=lambda result: result["prior"]):
        results = list(of)
        ranked = [result for result in results if result["curve"]]
        if ranked:
            yield _curves(ranked, prior, "mrr", "mean reciprocal rank")
            yield _curves(ranked, prior, "success", "share of runs with the right groups")
        if any(result["rmse_at"] for result in results):
            yield _errors(results, prior)
        if any(result["stop"]["stopped"] for result in results):
            yield _stops(results, prior)


def _style(i: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[i % len(_COLOURS)],
        "linestyle": _DASHES[i // len(_COLOURS) % len(_DASHES)],
    }


def _opened(results: Sequence[Result], height: float = 260.0) -> tuple[on.Sheet, Axes]:
    """A sheet with its legend: names of the strategies above the axes."""
    rows = -(-len(results) // _PER_ROW)
    sheet = on.sheet(height + 8 + rows * _ROW)
    axes = on.axes(sheet, 54, 42 + rows * _ROW, 22, 44)
    for i, result in enumerate(results):
        axes.plot([], [], linewidth=1.8, label=result["strategy"], **_style(i))
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.15), ncols=_PER_ROW, frameon=False, fontsize=11,
        borderaxespad=0, handlelength=1.6, columnspacing=1.2,
    )  # fmt: skip
    return sheet, axes


def _curves(results: Sequence[Result], prior: str, key: str, name: str) -> Picture:
    sheet, axes = _opened(results)
    for i, result in enumerate(results):
        curve, style = result["curve"], _style(i)
        low, high = curve[f"{key}_band"]
        axes.fill_between(curve["labels"], low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes.plot(curve["labels"], curve[key], linewidth=1.8, **style)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, max(result["curve"]["labels"][-1] for result in results))
    on.ruled(axes, "y", lambda y: f"{y:g}")
    on.ruled(axes, "x", count)
    axes.xaxis.grid(False)
    on.labelled(axes, x="labels", y=f"{name}, with 95% bands")
    told = [f"{of['strategy']} ends at {of['curve'][key][-1]:.2f}" for of in results]
    title = f"{name[:1].upper()}{name[1:]} against labels, {prior} prior"
    return on.printed(sheet, f"{key}-{_id(prior)}", title, f"{title}: {'; '.join(told)}.")


def _errors(results: Sequence[Result], prior: str) -> Picture:
    sheet, axes = _opened(results)
    measured = [(i, result) for i, result in enumerate(results) if result["rmse_at"]]
    for i, result in measured:
        at, style = [int(n) for n in result["rmse_at"]], _style(i)
        quartiles = result["rmse_quartiles_at"].values()
        low, _, high = zip(*quartiles, strict=True)
        axes.fill_between(at, low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes.plot(at, list(result["rmse_at"].values()), "o", markersize=4, linewidth=1.8, **style)
        axes.plot(at, list(result["rmse_at"].values()), linewidth=1.8, **style)
    axes.set_ylim(bottom=0)
    on.ruled(axes, "y", on.rounded)
    on.ruled(axes, "x", count)
    axes.xaxis.grid(False)
    on.labelled(axes, x="labels", y="error of the groups' values: mean, and half of the runs")
    last = [
        f"{result['strategy']} {error(list(result['rmse_at'].values())[-1])}"
        for _, result in measured
    ]
    title = f"Errors against labels, {prior} prior"
    return on.printed(sheet, f"errors-{_id(prior)}", title, f"{title}; at last {'; '.join(last)}.")


def _stops(results: Sequence[Result], prior: str) -> Picture:
    """Median and quartiles of the labels at the stop."""
    sheet = on.sheet(70 + 26.0 * len(results))
    axes = on.axes(sheet, on.beside(result["strategy"] for result in results), 16, 22, 44)
    told = []
    for row, result in enumerate(results):
        stop = result["stop"]
        if stop["labels_median"] is None:
            told.append(f"{result['strategy']} never")
            continue
        axes.plot(stop["labels_quartiles"], [row, row], color=on.BLUE, linewidth=1.8)
        axes.plot([stop["labels_median"]], [row], "o", color=on.BLUE, markersize=6, mew=0)
        told.append(f"{result['strategy']} after {counted(stop['labels_median'], 'label')}")
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xlim(left=0)
    on.named(axes, [on.word(sheet, result["strategy"]) for result in results])
    on.ruled(axes, "x", count)
    on.labelled(axes, x="labels at the stop: median, and half of the runs")
    title = f"Labels at the stop, {prior} prior"
    return on.printed(sheet, f"stops-{_id(prior)}", title, f"{title}: {'; '.join(told)}.")


def _id(prior: str) -> str:
    return prior.replace(" ", "-").replace(".", "-")
