"""Items with the same human label taken together, and labels that stand for many."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.evaluator.inputs import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Predictions of the items that share a human label, as far as a normal likelihood sees them.

    sum_i |f(y_i) - p_i|^2 = sum_g n_g |f(y_g) - mean_g|^2 + a constant: nothing is lost.

    human: (G, K) distinct labels. mean: (G, K), of their predictions. count: (G,), how many.
    """

    human: Floats
    mean: Floats
    count: Floats


def grouped(human: Floats, predicted: Floats) -> Grouped:
    """Group predictions (N, R, K) by their human label (N, K)."""
    distinct, group, n_items = np.unique(human, axis=0, return_inverse=True, return_counts=True)
    total = np.zeros_like(distinct)
    np.add.at(total, group.ravel(), predicted.mean(axis=1))
    mean: Floats = total / n_items[:, None]
    return Grouped(distinct, mean, n_items.astype(np.float64) * predicted.shape[1])


def spread(points: Floats, n: int, first: int) -> NDArray[np.int64]:
    """Up to `n` of the points, each as far as can be from those before, beginning with `first`."""
    chosen = [first]
    distance = np.full(points.shape[0], np.inf)
    while len(chosen) < min(n, points.shape[0]):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return np.array(chosen)


def nearest(points: Floats, chosen: Floats) -> NDArray[np.int64]:
    """(G,) which of the chosen points (R, d) lies nearest to each of the points (G, d)."""
    product = points @ chosen.T
    closest: NDArray[np.int64] = ((chosen**2).sum(axis=1) - 2 * product).argmin(axis=1)
    return closest
