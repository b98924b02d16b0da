"""A plan's experiment: read the votes and the predictions, join them, and ask the evaluators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from worker.evaluation.reading import Predicted, known_classes, read_human, read_predicted
from worker.evaluator.asked import Say, Settings, quiet
from worker.evaluator.contract import EVALUATORS
from worker.evaluator.errors import EvaluatorError
from worker.evaluator.experiments import (
    ALL,
    Cases,
    PredictorExperiment,
    predictor_experiment,
)
from worker.evaluator.fit_experiment import FitExperiment, fit_experiment
from worker.evaluator.frequencies import Frequencies
from worker.evaluator.measures import MEASURES
from worker.nearest import listed
from worker.plan.evaluate_part import EvaluatePlan
from worker.plan.pool_part import PoolPlan

Experiment = Literal["fit", "uncertainty", "selection"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an experiment found, and what a reader must know of the items.

    votes: mean number of votes an item; None where only frequencies are known. notes: what was left
    out, in sentences.
    """

    classes: tuple[str, ...]
    votes: float | None
    notes: tuple[str, ...]
    found: FitExperiment | PredictorExperiment

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        own = {"classes": list(self.classes), "votes": self.votes, "notes": list(self.notes)}
        return self.found.to_json() | own


def evaluate(
    pool: PoolPlan,
    asked: EvaluatePlan,
    experiment: Experiment,
    *,
    seed: int,
    evaluator: str | None = None,
    human: Frequencies | None = None,
    say: Say = quiet,
) -> Evaluation:
    """Do an experiment of the plan.

    Args:
        pool: where the predictions are.
        asked: the plan's `evaluate`.
        evaluator: instead of the plan's; of `fit` alone the one to try, else all are.
        human: instead of a file: what live annotations add up to (`frequencies.from_votes`).

    Raises:
        EvaluatorError: there is nothing to compare, or an evaluator cannot be fitted.
        PredictionsError: a file cannot be used.
    """
    classes = known_classes(pool)
    if human is None:
        human = _human(pool, asked, classes)
    if experiment == "selection" and not asked.models:
        raise EvaluatorError(
            "There is one predictor only, so there is none to select; name the predictions of "
            "others under `evaluate.models`, or ask for `--experiment uncertainty`."
        )
    own = read_predicted(pool, pool.predictions, asked.part)
    files = _files(pool, asked)
    predictors = {
        name: own if path == pool.predictions else read_predicted(pool, path)
        for name, path in (files.items() if experiment == "selection" else list(files.items())[:1])
    }
    items, notes = _shared(own, human)
    cases = _cases(classes, items, human, predictors)
    settings = Settings(asked.options, asked.level, folds=asked.folds, seed=seed, say=say)
    found: FitExperiment | PredictorExperiment
    if experiment == "fit":
        if asked.part is not None:
            notes.append("`fit` takes the items of all parts together.")
        names = tuple(EVALUATORS) if evaluator is None else (evaluator,)
        (predicted,) = cases.predicted.values()
        found = fit_experiment(cases.human, predicted, names, settings)
    else:
        name, measure = evaluator or asked.evaluator, MEASURES[asked.measure]
        found = predictor_experiment(cases, name, measure, settings)
    kept = human.of(items)
    votes = None if kept.votes is None else float(kept.votes.mean())
    return Evaluation(classes, votes, tuple(notes), found)


def check(pool: PoolPlan, asked: EvaluatePlan) -> list[str]:
    """Read all files that an experiment of the plan would read, and say what would be left out.

    Raises:
        EvaluatorError, PredictionsError: as `evaluate`.
    """
    classes = known_classes(pool)
    own = read_predicted(pool, pool.predictions, asked.part)
    predictors = {
        name: own if path == pool.predictions else read_predicted(pool, path)
        for name, path in _files(pool, asked).items()
    }
    if asked.human is None:
        return []  # the votes are those that the assessment will collect
    human = _human(pool, asked, classes)
    items, notes = _shared(own, human)
    _cases(classes, items, human, predictors)
    return notes


def _files(pool: PoolPlan, asked: EvaluatePlan) -> dict[str, Path]:
    """The predictions of every predictor, the pool's own first."""
    files = {pool.predictions.name.split(".")[0]: pool.predictions} | dict(asked.models)
    if len(files) == len(asked.models):
        raise EvaluatorError(
            f"The predictor {next(iter(files))} is there twice: the pool's own predictions are "
            "called after their file; call the one under `evaluate.models` another name."
        )
    return files


def _human(pool: PoolPlan, asked: EvaluatePlan, classes: tuple[str, ...]) -> Frequencies:
    if asked.human is None:
        raise EvaluatorError(
            "The plan names no file with the votes of people; give `evaluate.human`, a table with "
            f"the column {pool.id} and a column of votes for each class."
        )
    scale = asked.scale.scale if asked.scale is not None else None
    return read_human(asked.human, pool.id, classes, asked.column, scale)


def _shared(own: Predicted, human: Frequencies) -> tuple[tuple[str, ...], list[str]]:
    """The items that have both, in the order of the predictions, and what that leaves out."""
    voted = set(human.items)
    items = tuple(item for item in own.items if item in voted)
    if not items:
        raise EvaluatorError(
            f"No item has both votes and a prediction: votes are for {listed(human.items, 3)}, "
            f"predictions for {listed(own.items, 3)}. Both tables must name items alike."
        )
    notes = []
    if len(items) < len(own.items):
        n = len(own.items) - len(items)
        notes.append(f"{n:,} of {len(own.items):,} predicted items have no votes: left out.")
    if len(items) < len(human.items):
        n = len(human.items) - len(items)
        notes.append(f"{n:,} of {len(human.items):,} voted items have no prediction: left out.")
    return items, notes


def _cases(
    classes: tuple[str, ...],
    items: tuple[str, ...],
    human: Frequencies,
    predictors: dict[str, Predicted],
) -> Cases:
    own = next(iter(predictors.values()))
    part_of = dict(zip(own.items, own.part, strict=True)) if own.part else dict.fromkeys(items, ALL)
    parts = tuple(dict.fromkeys(part_of[item] for item in items))
    values = {}
    for name, one in predictors.items():
        place = {item: row for row, item in enumerate(one.items)}
        lacking = [item for item in items if item not in place]
        if lacking:
            raise EvaluatorError(
                f"{one.path}: the predictor {name} lacks {len(lacking):,} of {len(items):,} items "
                f"({listed(lacking, 3)}); predictors are compared on the same items. Add them, or "
                "leave these items out of the votes."
            )
        values[name] = one.values[np.array([place[item] for item in items])]
    return Cases(
        human.of(items).values,
        values,
        np.array([parts.index(part_of[item]) for item in items], dtype=np.int64),
        parts,
        classes,
    )
