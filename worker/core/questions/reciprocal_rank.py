"""The mean reciprocal rank of a ranking, and how sure it is that it is high enough."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.drawing import draw
from worker.core.posterior.marginals import SLACK
from worker.core.posterior.mixing import mixed
from worker.core.questions.question import Which
from worker.core.questions.ranking import set_confidence

Floats = NDArray[np.float64]

_N_DRAWS = 4000


def mrr(
    ranking: Sequence[int] | NDArray[np.intp],
    theta: Floats,
    top: int,
    which: Which = "lowest",
    tolerance: float = 0.0,
) -> Floats:
    """The mean reciprocal rank of the true `top` groups in `ranking`, for many truths.

    A true group's rank does not count the other true ones before it, so that their order does not
    matter: 1 if the first `top` of the ranking are the true ones. Where groups are tied, or within
    `tolerance` of each other, several sets are right: the one that favours the ranking counts.

    Args:
        ranking: distinct group indices, the most extreme first; groups left out do not exist.
        theta: (S, G) accuracies, one truth a row.
        top: 1 <= top <= length of the ranking.
        tolerance: >= 0.

    Returns:
        (S,), in (0, 1].

    Raises:
        ValueError: `top` is larger than the ranking.

    Source:
        Ji, Logan, Smyth & Steyvers (AAAI 2021), who break ties by the order of the groups.
    """
    order = np.asarray(ranking, dtype=np.intp)
    if not 1 <= top <= order.size:
        raise ValueError(
            f"top is {top}, but the ranking has {order.size} groups; ask for 1 to {order.size}."
        )
    values = theta[:, order] if which == "lowest" else -theta[:, order]
    least = np.partition(values, range(top), axis=1)
    # A right set holds every group below some value w and, of those in [w, w + tolerance], any:
    # w is one of the `top` least values, without tolerance the last of them.
    best = np.zeros(len(values))
    for i in range(top) if tolerance else (top - 1,):
        w = least[:, i, None]
        forced = values < w - SLACK
        free = ~forced & (values <= w + tolerance + SLACK)
        wanted = top - forced.sum(axis=1, keepdims=True)
        true = forced | (free & (np.cumsum(free, axis=1) <= wanted))
        reciprocal = np.where(true, 1.0 / (1 + np.cumsum(~true, axis=1)), 0.0).sum(axis=1) / top
        best = np.maximum(best, np.where(true.sum(axis=1) == top, reciprocal, 0.0))
    return best


def mrr_confidence(
    b: Belief,
    order: Sequence[int] | NDArray[np.intp],
    top: int,
    which: Which,
    threshold: float,
    tolerance: float,
    rng: np.random.Generator,
) -> float:
    """P(the mean reciprocal rank of `order` reaches `threshold` | labels).

    Exact where only the right set can reach the threshold; otherwise the share of 4,000 posterior
    draws, with a standard error of at most 0.008.

    Args:
        order: all groups with items, the most extreme first.
        threshold: in (0, 1].
    """
    # The best wrong set lacks one group, found one place further down: 1 - 1 / (2 top).
    if threshold > 1 - 1 / (2 * top) + SLACK:
        chosen = [int(g) for g in order[:top]]
        return float(mixed(b, lambda of: np.array(set_confidence(of, chosen, which, tolerance))))
    reached = mrr(order, draw(b, rng, _N_DRAWS), top, which, tolerance) >= threshold - SLACK
    return float(reached.mean())
