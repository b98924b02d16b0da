"""Where the judge of outputs is assessed: what it says stands for the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worker.pool.opinions_reading import Opinion
from worker.pool.predictions import Predictions

SAYS_RIGHT = 0.5  # a score of so much, or more, calls an output right


def says_right(score: NDArray[np.floating]) -> NDArray[np.bool_]:
    """(n,) whether a judge with these scores calls the outputs right."""
    return score >= SAYS_RIGHT


def of_judge(
    predictions: Predictions, opinions: Sequence[Opinion]
) -> tuple[Predictions, tuple[Opinion, ...]]:
    """The verdicts of the judge as predictions, and how likely each is right.

    Where it calls an output wrong, that is the first wrong choice, whichever people choose; and
    what another judge says of the output is then said against it.

    Args:
        predictions: of outputs, all taken for right, with the judge's scores.
    """
    is_right = says_right(predictions.score)
    turned = replace(
        predictions,
        predicted=np.where(is_right, 0, 1).astype(np.int32),
        score=np.where(is_right, predictions.score, 1 - predictions.score),
    )
    return turned, tuple(_of_judge(one, is_right) for one in opinions)


def _of_judge(opinion: Opinion, is_right: NDArray[np.bool_]) -> Opinion:
    if opinion.plan.right is None:
        return opinion
    value = np.where(is_right, opinion.value, -opinion.value)
    agrees = None if opinion.agrees is None else (value > 0) & ~opinion.is_missing
    return replace(opinion, value=value, agrees=agrees)
