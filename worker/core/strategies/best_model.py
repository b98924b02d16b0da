"""Choosing where models disagree: labels that tell which of them is best."""

import numpy as np

from worker.core.posterior.accuracies import OWN, Accuracies
from worker.core.questions.question import Question
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, argmax

_FAR = 8.0  # standard deviations: who is further behind matters no less than this


def best_model(
    known: Accuracies, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """The stratum whose next label narrows most how far the models asked for are from the others.

    The variance of the difference of each model from the last one that is named falls by a label;
    it counts by how likely it is that the two are about `tolerance` apart.

    Args:
        left, pending: (H,) items of each stratum that can be claimed, and that are claimed.

    Returns:
        The stratum; its group is 0.

    Raises:
        NothingLeft: all items on which models disagree are claimed.

    Source:
        Neyman's allocation (1934), one label at a time.
    """
    if not (left > 0).any():
        raise NothingLeft("every item on which models disagree is labelled or queued.")
    signed = known.mean if question.which == "highest" else -known.mean
    last = int(np.argsort(-signed, kind="stable")[question.top - 1])

    def of_difference(covariance: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
        """(..., M) variances of the models' differences from the last one that is named."""
        own = np.diagonal(covariance, axis1=-2, axis2=-1)
        spread = own + own[..., [last]] - 2 * covariance[..., last]
        return np.maximum(spread, 0.0)

    sd = np.sqrt(np.maximum(of_difference(known.covariance), 1e-16))
    apart = np.minimum((np.abs(signed[last] - signed) + question.tolerance) / sd, _FAR)
    weight = np.exp(-(apart**2) / 2) / sd**2
    weight[last] = 0.0
    so_far = known.known + pending
    size = known.open + known.known - OWN
    worth = (size / known.n_items) ** 2 / (so_far * (so_far + 1))
    worth *= of_difference(known.within) @ weight
    cell = argmax(np.where(left > 0, worth, -np.inf), rng)
    return Choice(cell, 0, {"worth": float(worth[cell])})
