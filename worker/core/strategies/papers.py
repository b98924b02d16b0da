"""The strategies of the papers: random, Thompson sampling and its relatives.

Source:
    Ji, Logan, Smyth & Steyvers, "Active Bayesian Assessment for Black-Box Classifiers" (AAAI 2021),
    Table 1 and supplement. They label a whole pool's items group by group; here a cell of the
    chosen group is chosen too: the one whose label is expected to lower the group's variance most.
"""

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief, by_group, cells_of
from worker.core.posterior.drawing import draw
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.moments import moments
from worker.core.posterior.summary import marginals
from worker.core.questions.question import Question
from worker.core.questions.rewards import question_drop
from worker.core.strategies.lookahead import least_decided, most_deciding, most_sharpening
from worker.core.strategies.picking import (
    Choice,
    Floats,
    Ints,
    Rng,
    any_item,
    argmax,
    best_cell,
    checked,
    choice,
    open_groups,
)

KEEP = 0.5  # TTTS: how often the first draw's group is kept (the supplement's beta)
EXPLORE = 0.1  # epsilon-greedy
QUANTILE = 0.975  # Bayes-UCB

_MAX_REDRAWS = 50  # as in the papers' older code; the text has no limit


def random(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose uniformly among the remaining items; of the compared groups only, if it is compare."""
    left = checked(belief, question, left, pending)
    cell = any_item(left, rng)
    return choice(belief, cell, share=left[cell] / left.sum())


def thompson(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose what a posterior draw calls for: the paper's Thompson sampling for each task.

    Identify: one of the `top` most extreme groups of one draw. The paper's MP-TS labels all `top`
    groups of a draw before the next one; here claims come one at a time, so one of them is chosen
    uniformly and the next claim draws anew: the same share of labels on average. Pending items are
    not counted as outcomes for the draw, only for the cell.
    """
    left = checked(belief, question, left, pending)
    if question.task == "compare":
        return most_deciding(belief, question, left, pending, rng)
    if question.task == "estimate":
        return most_sharpening(belief, left, pending, rng)
    drawn = draw(belief, rng, 1)[0]
    extreme = _extreme(drawn, question, open_groups(belief, left), rng)
    group = int(extreme[0] if extreme.size == 1 else extreme[rng.integers(extreme.size)])
    return _in_group(belief, group, left, pending, rng, drawn=drawn[group])


def multiple_play(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """Thompson sampling that spreads a batch over the whole drawn set (MP-TS).

    Of the `top` most extreme groups of a draw, the one with the fewest pending items. Other tasks
    as `thompson`.
    """
    if question.task != "identify":
        return thompson(belief, question, left, pending, rng)
    left = checked(belief, question, left, pending)
    drawn = draw(belief, rng, 1)[0]
    extreme = rng.permutation(_extreme(drawn, question, open_groups(belief, left), rng))
    group = int(extreme[by_group(belief, np.asarray(pending))[extreme].argmin()])
    return _in_group(belief, group, left, pending, rng, drawn=drawn[group])


def top_two(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng, keep: float = KEEP
) -> Choice:
    """Thompson sampling that also labels the runner-up (TTTS). Other tasks as `thompson`.

    With probability 1 - `keep` the draw is repeated until it has another set of `top` groups, and a
    group that is new in it is labelled.

    Source:
        Russo, "Simple Bayesian Algorithms for Best Arm Identification" (2016); the supplement's
        prose and its Algorithm 2 give beta opposite meanings, equal at .5.
    """
    if question.task != "identify":
        return thompson(belief, question, left, pending, rng)
    left = checked(belief, question, left, pending)
    is_open = open_groups(belief, left)
    drawn = draw(belief, rng, 1)[0]
    candidates = first = _extreme(drawn, question, is_open, rng)
    if rng.random() >= keep:
        for again in draw(belief, rng, _MAX_REDRAWS):
            fresh = np.setdiff1d(_extreme(again, question, is_open, rng), first)
            if fresh.size:
                candidates, drawn = fresh, again
                break
    group = int(candidates[rng.integers(candidates.size)])
    return _in_group(belief, group, left, pending, rng, drawn=drawn[group])


def epsilon_greedy(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng,
    explore: float = EXPLORE,
) -> Choice:  # fmt: skip
    """Choose what the posterior means call for, and with probability `explore` any item.

    Identify: one of the `top` groups of most extreme mean. Estimate: the largest expected drop of
    the squared error. Compare: in the least decided pair, the largest drop of a group's variance.
    """
    left = checked(belief, question, left, pending)
    if rng.random() < explore:
        return choice(belief, any_item(left, rng), explored=1)
    expected = with_pending(belief, pending)
    if question.task == "estimate":
        worth = question_drop(expected)
        cell = argmax(np.where(left > 0, worth, -np.inf), rng)
        return choice(belief, cell, reward=worth[cell])
    if question.task == "compare":
        pair, decided = least_decided(expected, question, left, rng)
        drop = np.where(np.isin(belief.group, pair) & (left > 0), moments(expected).drop, -np.inf)
        cell = argmax(drop, rng)
        return choice(belief, cell, confidence=decided, drop=drop[cell])
    means = moments(belief).mean
    extreme = _extreme(means, question, open_groups(belief, left), rng)
    group = int(extreme[rng.integers(extreme.size)])
    return _in_group(belief, group, left, pending, rng, mean=means[group])


def bayes_ucb(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng,
    quantile: float = QUANTILE,
) -> Choice:  # fmt: skip
    """Choose the groups that are most extreme in their optimistic posterior quantile.

    Other tasks as `thompson`.

    Source:
        Kaufmann, Cappé & Garivier, "On Bayesian Upper Confidence Bounds" (2012), whose quantile
        rises with the labels; the paper's stays, and is a normal's (mean plus a multiple of the
        standard deviation), where this one is that of the group's own distribution.
    """
    if question.task != "identify":
        return thompson(belief, question, left, pending, rng)
    left = checked(belief, question, left, pending)
    at = np.array([1 - quantile if question.which == "lowest" else quantile])
    distributions = marginals(with_pending(belief, pending))
    bound = np.array([np.nan if d is None else d.quantiles(at)[0] for d in distributions])
    extreme = _extreme(bound, question, open_groups(belief, left), rng)
    group = int(extreme[rng.integers(extreme.size)])
    return _in_group(belief, group, left, pending, rng, bound=bound[group])


def _extreme(
    values: Floats, question: Question, groups: NDArray[np.intp], rng: Rng
) -> NDArray[np.intp]:
    """The `top` of `groups` with the most extreme values; equal ones in random order."""
    shuffled = rng.permutation(groups)
    signed = values[shuffled] if question.which == "lowest" else -values[shuffled]
    if question.top >= shuffled.size:
        return shuffled
    extreme: NDArray[np.intp] = shuffled[
        signed.argpartition(question.top - 1)[: question.top]
        if question.top > 1
        else signed.argmin(keepdims=True)
    ]
    return extreme


def _in_group(
    belief: Belief, g: int, left: Ints, pending: Ints, rng: Rng, **numbers: float
) -> Choice:
    """The cell of the group whose label is expected to lower its variance most."""
    cells = cells_of(belief, g)
    if cells.stop - cells.start == 1:  # nothing to choose
        return choice(belief, cells.start, **numbers)
    drop = moments(with_pending(belief, pending)).drop
    cell = best_cell(belief, g, left, drop, rng)
    return choice(belief, cell, drop=drop[cell], **numbers)
