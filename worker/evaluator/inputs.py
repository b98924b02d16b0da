"""Tables of probabilities as they come: checked, and made to sum to 1 exactly."""

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.errors import EvaluatorError

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-3  # as for the predictions of a pool


def labels(human: Floats, n_classes: int | None = None) -> Floats:
    """Human labels (N, K) with rows that sum to 1.

    Raises:
        EvaluatorError: not two-dimensional, no item, one class only, other than `n_classes`
            classes, or rows that are no probabilities.
    """
    human = np.asarray(human, dtype=np.float64)
    if human.ndim != 2 or not human.shape[0]:
        raise EvaluatorError(
            f"the human labels have shape {human.shape}, but must be a table of one or more items "
            "by classes; pass one row an item and one column a class."
        )
    if human.shape[1] < 2:
        raise EvaluatorError(
            "the human labels have one class, so that no prediction can differ from them; name "
            "every class of the scale, also those that nobody chose."
        )
    if n_classes is not None and human.shape[1] != n_classes:
        raise EvaluatorError(
            f"the human labels have {human.shape[1]} classes, but the evaluator was fitted to "
            f"{n_classes}; pass the same classes in the same order."
        )
    return _probabilities(human, "human labels")


def predictions(predicted: Floats, human: Floats) -> Floats:
    """Predictions (N, R, K) of the items of `human` (N, K), whether given as (N, K) or (N, R, K).

    Raises:
        EvaluatorError: other items or classes than the human labels', or rows that are no
            probabilities.
    """
    predicted = np.asarray(predicted, dtype=np.float64)
    n_items, k = human.shape
    if predicted.ndim == 2:
        predicted = predicted[:, None]
    if predicted.ndim != 3 or predicted.shape[::2] != (n_items, k) or not predicted.shape[1]:
        raise EvaluatorError(
            f"the predictions have shape {predicted.shape}, but the human labels are {n_items} "
            f"items of {k} classes; pass ({n_items}, {k}), or ({n_items}, R, {k}) for R "
            "predictions an item, classes in the same order."
        )
    return _probabilities(predicted, "predictions")


def _probabilities(table: Floats, what: str) -> Floats:
    total = table.sum(axis=-1, keepdims=True)
    is_wrong = ~(np.abs(total - 1.0) <= SUM_TOLERANCE)[..., 0] | (table < 0).any(axis=-1)
    if is_wrong.any():
        at = tuple(int(i) for i in np.argwhere(is_wrong)[0])
        row = np.array2string(table[at], precision=4, threshold=8)
        raise EvaluatorError(
            f"{int(is_wrong.sum())} rows of the {what} are no probabilities (not negative, sum 1 "
            f"within {SUM_TOLERANCE}); the first is row {at[0]}: {row}. Leave out items without "
            "votes, and divide counts by their sum."
        )
    checked: Floats = table / total
    return checked
