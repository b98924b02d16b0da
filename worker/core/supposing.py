"""Beliefs that are not held but tried out: one label later, queue returned, turned round."""

from dataclasses import replace

from worker.core.posterior import Belief, Counts, cell_mean


def with_pending(b: Belief, pending: Counts) -> Belief:
    """The belief as if the claimed items had come back with their expected outcomes.

    So the variance of a group shrinks with every item queued in it, while its mean stays: what is
    already on its way to an annotator is not asked for again. To choose by, never to decide by.

    Args:
        pending: (C,) whole, >= 0; claimed and not yet judged.

    Raises:
        ValueError: a cell has more labelled and pending items than items.
    """
    rate = cell_mean(b)
    return replace(b, right=b.right + pending * rate, wrong=b.wrong + pending * (1 - rate))


def labelled(b: Belief, cell: int, is_right: bool) -> Belief:
    """The belief after one more label in `cell`."""
    counts = (b.right if is_right else b.wrong).copy()
    counts[cell] += 1
    return replace(b, right=counts) if is_right else replace(b, wrong=counts)


def mirrored(b: Belief) -> Belief:
    """The belief about every group's share of wrong answers: right and wrong change places."""
    return replace(b, right=b.wrong, wrong=b.right, alpha=b.beta, beta=b.alpha)
