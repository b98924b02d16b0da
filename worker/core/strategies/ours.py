"""`assay`, the default strategy: it labels what tells most about the answer."""

import numpy as np

from worker.core.posterior.belief import Belief
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.moments import moments
from worker.core.questions.question import Question
from worker.core.questions.rewards import estimate_worth
from worker.core.strategies.deciding import telling
from worker.core.strategies.picking import (
    Choice,
    Floats,
    Ints,
    Rng,
    any_item,
    argmax,
    checked,
    choice,
)

# How often any item of the chosen group is labelled, and not the one that tells most under the
# model: so that the model is tried where it feels sure.
EXPLORE = 0.1
# As often a label of an estimate goes where labels are too few to lie as items do. The others lie
# where the scores' curve is learnt fastest: of a classifier that is off only when it is surest the
# pool's accuracy was told too high, its 95% interval held in .15 of 60 runs after 1,280 labels.
EVEN = 0.5
# To estimate groups that share something: so many labels lie as an estimate of the whole pool asks
# for. Until what is shared is known, how far a label moves it is not: without, the superclasses of
# CIFAR-100 were off by .069 after 40 labels, and by .052 with it; twice as many, by .061.
SPREAD = 20


def assay(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose the item that tells most about what is asked; the default for every task.

    Identify and compare: the label that has most information about the answer (`telling`).
    Estimate: the one that lowers the squared errors of the groups and of the whole pool most
    (`estimate_worth`), but the first ones (`SPREAD`), and all for the ECE of a pool, of the cell
    that is due; of a measure the item whose votes lower the variance of its mean over the pool
    most, and so narrow its interval most (every item costs the votes that the plan asks for). A
    label for a decision is now and then one of any item (`EXPLORE`), every other one of an estimate
    lies as items do (`EVEN`); pending items count as expected outcomes.

    Source:
        Variance drops as in Ji, Logan, Smyth & Steyvers (AAAI 2021), Table 1, here for finite
        pools, cells and components.
    """
    left = checked(belief, question, left, pending)
    if belief.soft_labels is not None:
        return _best(belief, belief.soft_labels.drops(pending), left, rng)
    expected = with_pending(belief, pending)
    if question.task == "estimate":
        return _most(belief, _estimating(expected, rng), left, rng)
    known = moments(expected)
    worth = known.drop * telling(expected, known, question, rng)[belief.group]
    group = belief.group[argmax(np.where(left > 0, worth, -np.inf), rng)]
    return _best(belief, worth, np.where(belief.group == group, left, 0), rng)


def _best(belief: Belief, worth: Floats, near: Ints, rng: Rng) -> Choice:
    """The cell of most worth, or now and then that of any item, among the items `near` (C,)."""
    if rng.random() < EXPLORE:
        return choice(belief, any_item(near, rng), explored=1)
    return _most(belief, worth, near, rng)


def _most(belief: Belief, worth: Floats, near: Ints, rng: Rng) -> Choice:
    """The cell of most worth among the items `near` (C,)."""
    cell = argmax(np.where(near > 0, worth, -np.inf), rng)
    return choice(belief, cell, worth=worth[cell])


def _estimating(expected: Belief, rng: Rng) -> Floats:
    """(C,) what a label in each cell is worth to an estimate, or how much the cell is due.

    The ECE of a pool: labels lie as items do. Its prior knows calibration as a curve, and would
    have nine of ten labels at the curve's ends, from where the rest follows. Where the classifier
    is off in another way the ECE was then wrong by up to twice what was said, and where it is such
    a curve the error was no smaller.
    """
    if (expected.metric.kind == "ece" and expected.metric.pooled) or rng.random() < EVEN:
        return _due(expected, expected.size, rng)
    n_labels = expected.right.sum() + expected.wrong.sum()
    if expected.shared is not None and n_labels < SPREAD:
        rate = moments(expected).rate
        return _due(expected, expected.size * np.sqrt(rate * (1 - rate)), rng)
    return estimate_worth(expected)


def _due(expected: Belief, weight: Floats | Ints, rng: Rng) -> Floats:
    """(C,) how much each cell is due, where labels are to lie in proportion to the weights.

    Source:
        Cells in turn as by Sainte-Lague. Box & Draper, "A basis for the selection of a response
        surface design" (1959): where a curve may not fit, an even design is near the best; for a
        sum over strata Neyman, "On the two different aspects of the representative method" (1934):
        by size and standard deviation.
    """
    offset = 1.0 - rng.random(weight.size)  # down to 0: of many cells the first is any item's
    due: Floats = weight / (expected.right + expected.wrong + offset)
    return due
