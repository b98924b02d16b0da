"""Which evaluator describes the predictions best: fitted to one half, judged on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from worker.evaluator.asked import Settings, diagnostics_of, plain
from worker.evaluator.contract import Evaluator
from worker.evaluator.energy import energy_score
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.measures import normalised_l2
from worker.evaluator.sampling import draw_blocks, draws_that_fit
from worker.evaluator.summaries import Distribution, Estimate, distribution

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOISY = ("bnn",)  # whose likelihood has noise of its own, beside the spread of its means
ENERGY_DRAWS = 200  # pairs of them: more takes long and tells little
_MOST_DRAWS = 400  # of thousands of items: enough for an interval
_LEAST_ITEMS = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """How far an evaluator's draws are from predictions.

    distance: normalised L2 between draw and prediction, all items and draws. energy: mean energy
    score of an item, with its interval over the items; with_noise: the same for draws with the
    likelihood's noise, where there is such. residual: variance a class of the predictions about the
    mean of the draws, which is what `sigma2` of the network should be like.
    """

    distance: Distribution
    energy: Estimate
    with_noise: Estimate | None
    residual: float


@dataclass(frozen=True, slots=True)
class Fold:
    """The same on one fold that was left out of the fit: the ends of the interval, the scores."""

    right_tailed: float
    energy: float
    with_noise: float | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """One evaluator in the experiment.

    fitted, held_out: judged on the half that it was fitted to, and on the other one.
    behind: by how much its energy score on the held-out half is above the best one's, item by item,
    with its interval. refused: why there is nothing of it.
    """

    evaluator: str
    fitted: Judged | None
    held_out: Judged | None
    behind: Estimate | None
    folds: tuple[Fold, ...]
    diagnostics: dict[str, Any] | None
    refused: str


@dataclass(frozen=True, slots=True)
class FitExperiment:
    """Which evaluator fits best.

    by_interval, by_energy: the names, best first, by the end of the right-tailed interval and by
    the energy score, both on the held-out half; those that were refused are left out.
    """

    items: int
    predictions: int  # an item
    level: float
    evaluators: tuple[Fitted, ...]
    by_interval: tuple[str, ...]
    by_energy: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        told: dict[str, Any] = plain({"experiment": "fit"} | asdict(self))
        return told


def fit_experiment(
    human: Floats, predicted: Floats, names: Sequence[str], settings: Settings
) -> FitExperiment:
    """Compare evaluators by how close their draws come to the predictions themselves.

    The items are shuffled and halved. Each evaluator is fitted to the first half and draws for the
    human labels of both; then again over `settings.folds` folds. An evaluator that refuses (the
    chains did not converge, a package is missing) is reported as refused; the others go on.

    Args:
        human: (N, K), rows sum to 1.
        predicted: (N, K) or (N, R, K).
        names: evaluators, in the order of the table.

    Raises:
        EvaluatorError: too few items for the halves and folds, or all evaluators refused.

    Source:
        Experiment 1 of the paper, section 4 and supplement 4.4; folds: 4.4.2. Intervals are of
        draws without the likelihood's noise, as there. Such an interval is best for a point
        predictor at the right place, however wrong it is about its certainty; hence the energy
        score, a proper one, beside it.
    """
    predicted = predicted[:, None] if predicted.ndim == 2 else predicted
    n_items = human.shape[0]
    least = max(_LEAST_ITEMS, 2 * settings.folds)
    if n_items < least:
        raise EvaluatorError(
            f"{n_items} items came, expected at least {least}, to fit evaluators to a part of them "
            "and to judge them on the rest."
        )
    order = settings.rng(0).permutation(n_items)
    halves = order[: n_items // 2], order[n_items // 2 :]
    found: list[Fitted] = []
    scores: dict[str, Floats] = {}
    for at, name in enumerate(names):
        settings.say(f"{name}: fitting to {halves[0].size:,} items, judging {halves[1].size:,}")
        try:
            one, scores[name] = _tried(name, human, predicted, halves, settings, at)
            folds = _folds(name, human, predicted, order, settings, at)
        except EvaluatorError as error:
            settings.say(f"{name} refuses: {error}")
            scores.pop(name, None)
            found.append(Fitted(name, None, None, None, (), None, str(error)))
        else:
            found.append(replace(one, folds=folds))
    if not scores:
        reasons = "\n".join(f"  {one.evaluator}: {one.refused}" for one in found)
        raise EvaluatorError(f"No evaluator could be fitted:\n{reasons}")
    by_energy = sorted(scores, key=lambda name: float(scores[name].mean()))
    best = scores[by_energy[0]]
    behind = {name: over_items(score - best, settings.level) for name, score in scores.items()}
    ends = {f.evaluator: f.held_out.distance.right_tailed for f in found if f.held_out}
    return FitExperiment(
        n_items,
        predicted.shape[1],
        settings.level,
        tuple(replace(f, behind=behind.get(f.evaluator)) for f in found),
        tuple(sorted(ends, key=lambda name: ends[name])),
        tuple(by_energy),
    )


def _tried(
    name: str,
    human: Floats,
    predicted: Floats,
    halves: tuple[Ints, Ints],
    settings: Settings,
    at: int,
) -> tuple[Fitted, Floats]:
    """An evaluator fitted to one half, and the scores of the other half's items."""
    first, second = halves
    evaluator = settings.fit(name, human[first], predicted[first], at)
    rng = settings.rng(1, at)
    fitted, _ = _judged(evaluator, human[first], predicted[first], settings, rng)
    held_out, scores = _judged(evaluator, human[second], predicted[second], settings, rng)
    return Fitted(name, fitted, held_out, None, (), diagnostics_of(evaluator), ""), scores


