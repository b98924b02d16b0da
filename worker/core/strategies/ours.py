"""`assay`, the default strategy: it labels what tells most about the answer."""

import numpy as np

from worker.core.posterior.belief import Belief, filled_groups, group_labelled, group_share
from worker.core.posterior.hypothetical import with_pending
from worker.core.posterior.metrics import RATIOS
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
# As often a label of an estimate goes where labels are too few. Of a single group, of ECEs, and of
# recall, precision and F1, that is where they are fewest for its items; of other metrics of several
# groups where there are fewer than this share of those that even ones would be (the effects of
# groups take up some of what the curve misses). The others lie where the
# scores' curve is learnt fastest: of a classifier that is off only when it is surest the pool's
# accuracy was told too high, its 95% interval held in .15 of 60 runs after 1,280 labels. Were every
# other label even of several groups, too, the error of CIFAR-10 (ResNet) after 1,500 labels would
# be .0080 and not .0069, and outputs with a judge would take .56 and not .49 of the labels of
# random sampling; intervals held as often (16 and 6 runs). Of one group they did not: of all
# outputs, with a judge that is wrong the surer it is, in .75 of 24 runs for .85 of 40 after 1,000
# labels.
# Within a group that a comparison has chosen the same: of four groups of outputs (five kinds, 40
# runs) squared errors were 1.51 and 1.50 times what was said after 80 and 320 labels, and are 1.31
# and 1.15, with groups told apart as well.
EVEN, LEAST_SHARE = 0.5, 0.35
# Until an estimate has so many labels a group on average, all of them do: how far groups are apart
# is hardly known, and one in which an error was seen would get more labels, whose errors are then
# held against all groups. Where one of forty is mostly wrong and the others are right, the whole
# pool's 95% interval held in .79 of 100 runs after 80 labels, and in .86 after 320.
FEW = 5
# Where one class's recall, precision or F1 is asked and less than a tenth of the items is predicted
# so, even labels are fewer in proportion, but as many as a decision explores by: nearly all would
# be of items that are surely of another class. Of 45 positives in 150,000 the error of F1 after
# 1,000 labels was .010 with every other label even, as if an item more were missed, and 0 with one
# in ten (4 runs). Where a tenth is positive, that makes it larger: .103 for .085 after 80 labels.
_RARE = 0.1
_LEAST = 1e-12


def assay(belief: Belief, question: Question, left: Ints, pending: Ints, rng: Rng) -> Choice:
    """Choose the item that tells most about what is asked; the default for every task.

    Identify and compare: the label that has most information about the answer (`telling`).
    Estimate: the one that lowers the squared errors of the groups and of the whole pool most
    (`estimate_worth`), but the first ones (`FEW`), every other one where labels are too few
    (`EVEN`), and all for the ECE of a pool, which lie as items do; of a measure the item whose
    votes lower the variance of its mean over the pool most, and so narrow its interval most (every
    item costs the votes that the plan asks for). A label for a decision is now and then one of any
    item (`EXPLORE`), in a group that is compared every other one where labels are too few; pending
    items count as expected outcomes.

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
    told = telling(expected, known, question, rng)
    is_of_each = bool(known.of_classes.size)
    worth = known.of_classes @ told if is_of_each else known.drop * told[belief.group]
    group = belief.group[argmax(np.where(left > 0, worth, -np.inf), rng)]
    near = np.where(belief.group == group, left, 0)
    if question.task == "compare" and _is_by_curve(expected):
        due = np.where(near > 0, _due(expected, rng), 0.0) / group_share(expected)[group]
        if _is_short(due, group_labelled(expected)[group]) and rng.random() < EVEN:
            return _most(belief, due, near, rng)
    return _best(belief, worth, near, rng)


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
    n_labels = expected.right.sum() + expected.wrong.sum()
    n_groups = len(filled_groups(expected))
    is_few = expected.shared is not None and n_labels < FEW * n_groups
    is_ece = expected.metric.kind == "ece" and expected.metric.pooled
    due = _due(expected, rng)
    is_of_groups = n_groups > 1 and _is_by_curve(expected)
    is_short = not is_of_groups or _is_short(due, n_labels)
    if is_few or is_ece or (is_short and rng.random() < _even(expected)):
        return due
    return estimate_worth(expected)


def _is_by_curve(b: Belief) -> bool:
    """Whether a group's value is what the curve says of its items, or a cost of that."""
    return b.metric.kind not in (*RATIOS, "ece", "difference")


def _is_short(due: Floats, n_labels: float) -> bool:
    """Whether the cell that is due most has less than `LEAST_SHARE` of even labels."""
    return bool(due.max() * LEAST_SHARE * (n_labels + 1) > 1)


def _due(expected: Belief, rng: Rng) -> Floats:
    """(C,) the share of each cell over its labels: how much it is due where labels are even.

    Of one class's recall, precision and F1 half of them lie as the expected errors do: where
    positive items are rare, hardly one of the items that they are among would be labelled.

    Source:
        Cells in turn as by Sainte-Lague. Box & Draper, "A basis for the selection of a response
        surface design" (1959): where a curve may not fit, an even design is near the best.
    """
    share = expected.size / expected.size.sum()
    if _is_of_one_class(expected):
        rate = moments(expected).rate
        doubt = share * rate * (1 - rate)
        share = (share + doubt / max(doubt.sum(), _LEAST)) / 2
    offset = 1.0 - rng.random(share.size)  # down to 0: of many cells the first is any item's
    due: Floats = share / (expected.right + expected.wrong + offset)
    return due


def _even(b: Belief) -> float:
    """How often a label goes where labels are too few to lie as items do."""
    if not _is_of_one_class(b):
        return EVEN
    predicted = float(b.size[b.metric.unit == 1].sum() / b.size.sum())
    return max(EXPLORE, EVEN * min(1.0, predicted / _RARE))


def _is_of_one_class(b: Belief) -> bool:
    """Whether the recall, precision or F1 of a positive class is asked."""
    return b.metric.kind in RATIOS and b.metric.classes == "one"
