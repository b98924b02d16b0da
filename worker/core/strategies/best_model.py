"""Choosing where models disagree: labels that tell which of them is best."""

import numpy as np

from worker.core.posterior.accuracies import OWN, Accuracies
from worker.core.questions.question import Question
from worker.core.strategies.picking import Choice, Ints, NothingLeft, Rng, argmax

_FAR = 8.0  # standard deviations: who is further behind matters no less than this
_MOST = 24  # models that are looked at: those that are most likely to be the best


def best_model(
    known: Accuracies, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """The stratum whose next label narrows most how far the models asked for are from the others.

    The variance of the difference of each model from the last one that is named falls by a label,
    by what it tells of its own stratum and of how far every model is to be believed; it counts by
    how likely it is that the two are about `tolerance` apart.

    Args:
        left, pending: (H,) items of each stratum that can be claimed, and that are claimed.

    Returns:
        The stratum; its group is 0.

    Raises:
        NothingLeft: all items on which models disagree are claimed.

    Source:
        Neyman's allocation (1934), one label at a time, of what is unknown.
    """
    if not (left > 0).any():
        raise NothingLeft("every item on which models disagree is labelled or queued.")
    signed = known.mean if question.which == "highest" else -known.mean
    last = int(np.argsort(-signed, kind="stable")[question.top - 1])

    m, covariance = signed.size, known.covariance
    own = np.diag(covariance)
    sd = np.sqrt(np.maximum(own + own[last] - 2 * covariance[last], 1e-16))
    apart = np.minimum((np.abs(signed[last] - signed) + question.tolerance) / sd, _FAR)
    weight = np.exp(-(apart**2) / 2) / sd**2
    weight[last] = 0.0
    near = np.argsort(-weight, kind="stable")[:_MOST]
    so_far = known.known + pending
    by_own = (known.open - pending) / known.n_items / so_far
    by_tilt = OWN / so_far
    unit = np.eye(m)[near] - np.eye(m)[last]
    pulled = known.pulled[near] - known.pulled[last]
    moved = by_own[:, None, None] * unit + by_tilt[:, None, None] * pulled  # (H, m, M)
    worth = ((moved @ known.within) * moved).sum(axis=2) @ weight[near] / (1 + 1 / so_far)
    cell = argmax(np.where(left > 0, worth, -np.inf), rng)
    return Choice(cell, 0, {"worth": float(worth[cell])})
