"""`blocking`: under `guarantee: anytime`, label what keeps the claim from closing."""

import numpy as np
from numpy.typing import NDArray

from worker.core.confidence_sequences.guarantee import (
    Bounds,
    ConfidenceSequence,
    alpha_split,
    differences,
    ends,
    gaps,
    is_decided,
)
from worker.core.posterior.belief import (
    Belief,
    Counts,
    by_group,
    group_share,
    group_size,
    unlabelled,
)
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.moments import Moments, moments
from worker.core.questions.comparison import pairs_asked
from worker.core.questions.question import Question
from worker.core.questions.ranking import ranking
from worker.core.strategies.picking import (
    Choice,
    Floats,
    Ints,
    Rng,
    any_item,
    best_cell,
    checked,
    choice,
)

# How often any item of the group is labelled, and how far the cells' gains are shaken otherwise: so
# that no cell is passed over for good because of what the belief thinks of it.
_EXPLORE, _JITTER = 0.05, 0.2
_PAIRS_TRIED = 4
_NEARLY_WIDEST = 0.9
_LEAST_RATE, _LEAST_HARD = 1e-4, 1e-3  # so that the gains stay finite
_LOW, _HIGH = 0, 1


def blocking(
    belief: Belief,
    question: Question,
    left: Ints,
    pending: Ints,
    rng: Rng,
    *,
    sequence: ConfidenceSequence,
) -> Choice:
    """Choose the item expected to move most the end of a band that keeps the claim from closing.

    Identify: with even chances one of the chosen groups whose end lies beyond a rival's, or one of
    these rivals. Compare: a group of one of the pairs that are still open. Estimate: one of the
    groups with the widest bands. In it the cell whose labels are expected to tell most against the
    truth that is hardest to rule out: rate q against rate r, KL(q || r) nats a label.

    Pending items count as expected outcomes. The bands never rest on the belief; it only steers.

    Args:
        left, pending: what is unlabelled and in neither will have no outcome: skipped, rejected or
            withheld.
        sequence: as for the stop rule.

    Raises:
        NothingLeft: there is no item that could help.
        ValueError: the counts do not fit the belief, or its metric has no guarantee.
    """
    askable = checked(belief, question, left, pending)
    lost, left = unlabelled(belief) - left - pending, askable
    expected = with_pending(belief, pending)
    known = moments(expected)
    found = ends(expected, lost, sequence, *alpha_split(belief, question, sequence.miss))
    is_open = by_group(belief, left) > 0
    if question.task == "identify":
        group, end = _blocks_set(expected, found, question, is_open, rng)
    elif question.task == "compare":
        group, end = _blocks_pair(expected, known, found, question, is_open, rng, lost, sequence)
    else:
        group, end = _widest(expected, found, is_open, rng)
    hard = found.hard_low if end == _LOW else found.hard_high
    gain = _telling(known.rate, hard)
    shaken = gain * (1 - _JITTER * rng.random(gain.size))
    if rng.random() < _EXPLORE:
        cell = any_item(np.where(belief.group == group, left, 0), rng)
    else:
        cell = best_cell(belief, group, left, shaken, rng)
    return choice(
        belief, cell, low=found.low[group], high=found.high[group], gain=gain[cell], end=end
    )


def _blocks_set(
    b: Belief, e: Bounds, question: Question, is_open: NDArray[np.bool_], rng: Rng
) -> tuple[int, int]:
    order = ranking(b, question.which)
    chosen, others = order[: question.n_named], order[question.n_named :]
    ends_of = (_HIGH, _LOW) if question.which == "lowest" else (_LOW, _HIGH)
    worst = (e.high, e.low) if question.which == "lowest" else (-e.low, -e.high)
    in_set, rivals = chosen[is_open[chosen]], others[is_open[others]]
    if others.size:
        last = np.partition(worst[0][chosen], question.top - 1)[question.top - 1]
        over = worst[0][in_set] > worst[1][others].min() + question.tolerance
        under = worst[1][rivals] < last - question.tolerance
        if over.any() or under.any():
            in_set, rivals = in_set[over], rivals[under]
        else:  # what blocks is on its way, or lost: then the next to block
            in_set = in_set[worst[0][in_set] >= worst[0][in_set].max(initial=-np.inf)]
            rivals = rivals[worst[1][rivals] <= worst[1][rivals].min(initial=np.inf)]
    side = int(rng.integers(2)) if in_set.size and rivals.size else int(not in_set.size)
    groups = (in_set, rivals)[side]
    return int(groups[rng.integers(groups.size)]), ends_of[side]


def _blocks_pair(
    b: Belief,
    known: Moments,
    found: Bounds,
    question: Question,
    is_open: NDArray[np.bool_],
    rng: Rng,
    lost: Counts,
    sequence: ConfidenceSequence,
) -> tuple[int, int]:
    asked = np.array(pairs_asked(b, question))
    pairs = asked[is_open[asked].any(axis=1)]
    undecided = ~is_decided(gaps(found, pairs), question.epsilon)
    tried = rng.permutation(pairs[undecided] if undecided.any() else pairs)[:_PAIRS_TRIED]
    both = differences(b, lost, sequence, tried, sequence.miss / len(asked))
    pair = tried[int(is_decided(both, question.epsilon).argmin())]  # the first one if all are
    groups = rng.permutation(pair[is_open[pair]])
    group, other = int(groups[0]), int(pair.sum() - groups[0])
    gap = known.mean[group] - known.mean[other]
    if abs(gap) <= question.epsilon:
        return group, int(rng.integers(2))
    return group, _LOW if gap > 0 else _HIGH


def _widest(b: Belief, e: Bounds, is_open: NDArray[np.bool_], rng: Rng) -> tuple[int, int]:
    share = group_share(b) if b.metric.pooled else 1.0
    wide = np.where(is_open & (group_size(b) > 0), (e.high - e.low) * share, -np.inf)
    # Expected outcomes of pending items may leave a width of a hair below nothing.
    groups = np.flatnonzero(wide >= min(_NEARLY_WIDEST * wide.max(), wide.max()))
    return int(groups[rng.integers(groups.size)]), int(rng.integers(2))


def _telling(rate: Floats, hard: Floats) -> Floats:
    """(C,) nats that a label is expected to tell against the truths `hard`, (K, C)."""
    q = np.clip(rate, _LEAST_RATE, 1 - _LEAST_RATE)
    r = np.clip(np.nan_to_num(hard, nan=0.5), _LEAST_HARD, 1 - _LEAST_HARD)
    each = q * np.log(q / r) + (1 - q) * np.log((1 - q) / (1 - r))
    total: Floats = each.sum(axis=0)
    return total
