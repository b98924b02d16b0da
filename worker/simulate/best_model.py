"""A run of many models, of which the best is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from worker.assessment import Assessment
from worker.assessment.best_model import BestModel, believed
from worker.core.posterior.accuracies import ModelCounts, plus
from worker.core.posterior.belief import Belief
from worker.simulate.revealing import revealed
from worker.simulate.truths import Ints, Rng, cell_of_pool

_TILT = 0.5  # standard deviation, in logits, of what a model is to be believed more or less


def of_models(
    assessment: Assessment, best: BestModel, codes: NDArray[np.int32], classes: Sequence[int]
) -> Iterator[tuple[int, Belief]]:
    """Reveal one label after the other, as `replay.labels` does.

    Args:
        codes, classes: (N,) what all models say of each item, and its class.

    Yields:
        Where the label's item stands among `classes`, and the belief after it.
    """
    counts: ModelCounts | None = None

    def learn(_: Belief, cell: int, at: int, n: int) -> Belief:
        nonlocal counts
        more = _counted(best, np.array([cell]), codes[[at]], np.array([classes[at]]))
        counts = more if counts is None else plus(counts, more)
        return believed(best.strata, counts)

    return revealed(assessment, learn)


def all_classes_known(best: BestModel, classes: Ints) -> Belief:
    """The belief when every item of the pool has its class."""
    cell = cell_of_pool(best.pool)
    return believed(best.strata, _counted(best, cell, best.pool.predicted, classes))


def plausible_classes(best: BestModel, rng: Rng) -> Ints:
    """(N,) classes of a pool such as all models together let expect; K: none that a model says.

    How much more or less each model is right than the guess has it is drawn once for all items.
    """
    said, guessed, code = best.models.said, best.models.guessed, best.pool.predicted
    assert guessed is not None, "a pool of models with strata has them"
    m = said.shape[1]
    weight = np.zeros_like(guessed)
    for k in range(m):
        is_first = ~(said[:, :k] == said[:, [k]]).any(axis=1)
        weight[:, k] = np.where(is_first, guessed[:, k], 0.0)
    none = np.maximum(1 - weight.sum(axis=1, keepdims=True), 0.0)
    tilt = rng.normal(0.0, _TILT / np.sqrt(m), m)
    for k in range(m):
        weight[:, k] *= np.exp((said == said[:, [k]]) @ tilt)
    upto = np.cumsum(np.concatenate([weight, none], axis=1), axis=1)
    drawn = rng.random((code.size, 1)) * upto[code, -1:]
    at = (drawn >= upto[code]).sum(axis=1).clip(0, m)
    classes = np.concatenate([said, np.full((len(said), 1), len(best.pool.classes))], axis=1)
    found: Ints = classes[code, at]
    return found


def _counted(best: BestModel, cell: Ints, code: NDArray[np.int32], label: Ints) -> ModelCounts:
    return best.counted(cell, code.astype(np.int64), label, np.ones(cell.size, dtype=np.int64))
