"""About how many labels it takes until the rule holds, by what is known now."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.posterior.belief import Belief, by_group, filled_groups, group_size, unlabelled
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import draws, variance
from worker.core.questions.question import Question, StopRule
from worker.core.stopping.verdict import Verdict

Floats = NDArray[np.float64]

QUANTILES = (0.1, 0.5, 0.9)
_OFF = 1.5  # times more or fewer on truths that do not come from the prior (`make calibration`)
_NEAREST = 1e-6
_LEAST = 1e-12  # of a variance
# Of an estimate nothing is foreseen before so many labels a group: its error falls far slower than
# with the square root of the labels while it is learnt what groups have in common (a hundred groups
# took ten times as many). Later it takes .8 to 2.5 times as many as that says, 1.5 in the median.
_FIRST, _TIMES = 5, (0.8, 1.5, 2.5)


def labels_missing(
    b: Belief, question: Question, rule: StopRule, now: Verdict
) -> tuple[float, float, float] | None:
    """How many labels more until the rule holds: low, middle and high; None if unknown.

    The square of an error or a width shrinks with 1/n - 1/N, about, n labels of N items. For a
    claim of the extreme groups every posterior draw of the values is taken for the truth: a group
    at the distance d from where the answer would change needs a standard deviation of d / z, with
    the normal quantile z of the rule's confidence, so v (z / d)^2 times the observations that its
    present variance v is worth; less those, and at most its unlabelled items, if all of these tell
    the answer. One label lowers a variance worth w of them to v w / (w + 1): so w follows from the
    expected drop, for every metric. The sum over the groups is what an assessment that knew the
    truth would need; its 10% and 90% quantiles are widened by what the prior may be wrong.

    None before the first labels; where groups are compared, whose answer often needs half of what
    this would say, and for costs, which need two times as much (`make calibration`).
    """
    is_of_each = b.metric.classes == "each"
    if not now.labels or question.task == "compare" or b.metric.kind == "cost" or is_of_each:
        return None
    if rule.kind in ("rmse", "width"):
        assert now.value is not None, "an estimate has a value"
        if now.labels < _FIRST * len(filled_groups(b)):
            return None
        is_finite = b.population == "finite" and b.soft_labels is None
        n, unseen = now.labels, 1 / b.size.sum() if is_finite else 0.0
        target = min(1.0, rule.target / max(now.value, _LEAST)) ** 2
        more = max(0.0, 1 / (unseen + target * (1 / n - unseen)) - n)
        low, middle, high = (more * times for times in _TIMES)
        return low, middle, high
    filled = np.flatnonzero(group_size(b))
    values = draws(b)[:, filled]
    away = _from_the_boundary(values, question)
    z = float(special.ndtri(rule.confidence or 0.95))
    spread = variance(b)[filled]
    left = by_group(b, unlabelled(b))[filled]
    drop = by_group(b, unlabelled(b) * moments(b).drop)[filled] / np.maximum(left, 1)
    worth = np.maximum(spread / np.maximum(drop, _LEAST) - 1, 1.0)
    needed = spread * (z / np.maximum(away, _NEAREST)) ** 2
    most = left if b.population == "finite" else np.inf
    missing = np.minimum(worth * np.maximum(0.0, needed - 1), most)
    missing = np.where((spread > 0) & (left > 0), missing, 0.0)
    low, middle, high = np.quantile(missing.sum(axis=1), QUANTILES).tolist()
    return low / _OFF, middle, high * _OFF


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
