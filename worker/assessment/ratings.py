"""What annotators may answer, and how ratings and verdicts become classes of the pool."""

from __future__ import annotations

from collections.abc import Sequence

from connector.ratings import Bins
from worker.evaluator.frequencies import reordered
from worker.plan import Plan


def answers(plan: Plan, classes: Sequence[str]) -> tuple[tuple[str, ...], Bins | None]:
    """What annotators may answer: the classes, and with a scale their numbers, in its order.

    Of outputs that they judge, all choices of the verdict.

    Raises:
        EvaluatorError: the scale has another number of classes than the pool.
    """
    if plan.annotation.verdict is not None:
        return plan.annotation.verdict.choices, None
    if plan.evaluate is None or plan.evaluate.scale is None:
        return tuple(classes), None
    scale = plan.evaluate.scale.scale
    order = reordered(scale, classes).tolist()
    return tuple(classes[k] for k in order), Bins(scale.edges, scale.is_whole)
