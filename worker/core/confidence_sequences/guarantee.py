"""What can be claimed at any time with a bound on the chance of ever claiming something wrong.

The bands of `anytime` are asked what they rule out, for each task and metric. Errors are counted
once an assessment: whatever the labels, the moment and the finding, a wrong one is published with
at most the plan's 1 - confidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.core.confidence_sequences.bands import Bands, Seen, bands, joint_differences
from worker.core.confidence_sequences.forecast import Forecast
from worker.core.posterior.belief import Belief, Counts, group_share, group_size
from worker.core.posterior.marginals import SLACK
from worker.core.questions.comparison import pairs_asked
from worker.core.questions.question import Question

Floats = NDArray[np.float64]
GUARANTEED = ("accuracy", "bias", "ece")  # the metrics that bands of accuracies bound


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """What a guarantee rests on: a forecast, and the chance that it may fail.

    miss: 1 - confidence, in (0, 1).
    """

    forecast: Forecast
    miss: float
    # The last bands, of which one label changes one group's; results do not depend on it.
    _last: dict[str, Bands] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Every group's value lies in [low, high] at all times; nan for groups without items.

    low, high: (G,) values under the belief's metric. hard_low, hard_high: (K, C) rates of right
    answers among the unclaimed items, in the truths that must be ruled out to move each end.
    """

    low: Floats
    high: Floats
    hard_low: Floats
    hard_high: Floats


def alpha_split(b: Belief, question: Question, miss: float) -> tuple[float, float]:
    """How improbable a group's low end and its high end must each be, for the claim to be safe.

    Identify, lowest: let S* be the true set. A wrong claim S has a group j of S* outside of it and,
    of the `top` groups of S with the lowest high ends, one i that is not in S*, with a value of i
    above that of j; so the low end of j or the high end of i is wrong. Either of the `top` low ends
    of S*, one fixed set, or one of the others' high ends: the many groups that must be shown to be
    out do not share the miss among them. The two sides share it by how many groups need each. It is
    so for a list S of more than `top` groups, too.
    """
    n = int(np.count_nonzero(group_size(b)))
    if question.task == "estimate":
        return miss / max(n, 1), miss / max(n, 1)
    if question.task == "compare":
        each = miss / (4 * len(pairs_asked(b, question)))
        return each, each
    top, rest = question.top, n - question.top
    if rest < 1:
        return miss, miss
    of_rest, of_top = miss * rest / n / top, miss * top / n / rest
    return (of_rest, of_top) if question.which == "lowest" else (of_top, of_rest)


def ends(
    b: Belief, unknown: Counts, sequence: ConfidenceSequence, miss_low: float, miss_high: float
) -> Bounds:
    """Where every group's value lies, at all times.

    Args:
        unknown: (C,) claimed items without an outcome; see `Seen`.
        miss_low, miss_high: probability that a group's end is ever wrong. If they are equal, that
            either is.

    Raises:
        ValueError: the metric, or the population, has no such bound.
    """
    kind = b.metric.kind
    if kind not in GUARANTEED or b.population != "finite":
        what = f"metric {kind}" if kind not in GUARANTEED else "infinite population"
        raise ValueError(
            f"the guarantee anytime has no bound for the {what}; use one of "
            f"{', '.join(GUARANTEED)} and the finite population, or write `guarantee: posterior`."
        )
    if kind == "ece":
        return _calibration_errors(b, unknown, sequence, miss_low, miss_high)
    is_bias = kind == "bias"
    low, high = (miss_high, miss_low) if is_bias else (miss_low, miss_high)
    seen = Seen(b.group, b.size, b.right, b.wrong, unknown, b.n_groups)
    found = _bands(sequence, "of accuracy", seen, low, high)
    if not is_bias:
        return Bounds(found.low, found.high, found.rate_low[None], found.rate_high[None])
    score = _mean_score(b, b.group, b.n_groups)
    return Bounds(
        score - found.high, score - found.low, found.rate_high[None], found.rate_low[None]
    )


def is_identified(b: Belief, e: Bounds, chosen: Sequence[int], question: Question) -> bool:
    """Whether the `top` groups are among `chosen`, to within the tolerance, whatever the rest is.

    Args:
        e: ends at the `alpha_split` of the question.
    """
    mine, others = sides(b, e, chosen, question)
    if not others.size:
        return True
    last = float(np.partition(mine, question.top - 1)[question.top - 1])
    return last <= float(others.min()) + question.tolerance + SLACK


def sides(b: Belief, e: Bounds, chosen: Sequence[int], question: Question) -> tuple[Floats, Floats]:
    """The worst ends of the chosen groups, and of the others with items; lowest groups wanted.

    For the highest ones the signs are turned, so that the first must lie below the second.
    """
    is_chosen = np.zeros(b.n_groups, dtype=bool)
    is_chosen[list(chosen)] = True
    others = ~is_chosen & (group_size(b) > 0)
    if question.which == "lowest":
        return e.high[is_chosen], e.low[others]
    return -e.low[is_chosen], -e.high[others]


