"""How uncertain one predictor is, and which of several is best: by draws of a fitted evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.asked import Settings, diagnostics_of, plain
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.measures import Measure, measured, normalised_l2
from worker.evaluator.sampling import Drawn, draw_measure, draws_that_fit, together
from worker.evaluator.summaries import (
    Confused,
    Distribution,
    Estimate,
    confused,
    distribution,
    estimate,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ALL = "all"


@dataclass(frozen=True, slots=True)
class Part:
    """A predictor on some of the items, with an evaluator of its own.

    measure: the distribution of the measure, of all items' draws (of the draws, if it is of the
    whole). mean: of the measure's mean over the items, a draw. seen: the measure of the predictions
    themselves: mean, and its distribution over the items if it is of items.
    confused: the pairs of classes that are confused the most.
    n_clipped: item-draws whose KL divergence depends on its floor.
    diagnostics: of the fit; None of evaluators without, and of all parts together.
    """

    name: str
    items: int
    draws: int
    measure: Distribution
    mean: Estimate
    seen: float
    seen_distribution: Distribution | None
    l2: float
    confused: tuple[Confused, ...]
    n_clipped: int
    diagnostics: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Predictor:
    """A predictor on each part of the items, and on all of them (each part drawn by its own fit).

    p_best: the chance that its mean measure over these items is the best of all predictors', the
    predictors' draws taken as independent. None if there is one predictor.
    """

    name: str
    whole: Part
    parts: tuple[Part, ...]
    p_best: float | None


@dataclass(frozen=True, slots=True)
class PredictorExperiment:
    """What draws of an evaluator tell of one predictor, or of several.

    best_first: the predictors by the mean of the measure. surest_first: by the width of the HPDI.
    by_l2: by the plain mean of their own L2 to the human frequencies, no evaluator between.
    """

    experiment: str
    evaluator: str
    measure: str
    unit: str
    is_better_high: bool
    level: float
    items: int
    predictions: int
    predictors: tuple[Predictor, ...]
    best_first: tuple[str, ...]
    surest_first: tuple[str, ...]
    by_l2: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        told: dict[str, Any] = plain(asdict(self))
        return told


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """N items, what people say of them, and what each predictor does.

    human: (N, K). predicted: by predictor (N, R, K); R may differ. part: (N,) which of `parts` an
    item belongs to. classes: K names.
    """

    human: Floats
    predicted: Mapping[str, Floats]
    part: Ints
    parts: Sequence[str]
    classes: Sequence[str]


def predictor_experiment(
    cases: Cases, evaluator: str, measure: Measure, settings: Settings
) -> PredictorExperiment:
    """Fit an evaluator to every predictor and part, draw from it, and measure the draws.

    With one predictor this is the uncertainty experiment, with several the selection experiment.
    All draws are without the likelihood's noise.

    Args:
        evaluator: a name of `settings.fits`.

    Raises:
        EvaluatorError: an evaluator cannot be fitted or did not converge, or the measure has no
            distribution here.

    Source:
        Experiments 2 and 3 of the paper; the mixture over the parts: end of supplement 3.6.
    """
    found, means = [], {}
    for at, (name, predicted) in enumerate(cases.predicted.items()):
        predicted = predicted[:, None] if predicted.ndim == 2 else predicted
        parts, drawn = [], []
        for number, part in enumerate(cases.parts):
            rows = np.flatnonzero(cases.part == number)
            of_part = f" on {part}" if len(cases.parts) > 1 else ""
            settings.say(f"{name}{of_part}: fitting {evaluator} to {rows.size:,} items")
            one, draws = _part(
                part, (at, number), cases, (predicted, rows), evaluator, measure, settings
            )
            parts.append(one)
            drawn.append(draws)
        whole = parts[0]
        if len(parts) > 1:
            every = together(drawn, measure)
            whole = _summed(ALL, cases, cases.human, predicted, every, measure, settings.level)
        means[name] = together(drawn, measure).mean
        found.append((name, whole, tuple(parts) if len(parts) > 1 else ()))
    chances = _chances(means, measure)
    predictors = tuple(
        Predictor(name, whole, parts, chances.get(name)) for name, whole, parts in found
    )
    sign = -1 if measure.is_better_high else 1
    return PredictorExperiment(
        experiment="selection" if len(predictors) > 1 else "uncertainty",
        evaluator=evaluator,
        measure=measure.title,
        unit=measure.unit,
        is_better_high=measure.is_better_high,
        level=settings.level,
        items=cases.human.shape[0],
        predictions=max(p.shape[1] for p in cases.predicted.values()),
        predictors=predictors,
        best_first=_sorted(predictors, lambda p: sign * p.whole.mean.mean),
        surest_first=_sorted(predictors, lambda p: p.whole.measure.width),
        by_l2=_sorted(predictors, lambda p: p.whole.l2),
    )


def _part(
    name: str,
    place: tuple[int, int],
    cases: Cases,
    of: tuple[Floats, Ints],
    evaluator: str,
    measure: Measure,
    settings: Settings,
) -> tuple[Part, Drawn]:
    """One predictor's predictions on some rows: fitted, drawn, and summed up."""
    predicted, human = of[0][of[1]], cases.human[of[1]]
    fitted = settings.fit(evaluator, human, predicted, *place)
    n_draws = draws_that_fit(cases.human.shape[0], settings.n_draws)
    try:
        drawn = draw_measure(fitted, human, measure, n_draws, settings.rng(*place))
    except EvaluatorError as error:
        place_of = f"The part {name}: " if len(cases.parts) > 1 else ""
        raise EvaluatorError(f"{place_of}{error}") from None
    told = _summed(name, cases, human, predicted, drawn, measure, settings.level)
    return replace(told, diagnostics=diagnostics_of(fitted)), drawn


def _summed(
    name: str,
    cases: Cases,
    human: Floats,
    predicted: Floats,
    drawn: Drawn,
    measure: Measure,
    level: float,
) -> Part:
    seen = measured(measure, human, predicted)
    of_items = seen.ravel() if measure.per_item and seen.size > 1 else None
    return Part(
        name=name,
        items=human.shape[0],
        draws=drawn.mean.size,
        measure=distribution(drawn.values, level, measure.low, measure.high),
        mean=estimate(drawn.mean, level),
        seen=float(seen.mean()),
        seen_distribution=None
        if of_items is None
        else distribution(of_items, level, measure.low, measure.high),
        l2=float(normalised_l2(human, predicted).mean()),
        confused=confused(drawn.confusions, human, predicted, cases.classes, level),
        n_clipped=drawn.n_clipped,
        diagnostics=None,
    )


def _chances(means: Mapping[str, Floats], measure: Measure) -> dict[str, float]:
    """How often each predictor's draw of the mean is the best; equal ones share. {} of one."""
    if len(means) < 2:
        return {}
    n_draws = min(mean.size for mean in means.values())
    table = np.stack([mean[:n_draws] for mean in means.values()])
    table = -table if measure.is_better_high else table
    is_best = table == table.min(axis=0)
    share = (is_best / is_best.sum(axis=0)).mean(axis=1)
    return dict(zip(means, share.tolist(), strict=True))


def _sorted(predictors: Sequence[Predictor], key: Callable[[Predictor], float]) -> tuple[str, ...]:
    return tuple(p.name for p in sorted(predictors, key=key))
