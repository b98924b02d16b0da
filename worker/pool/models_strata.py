"""Cuts a pool of many models into strata by what their predictions say of who may be right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.accuracies import ModelStrata
from worker.core.posterior.views import Layout
from worker.errors import PredictionsError
from worker.plan import Plan
from worker.plan.models_part import STRATA_OF_BEST
from worker.pool.models import ALL_ITEMS, Models
from worker.pool.models_reading import Said

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PART = 1 << 14  # items at once
_SEEN = 20_000  # items by which the strata are found
_ROUNDS = 15
_FEWEST = 20  # items of a stratum, on average
_FOR_COVARIANCE = 500  # items of a stratum
_MOST_KEPT = 50_000_000  # classes that all models predict, in combinations that differ
_CUTTING = 5  # stream of random numbers


def cut_into_strata(plan: Plan, said: Said) -> tuple[Ints, Ints, Models]:
    """The code and the cell of every item, and what is known of the models.

    The guess is the mean of the models' probabilities, each its score for the class it predicts and
    the rest for all others alike. Strata are of items whose guesses of each model, less their mean,
    are alike (k-means); the last cell has those of which all models say the same.

    Raises:
        PredictionsError: the models never disagree, or there is too much to be kept.
    """
    assert plan.models is not None, "asked of a plan with several models"
    predicted = said.predicted
    differ = (predicted != predicted[:, :1]).any(axis=1)
    if not differ.any():
        raise PredictionsError(
            "models: all of them predict the same class for every item, so none is better; "
            "assess one of them alone, or correct the files"
        )
    guessed = _guessed(said).astype(np.float32).astype(np.float64)
    rng = np.random.default_rng([plan.seed, _CUTTING])
    apart = guessed[differ] - guessed[differ].mean(axis=1, keepdims=True)
    wanted = plan.pool.strata if plan.pool.has_scores else STRATA_OF_BEST
    n_strata = max(1, min(wanted, int(differ.sum()) // _FEWEST))
    found = np.unique(_alike(apart, n_strata, rng), return_inverse=True)[1].reshape(-1)
    n_strata = int(found.max()) + 1
    cell = np.full(len(predicted), n_strata, dtype=np.int64)
    cell[differ] = found
    kinds, first, code = np.unique(
        np.column_stack([cell, predicted]), axis=0, return_index=True, return_inverse=True
    )
    code = code.reshape(-1)
    if kinds.size > _MOST_KEPT:
        raise PredictionsError(
            f"models: {len(plan.models)} models predict {len(kinds):,} different combinations of "
            f"classes, and at most {_MOST_KEPT // len(plan.models):,} can be kept; take a random "
            "sample of the items, or fewer models"
        )
    times = np.bincount(code)
    of_kind = np.stack([np.bincount(code, column) for column in guessed.T], axis=1) / times[:, None]
    of_kind = of_kind.astype(np.float32).astype(np.float64)
    size = np.bincount(found, minlength=n_strata)
    summed = np.zeros((n_strata + 1, predicted.shape[1]))
    np.add.at(summed, cell[first], of_kind * times[:, None])
    covariance = np.stack(
        [_covariance(predicted[some], guessed[some]) for some in _some_of(cell, n_strata)]
    )
    agreed = int((~differ).sum())
    strata = ModelStrata(size, summed[:n_strata] / size[:, None], covariance, agreed)
    n_cells = n_strata + (agreed > 0)
    m = predicted.shape[1]
    zeros = np.zeros((n_cells, m), dtype=np.int64)
    layout = Layout(np.bincount(cell), zeros, zeros.astype(np.float64))
    names = tuple(model.name for model in plan.models)
    models = Models(
        names, kinds[:, 1:], layout, zeros, ((ALL_ITEMS,),) * m, agreed, strata, of_kind
    )
    return code, cell, models


def _guessed(said: Said) -> Floats:
    """(n, M) how likely each model is right, by all models together."""
    # Not their geometric mean: with it the pick among CIFAR-10H's models is right after 5 labels in
    # place of 20, but 3 of 15 decisions between CIFAR-100's, of which the least accurate promises
    # most, were wrong.
    n, m = said.predicted.shape
    n_classes = max(len(said.classes), 2)
    found = np.empty((n, m))
    for start in range(0, n, _PART):
        part = slice(start, start + _PART)
        predicted = said.predicted[part]
        score = 1 / (1 + np.exp(-said.logit[part]))
        rest = (1 - score) / (n_classes - 1)
        own = np.arange(len(predicted))[:, None] * n_classes + predicted
        _, of = np.unique(own, return_inverse=True)
        of = of.reshape(-1)
        more = np.bincount(of, (score - rest).reshape(-1))[of].reshape(predicted.shape)
        found[part] = (more + rest.sum(axis=1, keepdims=True)) / m
    return found


def _alike(points: Floats, n: int, rng: np.random.Generator) -> Ints:
    """(n,) which of at most n clusters each point is in (k-means++, Lloyd)."""
    seen = points[rng.permutation(len(points))[:_SEEN]]
    centres = seen[:1]
    far = ((seen - centres[0]) ** 2).sum(axis=1)
    while len(centres) < n and far.sum() > 0:
        at = int(rng.choice(len(seen), p=far / far.sum()))
        centres = np.concatenate([centres, seen[at : at + 1]])
        far = np.minimum(far, ((seen - seen[at]) ** 2).sum(axis=1))
    for _ in range(_ROUNDS):
        of = _nearest(seen, centres)
        size = np.bincount(of, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, of, seen)
        centres = np.where(size[:, None] > 0, sums / np.maximum(size, 1)[:, None], centres)
    parts = range(0, len(points), _PART)
    return np.concatenate([_nearest(points[at : at + _PART], centres) for at in parts])


def _nearest(points: Floats, centres: Floats) -> Ints:
    distance = (centres**2).sum(axis=1) - 2 * points @ centres.T
    nearest: Ints = distance.argmin(axis=1)
    return nearest


def _some_of(cell: Ints, n_strata: int) -> list[Ints]:
    """Some items of each stratum, spread evenly over them."""
    found = []
    for h in range(n_strata):
        own = np.flatnonzero(cell == h)
        found.append(own[:: max(1, own.size // _FOR_COVARIANCE)])
    return found


def _covariance(predicted: Ints, guessed: Floats) -> Floats:
    """(M, M) of who is right on an item, by the guess: the mean over the items."""
    same = np.stack([((predicted == one[:, None]) * guessed).mean(axis=0) for one in predicted.T])
    both = guessed.T @ guessed / len(guessed)
    covariance: Floats = (same + same.T) / 2 - both
    return covariance