def differences(
    b: Belief,
    unknown: Counts,
    sequence: ConfidenceSequence,
    pairs: NDArray[np.intp],
    miss: float,
) -> Floats:
    """(P, 2) ends between which the difference of values of each pair lies at all times.

    Half of the miss goes to both groups' labels together, which tells more while both are open, a
    quarter to each group's band, which tells more once one of them is exhausted.

    Args:
        miss: probability that the ends of one pair are ever wrong; over several pairs, they add up.
    """
    apart = gaps(ends(b, unknown, sequence, miss / 4, miss / 4), pairs)
    if b.metric.kind == "ece":
        return apart
    seen = Seen(b.group, b.size, b.right, b.wrong, unknown, b.n_groups)
    joint = joint_differences(seen, sequence.forecast, pairs, miss / 2)
    if b.metric.kind == "bias":
        score = _mean_score(b, b.group, b.n_groups)[pairs]
        joint = (score[:, 0] - score[:, 1])[:, None] - joint[:, ::-1]
    low, high = np.maximum(apart[:, 0], joint[:, 0]), np.minimum(apart[:, 1], joint[:, 1])
    return np.stack([low, high], axis=1)


def gaps(e: Bounds, pairs: NDArray[np.intp]) -> Floats:
    """(P, 2) ends between which the differences of values lie by each group's band alone."""
    first, second = pairs.T
    return np.stack([e.low[first] - e.high[second], e.high[first] - e.low[second]], axis=1)


def region_of(low: float, high: float, epsilon: float) -> int | None:
    """The region with all of an interval of differences: 0 below, 1 within, 2 above; or None."""
    if high < -epsilon - SLACK:
        return 0
    if low > epsilon + SLACK:
        return 2
    return 1 if -epsilon - SLACK <= low and high <= epsilon + SLACK else None


def is_decided(intervals: Floats, epsilon: float) -> NDArray[np.bool_]:
    """(P,) whether each interval of differences (P, 2) lies in one region."""
    low, high = intervals.T
    is_within = (low >= -epsilon - SLACK) & (high <= epsilon + SLACK)
    decided: NDArray[np.bool_] = is_within | (high < -epsilon - SLACK) | (low > epsilon + SLACK)
    return decided


def width(b: Belief, e: Bounds) -> float:
    """The widest band of a group's value; of their weighted sum, if that is asked."""
    each = e.high - e.low
    if b.metric.pooled:
        return float(np.nansum(group_share(b) * each))
    return float(np.nanmax(each))


def _calibration_errors(
    b: Belief, unknown: Counts, sequence: ConfidenceSequence, miss_low: float, miss_high: float
) -> Bounds:
    """Bands of sum_b p_b|g |s_b - theta_b| from those of the bins, which share the miss."""
    keys = np.stack([b.group, b.metric.unit])
    bins, of = np.unique(keys, axis=1, return_inverse=True)
    of = of.reshape(-1)
    group, n = bins[0], bins.shape[1]
    n_bins = np.bincount(group, minlength=b.n_groups)
    size = np.bincount(of, b.size, minlength=n)
    share = size / np.maximum(group_size(b)[group], 1)
    score = _mean_score(b, of, n)
    seen = Seen(of, b.size, b.right, b.wrong, unknown, n)
    both: list[Any] = []
    hard = []
    for name, miss in (("of bins, low", miss_low), ("of bins, high", miss_high)):
        each = miss / np.maximum(n_bins, 1)[group]
        found = _bands(sequence, name, seen, each, each)
        over, under = score - found.high, found.low - score
        distance = (
            np.maximum(np.maximum(over, under), 0.0)
            if name.endswith("low")
            else np.maximum(score - found.low, found.high - score)
        )
        total = np.bincount(group, np.nan_to_num(share * distance), minlength=b.n_groups)
        both.append(np.where(group_size(b) > 0, total, np.nan))
        hard.append(np.stack([found.rate_low, found.rate_high]))
    return Bounds(both[0], both[1], hard[0], hard[1])


def _bands(
    sequence: ConfidenceSequence, name: str, seen: Seen, low: float | Floats, high: float | Floats
) -> Bands:
    found = bands(seen, sequence.forecast, low, high, sequence._last.get(name))
    sequence._last[name] = found
    return found


def _mean_score(b: Belief, of: NDArray[np.int64], n: int) -> Floats:
    size = np.bincount(of, b.size, minlength=n)
    total = np.bincount(of, np.nan_to_num(b.metric.score) * b.size, minlength=n)
    mean = np.full(n, np.nan)
    np.divide(total, size, out=mean, where=size > 0)
    return mean