def _folds(
    name: str, human: Floats, predicted: Floats, order: Ints, settings: Settings, at: int
) -> tuple[Fold, ...]:
    """The evaluator fitted to all folds but one, and judged on that one, each in turn."""
    found = []
    for number in range(settings.folds):
        part, rest = (
            order[number :: settings.folds],
            np.delete(order, slice(number, None, settings.folds)),
        )
        settings.say(f"{name}: fold {number + 1} of {settings.folds}")
        evaluator = settings.fit(name, human[rest], predicted[rest], at, number + 1)
        judged, _ = _judged(
            evaluator, human[part], predicted[part], settings, settings.rng(2, at, number)
        )
        noisy = judged.with_noise.mean if judged.with_noise else None
        found.append(Fold(judged.distance.right_tailed, judged.energy.mean, noisy))
    return tuple(found)


def _judged(
    evaluator: Evaluator, human: Floats, predicted: Floats, settings: Settings, rng: Generator
) -> tuple[Judged, Floats]:
    """What is reported, and the score of every item that evaluators are compared by."""
    n_draws = min(settings.n_draws, _MOST_DRAWS)
    distance, means, residual = against(evaluator, human, predicted, n_draws, rng)
    of = distribution(distance, settings.level, 0.0, 1.0)
    noisy = None
    if evaluator.name in NOISY:
        _, scores, _ = against(evaluator, human, predicted, ENERGY_DRAWS, rng, noise=True)
        noisy = over_items(scores, settings.level)
    return Judged(of, over_items(means, settings.level), noisy, residual), means


def against(
    evaluator: Evaluator,
    human: Floats,
    predicted: Floats,
    n_draws: int,
    rng: Generator,
    *,
    noise: bool = False,
) -> tuple[NDArray[np.float32], Floats, float]:
    """How far predictions (N, R, K) are from draws for their labels.

    Returns:
        (N x R x D,) normalised L2 from each prediction to each draw; (N,) the energy score of each
        item, by the first 200 draws; and the mean square of prediction minus mean draw.
    """
    n_items, n_each, _ = predicted.shape
    n_draws = max(2, draws_that_fit(n_items * n_each, n_draws))
    distance = np.empty((n_items, n_each, n_draws), dtype=np.float32)
    energy, square = np.empty(n_items), 0.0
    for block, drawn in draw_blocks(evaluator, human, n_draws, rng, noise=noise):
        for one in range(n_each):
            distance[block, one] = normalised_l2(predicted[block, one], drawn)
        energy[block] = energy_score(predicted[block], drawn[:, :ENERGY_DRAWS])
        square += float(((predicted[block] - drawn.mean(axis=1, keepdims=True)) ** 2).sum())
    return distance.ravel(), energy, square / predicted.size


def over_items(scores: Floats, level: float) -> Estimate:
    """The mean of independent items' scores, with its interval by the central limit theorem."""
    mean = float(scores.mean())
    half = float(ndtri((1 + level) / 2) * scores.std(ddof=1) / np.sqrt(scores.size))
    return Estimate(mean, mean - half, mean + half)
