"""Majority vote."""

import numpy as np
from numpy.typing import NDArray

from worker.core.crowd.votes import Ints


def majority(counts: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The class that most annotators gave to each item, and whether others got as many votes.

    Args:
        counts: (..., K) votes for each class, >= 0; any number of items and replays at once.

    Returns:
        (...,) the lowest of the classes with most votes, -1 without votes; and whether it is tied.

    >>> majority(np.array([[2, 1, 0], [1, 0, 1], [0, 0, 0]]))
    (array([ 0,  0, -1]), array([False,  True, False]))
    """
    most = counts.max(axis=-1)
    has_votes = most > 0
    n_best = (counts == most[..., None]).sum(axis=-1)
    return np.where(has_votes, counts.argmax(axis=-1), -1), has_votes & (n_best > 1)


def shares(counts: Ints) -> NDArray[np.float64]:
    """(..., K) each class's part of a majority vote: tied classes share it, 0 without votes.

    >>> shares(np.array([[2, 1, 0], [1, 0, 1], [0, 0, 0]])).tolist()
    [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]
    """
    most = counts.max(axis=-1, keepdims=True)
    is_best = (counts == most) & (most > 0)
    share: NDArray[np.float64] = is_best / np.maximum(is_best.sum(axis=-1, keepdims=True), 1)
    return share
