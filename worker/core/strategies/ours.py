"""`assay`, the default strategy: it labels where the answer is still open."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from worker.core.belief import Belief, by_group, group_size
from worker.core.comparison import pairs_asked
from worker.core.joint import correlations, joint_loadings
from worker.core.moments import Moments, moments
from worker.core.question import Question
from worker.core.rewards import question_drop
from worker.core.shared import own_part
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
)
from worker.core.supposing import with_pending

# How often any item of the chosen group (of the pool, to estimate) is labelled, and not the one
# that tells most under the model: so that the model is tried where it feels sure.
EXPLORE = 0.1
_DRAWS = (8, 56)  # at first, and once more if they all agree
_WIDER = (1.0, 2.0, 4.0, 8.0)  # how far draws are stretched while they all agree


def assay(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose the item that tells most about what is still open; the default for every task.

    Identify: two posterior draws that disagree about the set of `top` groups; a group that one of
    them has and the other has not, the more uncertain one first. Compare: one of the pairs by how
    open it is; the label that lowers Var(V_1 - V_2) most. Estimate: the label that lowers the
    squared error most; for the ECE of a pool one of the cell that is due (`_due`); of a measure the
    item whose votes lower the variance of its mean over the pool most, and so narrow its interval
    most (every item costs the votes that the plan asks for). Within a group the cell whose label
    lowers its variance most. All of it with a little chance (`EXPLORE`); pending items count as
    expected outcomes.

    Groups are drawn from normals with the exact means and variances of their values, which move
    together by what groups share: the shape of a law decides what is published, not what is looked
    at next.

    Source:
        Set-valued form of top-two Thompson sampling (Russo 2016); variance drops as in Ji, Logan,
        Smyth & Steyvers (AAAI 2021), Table 1, here for finite pools, cells and nodes.
    """
    left = checked(belief, question, left, pending)
    if belief.judged is not None:
        return _of_votes(belief, belief.judged.drops(pending), left, rng)
    expected = with_pending(belief, pending)
    if question.task == "estimate":
        is_curve = belief.metric.kind == "ece" and belief.metric.pooled
        worth = _due(expected, rng) if is_curve else question_drop(expected)
        if rng.random() < EXPLORE:
            return choice(belief, any_item(left, rng), explored=1)
        cell = argmax(np.where(left > 0, worth, -np.inf), rng)
        return choice(belief, cell, reward=worth[cell])
    known, in_group = moments(expected), by_group(belief, left)
    if question.task == "compare":
        groups, numbers = _open_pair(expected, known, question, in_group, rng)
    else:
        groups, numbers = disputed(expected, known, question, in_group, rng)
    return _in_one_of(belief, known, groups, left, rng, numbers)


def _due(expected: Belief, rng: Rng) -> Floats:
    """(C,) how much each cell is due for a label: labels for the ECE of a pool lie as items do.

    Its prior knows calibration as a curve, and would have nine of ten labels at the curve's ends,
    from where the rest follows. Where the classifier is off in another way the ECE was then wrong
    by up to twice what was said, and where it is such a curve the error was no smaller.

    Source:
        Box & Draper, "A basis for the selection of a response surface design" (1959): where a curve
        may not fit, an even design is near the best. Cells in turn as by Sainte-Lague.
    """
    due: Floats = expected.size / (expected.right + expected.wrong + rng.uniform(0.01, 1.0))
    return due


def _of_votes(belief: Belief, drops: Floats, left: Ints, rng: Rng) -> Choice:
    if rng.random() < EXPLORE:
        return choice(belief, any_item(left, rng), explored=1)
    cell = argmax(np.where(left > 0, drops, -np.inf), rng)
    return choice(belief, cell, reward=drops[cell])


