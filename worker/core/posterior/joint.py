"""How the groups' values move together with the hyperparameters that all of them share."""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.class_lines import accuracies_of
from worker.core.posterior.moments import Moments, moments
from worker.core.prior.copula import Given, held_inside

Floats = NDArray[np.float64]


def joint_loadings(b: Belief) -> Floats:
    """(G, R) loadings of the groups' normal scores on what is shared; R = 0 if nothing is.

    How far a group's mean moves (`posterior.slopes`), in its standard deviations; together no
    further than leaves a group what is its own. While hardly anything is known of what is shared
    the slopes tell more than there is: no rate moves beyond 0 and 1. Of what is left to a group as
    its own some goes together with others' if outputs of the same prompts do (`posterior.paired`).
    """
    if "loadings" not in b._memo:
        rows = shared_loadings(b)
        if b.paired is not None:
            own = np.sqrt(1 - (rows**2).sum(axis=1, keepdims=True))
            rows = np.concatenate([rows, own * b.paired], axis=1)
        b._memo["loadings"] = rows
    load: Floats = b._memo["loadings"]
    return load


def shared_loadings(b: Belief) -> Floats:
    """Those on the hyperparameters alone."""
    if b.shared is None and not b.parts:
        return np.zeros((b.n_groups, 0))
    known = moments_of_value(b)
    is_open = known.variance > 0  # nan of groups without items
    variance = np.where(is_open, known.variance, 1.0)
    rows = np.where(is_open, 1.0, 0.0)[:, None] * known.moved / np.sqrt(variance)[:, None]
    return held_inside(rows, np.maximum(1 - known.own / variance, 0.0))


def moments_of_value(b: Belief) -> Moments:
    """Those of what is drawn of every group: of a confusion matrix, or classes', the accuracy."""
    is_drawn = b.metric.kind == "confusion" or b.metric.classes == "each"
    return moments(accuracies_of(b) if is_drawn else b)


def given_shared(b: Belief, is_mirrored: bool = False, n_points: int = 32) -> Given:
    """The groups given each of some points of what they share, where they are independent.

    Args:
        is_mirrored: of minus the groups' values.
    """
    load = joint_loadings(b)
    if not load.any():
        return Given.nothing(b.n_groups)
    return Given.at(-load if is_mirrored else load, n_points)
