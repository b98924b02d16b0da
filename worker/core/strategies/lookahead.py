"""Thompson sampling that compares or estimates: it looks one label ahead, at drawn rates.

The paper that it is from is named in `worker.core.strategies.papers`.
"""

import numpy as np

from worker.core.posterior.belief import Belief, by_group, group_share
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.metrics import AFFINE
from worker.core.posterior.moments import moments
from worker.core.posterior.rates import draw_cells
from worker.core.questions.comparison import lookahead, pairs_asked, regions
from worker.core.questions.question import Question
from worker.core.questions.rewards import drawn_drop, question_drop
from worker.core.strategies.picking import (
    Choice,
    Ints,
    NothingLeft,
    Rng,
    argmax,
    best_cell,
    choice,
)

_EQUAL = 1e-12


def least_decided(
    expected: Belief, question: Question, left: Ints, rng: Rng
) -> tuple[tuple[int, int], float]:
    """The pair with items left whose likeliest region is least likely, and that probability."""
    in_group = by_group(expected, left).tolist()
    pairs = tuple(p for p in pairs_asked(expected, question) if in_group[p[0]] or in_group[p[1]])
    if not pairs:
        raise NothingLeft(
            "every item of the compared groups is labelled, queued or withheld; labels of other "
            "groups do not help. Wait for the queued items, or stop."
        )
    decided = regions(expected, pairs, question.epsilon).max(axis=1)
    at = argmax(-decided, rng)
    return pairs[at], float(decided[at])


def most_deciding(
    belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng
) -> Choice:
    """Compare: in the least decided pair, the group whose label is expected to decide most.

    As in the paper the expectation of lambda is taken at drawn rates, here exactly. Where it does
    not tell the groups apart (no single label can move a region), or no exact distribution is
    known, the larger expected drop of Var(V_1 - V_2) does. Pending items count as expected
    outcomes.
    """
    expected_belief = with_pending(belief, pending)
    pair, decided = least_decided(expected_belief, question, left, rng)
    in_group = by_group(belief, left)
    drop = moments(expected_belief).drop
    cells = [best_cell(belief, g, left, drop, rng) if in_group[g] else None for g in pair]
    if belief.metric.kind not in AFFINE:
        cell = max((c for c in cells if c is not None), key=lambda c: float(drop[c]))
        return choice(belief, cell, confidence=decided, drop=drop[cell])
    theta = draw_cells(expected_belief, rng)
    expected = lookahead(expected_belief, *pair, question.epsilon, theta, (cells[0], cells[1]))
    arms = [(c, value) for c, value in zip(cells, expected, strict=True) if c is not None]
    best = max(value for _, value in arms)
    arms = [arm for arm in arms if arm[1] >= best - _EQUAL]
    cell, value = arms[argmax(np.array([drop[c] for c, _ in arms]), rng)]
    return choice(
        belief, cell, drawn=theta[cell], confidence=decided, expected=value, drop=drop[cell]
    )


def most_sharpening(belief: Belief, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Estimate: the cell whose label is expected to lower the squared error most.

    As in the paper the expectation is taken at drawn rates; here of cells and for a finite pool.
    Where errors have kinds, it is taken under the predictive. Pending items count as expected
    outcomes.
    """
    expected = with_pending(belief, pending)
    if belief.metric.counts_errors:
        reward, numbers = question_drop(expected), {}
    else:
        theta = draw_cells(expected, rng)
        share = group_share(belief)
        weight = share**2 if belief.metric.pooled else share
        reward = weight[belief.group] * drawn_drop(expected, theta)
        numbers = {"drawn": theta}
    cell = argmax(np.where(left > 0, reward, -np.inf), rng)
    return choice(
        belief, cell, reward=reward[cell], **{name: value[cell] for name, value in numbers.items()}
    )