def _in_one_of(
    belief: Belief,
    known: Moments,
    groups: NDArray[np.intp],
    left: Ints,
    rng: Rng,
    numbers: dict[str, float],
) -> Choice:
    """The best cell of these groups, or now and then any item of the group that has it."""
    cells = [best_cell(belief, int(g), left, known.drop, rng) for g in groups]
    cell = cells[argmax(known.drop[cells], rng)]
    if rng.random() < EXPLORE:
        own = np.where(belief.group == belief.group[cell], left, 0)
        return choice(belief, any_item(own, rng), explored=1, **numbers)
    return choice(belief, cell, drop=known.drop[cell], **numbers)


def disputed(
    belief: Belief, known: Moments, question: Question, in_group: Ints, rng: Rng
) -> tuple[NDArray[np.intp], dict[str, float]]:
    """Groups with items left about which two draws disagree: one of each side, if there is one.

    If none are found among many draws, the draws are stretched, so that there always is a choice
    and never a fixed one.
    """
    groups = np.flatnonzero(group_size(belief))
    mean, sd = known.mean[groups], np.sqrt(known.variance[groups])
    load = joint_loadings(belief)[groups]
    own = own_part(load)
    if question.which == "highest":
        mean = -mean
    is_open = in_group[groups] > 0
    if question.top >= groups.size:
        at = np.flatnonzero(is_open)
        return groups[at[rng.integers(at.size, size=1)]], {}
    for wider in _WIDER:
        for n in _DRAWS:
            z = rng.standard_normal((n, groups.size + load.shape[1]))
            scores = z[:, : groups.size] * own + z[:, groups.size :] @ load.T
            drawn = mean + wider * sd * scores
            in_set = _lowest(drawn, question.top)
            disputed = in_set[1:] != in_set[0]
            useful = (disputed & is_open).any(axis=1)
            if not useful.any():
                continue
            other = int(useful.argmax())
            sides = [disputed[other] & in_set[0] & is_open, disputed[other] & ~in_set[0] & is_open]
            one_each = [
                members[rng.integers(members.size)]
                for members in map(np.flatnonzero, sides)
                if members.size
            ]
            return groups[one_each], {"draws": other + 2, "stretched": wider}
    at = np.flatnonzero(is_open)
    return groups[at[rng.integers(at.size, size=1)]], {"draws": 0}


def _lowest(drawn: Floats, top: int) -> NDArray[np.bool_]:
    """(n, G) whether a group is among the `top` lowest of its row."""
    in_set = np.zeros(drawn.shape, dtype=bool)
    if top == 1:
        in_set[np.arange(len(drawn)), drawn.argmin(axis=1)] = True
    else:
        at = np.argpartition(drawn, top - 1, axis=1)[:, :top]
        np.put_along_axis(in_set, at, True, axis=1)
    return in_set


def _open_pair(
    belief: Belief, known: Moments, question: Question, in_group: Ints, rng: Rng
) -> tuple[NDArray[np.intp], dict[str, float]]:
    """The groups with items left of one pair; drawn by how open the pair's region is."""
    pairs = np.array(pairs_asked(belief, question))
    pairs = pairs[(in_group[pairs] > 0).any(axis=1)]
    first, second = pairs.T
    delta = known.mean[first] - known.mean[second]
    variance = known.variance[first] + known.variance[second]
    if (rho := correlations(belief, pairs)) is not None:
        variance = variance - 2 * rho * np.sqrt(known.variance[first] * known.variance[second])
    sd = np.sqrt(np.maximum(variance, 1e-18))
    below = special.ndtr((-question.epsilon - delta) / sd)
    above = special.ndtr((delta - question.epsilon) / sd)
    confidence = np.max([below, 1 - below - above, above], axis=0)
    doubt = np.maximum(1 - confidence, 1e-12)
    at = int(np.searchsorted(np.cumsum(doubt), rng.random() * doubt.sum()))
    at = min(at, len(pairs) - 1)
    pair = pairs[at]
    return pair[in_group[pair] > 0], {"confidence": float(confidence[at])}
