"""Pictures of an evaluation: violins of a measure with their intervals, and what is confused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from worker.evaluator.experiments import PredictorExperiment
from worker.evaluator.fit_experiment import FitExperiment
from worker.evaluator.summaries import Distribution
from worker.evaluator.texts import between, confusion_text, name_of, number
from worker.formats import share
from worker.report import pictures_svg as on
from worker.report.pictures_svg import Picture

_PITCH, _TOP, _BOTTOM = 62, 12, 44
_HALF = 0.36  # of a row: the highest point of a violin above its line
_MOST_ROWS = 24
_MOST_PAIRS = 12


@dataclass(frozen=True, slots=True)
class _Violin:
    """One row: the draws above the line, what is set against them below; a bar and a mark."""

    name: str
    above: Distribution
    below: Distribution | None
    bar: tuple[float, float]
    mark: float
    is_chosen: bool


def fit_violins(found: FitExperiment) -> Picture:
    """How far each evaluator's draws are from predictions: of the held-out half above, of the
    fitted half below; the bar is the right-tailed interval."""
    rows = [
        _Violin(
            one.evaluator,
            one.held_out.distance,
            one.fitted.distance,
            (0.0, one.held_out.distance.right_tailed),
            one.held_out.distance.right_tailed,
            one.evaluator == found.by_interval[0],
        )
        for one in found.evaluators
        if one.held_out is not None and one.fitted is not None
    ]
    level = f"{100 * found.level:g}%"
    alt = "Distances from draws to predictions. " + " ".join(
        f"{row.name}: {level} within {number(row.mark)}." for row in rows
    )
    title = f"Distance from draws to predictions; the bar holds {level}"
    return _violins(rows, "normalised L2", "fit", title, alt)


def predictor_violins(found: PredictorExperiment) -> Picture:
    """The measure of each predictor: draws above, the predictions' own values below; the bar is
    the HPDI, the dot the mean."""
    rows = [
        _Violin(
            name_of(found, predictor, part),
            part.measure,
            part.seen_distribution,
            (part.measure.low, part.measure.high),
            part.mean.mean,
            len(found.predictors) > 1 and predictor.name == found.best_first[0],
        )
        for predictor in found.predictors
        for part in (predictor.whole, *predictor.parts)
    ][:_MOST_ROWS]
    level = f"{100 * found.level:g}%"
    title = f"{found.measure[:1].upper()}{found.measure[1:]}; the bar is the {level} HPDI"
    alt = f"{found.measure} to the human frequencies. " + " ".join(
        f"{row.name}: mean {number(row.mark)}, {level} in {between(*row.bar)}." for row in rows
    )
    unit = f"{found.measure}, {found.unit}" if found.unit else found.measure
    return _violins(rows, unit, "measure", title, alt)


def _violins(rows: Sequence[_Violin], unit: str, name: str, title: str, alt: str) -> Picture:
    sheet = on.sheet(_TOP + len(rows) * _PITCH + _BOTTOM)
    axes = on.axes(sheet, on.beside([row.name for row in rows]), _TOP, 14, _BOTTOM)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(*_limits(rows))
    for at, row in enumerate(rows):
        colour = on.CHOSEN if row.is_chosen else on.BLUE
        _half(axes, row.above, at, -1, colour, 0.55)
        if row.below is not None:
            _half(axes, row.below, at, 1, on.PLAIN, 0.4)
        axes.plot(row.bar, [at, at], color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot([row.mark], [at], "o", color=on.INK, markersize=5, mew=0)
    chosen = {n for n, row in enumerate(rows) if row.is_chosen}
    on.named(axes, [on.word(sheet, row.name) for row in rows], chosen)
    on.ruled(axes, "x", on.rounded, n=6)
    on.labelled(axes, x=unit)
    return on.printed(sheet, name, title, alt)


def _half(axes: Axes, of: Distribution, at: int, side: int, colour: str, alpha: float) -> None:
    height = np.array(of.density) / (max(of.density) or 1.0) * _HALF
    axes.fill_between(of.at, at + side * height, at, color=colour, alpha=alpha, linewidth=0)


def _limits(rows: Sequence[_Violin]) -> tuple[float, float]:
    """Long tails are cut a quarter of the interval's width beyond it, so that the rest shows."""
    of = [d for row in rows for d in (row.above, row.below) if d is not None]
    ends = [e for row in rows for e in (*row.bar, row.mark)]
    low = min(max(min(d.at), d.low - 0.25 * d.width) for d in of)
    high = max(min(max(d.at), d.high + 0.25 * d.width) for d in of)
    return on.spread([min([low, *ends]), max([high, *ends])])


def confused_pairs(found: PredictorExperiment) -> Picture:
    """The pairs that the best predictor confuses the most: what it gives, what people give."""
    best = next(p for p in found.predictors if p.name == found.best_first[0])
    pairs = best.whole.confused[:_MOST_PAIRS]
    sheet = on.sheet(34 + len(pairs) * 40 + _BOTTOM)
    axes = on.axes(sheet, 20, 34, 40, _BOTTOM)
    axes.set_ylim(len(pairs) - 0.5, -0.7)
    most = max([*(p.probability.high for p in pairs), *(p.people for p in pairs), 0.01])
    axes.set_xlim(0, 1.12 * most)
    axes.set_yticks([])
    for at, pair in enumerate(pairs):
        axes.barh(at + 0.06, pair.probability.mean, 0.3, color=on.BLUE, alpha=0.6)
        ends = [pair.probability.low, pair.probability.high]
        axes.plot(ends, [at + 0.06, at + 0.06], color=on.INK, linewidth=1.4)
        axes.plot([pair.people], [at + 0.06], "D", color=on.CHOSEN, markersize=6, mew=0)
        said = f"people: {on.word(sheet, pair.human, 20)}, it: {on.word(sheet, pair.predicted, 20)}"
        on.note(axes, 0, at - 0.3, said, color=on.INK)
        right = max(pair.probability.high, pair.people) + 0.02 * most
        on.note(axes, right, at + 0.06, share(pair.probability.mean))
    on.ruled(axes, "x", lambda x: f"{100 * x:g}%")
    on.labelled(axes, x="mean probability of the class (diamond: what people give it)")
    alt = f"What {best.name} confuses. " + " ".join(confusion_text(pair) for pair in pairs[:3])
    title = "Probability of classes that most people do not choose"
    return on.printed(sheet, "confused", title, alt)
