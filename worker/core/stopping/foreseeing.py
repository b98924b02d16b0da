"""About how many labels it takes until the rule holds, by what is known now."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, by_group, group_size, unlabelled
from worker.core.posterior.summary import draws, variance
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.rule import Verdict

Floats = NDArray[np.float64]

QUANTILES = (0.1, 0.5, 0.9)
_LEAST_VARIANCE = 0.01  # of one label: groups that are always right are not known by one
_NEAREST = 1e-6


def labels_missing(
    b: Belief, question: Question, rule: StopRule, now: Verdict
) -> tuple[float, float, float] | None:
    """How many labels more until the rule holds: 10%, 50% and 90% quantiles; None if unknown.

    An error or a width shrinks with the square root of the labels: one number, three times. For
    a claim, every posterior draw of the groups' values is taken for the truth: a group at the
    distance d from where the answer would change needs a standard deviation of d / z, with the
    normal quantile z of the rule's confidence, so v (z / d)^2 times the observations that its
    present variance v is worth; less those, and at most its unlabelled items. The sum over the
    groups is what an assessment that knew the truth would need; a strategy needs somewhat more.
    """
    if not now.labels:
        return None
    if rule.kind in ("rmse", "width"):
        assert now.value is not None, "an estimate has a value"
        more = now.labels * (max(1.0, now.value / rule.target) ** 2 - 1)
        return more, more, more
    filled = np.flatnonzero(group_size(b))
    values = draws(b)[:, filled]
    if question.task == "identify":
        away = _from_the_boundary(values, question)
    else:
        pairs = np.searchsorted(filled, now.pairs.groups)
        away = _from_the_regions(values, pairs, question.epsilon)
    z = float(special.ndtri(rule.confidence or 0.95))
    spread = variance(b)[filled]
    known = values.mean(axis=0)
    worth = np.maximum(known * (1 - known), _LEAST_VARIANCE) / np.maximum(spread, 1e-12)
    left = by_group(b, unlabelled(b))[filled]
    needed = spread * (z / np.maximum(away, _NEAREST)) ** 2
    missing = np.where(spread > 0, np.minimum(worth * np.maximum(0.0, needed - 1), left), 0.0)
    low, middle, high = np.quantile(missing.sum(axis=1), QUANTILES).tolist()
    return low, middle, high


def _from_the_boundary(values: Floats, question: Question) -> Floats:
    """(D, g) of the true set's groups from the first rival, of the others from the set's last one.

    These two bear their distance together, each a half of its variance.
    """
    m = question.top
    if m >= values.shape[1]:
        return np.full_like(values, np.inf)
    turned = values if question.which == "lowest" else -values
    last, first = np.partition(turned, (m - 1, m), axis=1)[:, m - 1 : m + 1].T[:, :, None]
    away = np.where(turned <= last, first - turned, turned - last)
    away = np.where((turned == last) | (turned == first), away / np.sqrt(2), away)
    distance: Floats = away + question.tolerance
    return distance


def _from_the_regions(values: Floats, pairs: NDArray[np.intp], epsilon: float) -> Floats:
    """(D, g) from epsilon, of the difference that is nearest to it; each group bears a half."""
    away = np.full_like(values, np.inf)
    for g1, g2 in pairs.tolist():
        difference = np.abs(values[:, g1] - values[:, g2])
        near = np.abs(difference - epsilon) / np.sqrt(2)
        away[:, g1] = np.minimum(away[:, g1], near)
        away[:, g2] = np.minimum(away[:, g2], near)
    return away
