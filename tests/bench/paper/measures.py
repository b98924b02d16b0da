"""How far off an estimate is, and how soon a ranking is right."""

from typing import Any

import numpy as np

from tests.bench.paper.data import Bools, Floats, Groups
from tests.bench.paper.replaying import LOG_EVERY

RESAMPLES = 1000


def rmse(value: Floats, groups: Groups) -> Floats:
    """(R,) root of sum_g p_g (value_g - accuracy_g)^2."""
    squared: Floats = (value - groups.accuracy) ** 2 @ groups.share
    return np.sqrt(squared)


def ece(value: Floats, groups: Groups) -> Floats:
    """(R,) sum_b p_b |value_b - s_b|."""
    error: Floats = np.abs(value - groups.score) @ groups.share
    return error


def mean_and_spread(values: Floats) -> list[float]:
    """Mean and standard deviation over the runs."""
    return [float(values.mean()), float(values.std())]


def worst_of(value: Floats, top: int) -> Bools:
    """(G,) the true set: the `top` groups of lowest value; of equal ones the first."""
    worst = np.zeros(value.size, np.bool_)
    worst[np.argsort(value, kind="stable")[:top]] = True
    return worst


def mrr(value: Floats, worst: Bools) -> Floats:
    """(R,) mean reciprocal rank of the true set when the lowest of `value` (R, G) come first.

    Other true members ahead are not counted. Of equal values the later group is ahead, as in the
    authors' flipped argsort.
    """
    true, other = np.flatnonzero(worst), np.flatnonzero(~worst)
    rivals = value[:, other]
    total = np.zeros(value.shape[0])
    for g in true:
        own = value[:, [g]]
        ahead = (rivals < own) | ((rivals == own) & (other > g))
        total += 1 / (1 + ahead.sum(axis=1))
    return total / true.size


def labels_to(curve: Floats, mark: float) -> int | None:
    """Labels at the first recorded moment at which the mean MRR of the runs is above `mark`.

    Table 6's definition: `mark` is lowered to that share of the curve's highest point, since the
    infinite posterior of a fully labelled pool may rank wrongly.
    """
    above = curve > min(mark, mark * curve.max())
    return int(above.argmax() + 1) * LOG_EVERY if above.any() else None


def identification(curves: Floats, n_items: int) -> dict[str, Any]:
    """Summarise (T, R) MRR, recorded every ten labels.

    `regret` is the area under 1 - mean MRR over the share of the pool. `at_runs` has 99% bands of
    what `labels_to_mrr99` would be with fewer runs, by resampling runs: it is the first moment a
    mean exceeds a mark, so it moves with the number of runs.
    """
    curve = curves.mean(axis=1)
    n_runs = curves.shape[1]
    step = max(1, curve.size // 200)
    return {
        "n_items": n_items,
        "labels_to_mrr95": labels_to(curve, 0.95),
        "labels_to_mrr99": labels_to(curve, 0.99),
        "regret": float((1 - curve).sum() * LOG_EVERY / n_items),
        "curve": [[int(i + 1) * LOG_EVERY, float(curve[i])] for i in range(0, curve.size, step)],
        "at_runs": {str(r): _band(curves, r) for r in (24, 30, 100, 120, 150) if r <= n_runs},
    }


def _band(curves: Floats, n_runs: int) -> list[float]:
    rng = np.random.default_rng(n_runs)
    weight = rng.multinomial(n_runs, np.full(curves.shape[1], 1 / curves.shape[1]), RESAMPLES)
    means = curves @ weight.T / n_runs
    found = [labels_to(means[:, i], 0.99) for i in range(RESAMPLES)]
    low, high = np.quantile([n for n in found if n is not None], [0.005, 0.995])
    return [float(low), float(high)]
