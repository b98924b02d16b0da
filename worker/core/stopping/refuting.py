"""Whether a rule surely does not hold yet: asked often, and answered at a tenth of the cost."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.core.posterior.belief import Belief
from worker.core.posterior.mixing import mixed
from worker.core.posterior.moments import moments
from worker.core.questions.comparison import region
from worker.core.questions.question import Question, StopRule
from worker.core.questions.ranking import ranking, set_confidence

_MANY = 1000  # groups
_NEAREST = (16, 128, 1024)


def is_far_from_holding(b: Belief, question: Question, rule: StopRule) -> bool:
    """Whether the rule surely does not hold, at a tenth of the cost of `decide`.

    P(the set is right) is at most P(its last group is not beyond its first rival), for mean
    reciprocal ranks that only the right set reaches. For simulations, which look often. Among more
    than 1,000 groups one rival seldom tells; there it is at most P(the set is right among itself
    and the 16, 128 or 1,024 rivals that come nearest), exactly: distributions of the others are not
    needed.
    """
    if rule.kind != "mrr" or rule.confidence is None or b.accuracies is not None:
        return False
    order, least = ranking(b, question.which), rule.confidence - 1e-9
    if question.n_named >= order.size:
        return False
    nearest = _NEAREST if order.size > _MANY else ()
    if question.shortlist is not None:  # of which any `top` would do: no pair decides
        return _is_refuted(b, question, order, least, (1, *nearest))
    if rule.target <= 1 - 1 / (2 * question.top):
        return False
    last, rival = int(order[question.top - 1]), int(order[question.top])
    below, _, above = region(b, last, rival, question.tolerance)
    beyond = above if question.which == "lowest" else below
    return 1 - beyond < least or _is_refuted(b, question, order, least, nearest)


def _is_refuted(
    b: Belief,
    question: Question,
    order: NDArray[np.intp],
    confidence: float,
    numbers: Sequence[int],
) -> bool:
    """Whether so many of the rivals alone keep the confidence in the set below `confidence`."""
    chosen, others = order[: question.n_named].tolist(), order[question.n_named :]
    known = moments(b)
    gap = np.abs(known.mean[others] - known.mean[chosen[-1]])
    spread = np.sqrt(known.variance[others] + known.variance[chosen[-1]])
    nearest = others[np.argsort(gap / np.maximum(spread, 1e-9), kind="stable")].tolist()

    def among(n: int) -> float:
        def plain(of: Belief) -> NDArray[np.float64]:
            return np.array(confidence_of_set(of, chosen, question, nearest[:n]))

        return float(mixed(b, plain))

    return any(among(n) < confidence for n in numbers)


def confidence_of_set(
    b: Belief, chosen: Sequence[int], question: Question, rivals: Sequence[int] | None = None
) -> float:
    """`set_confidence` of what a question asks of the chosen groups."""
    return set_confidence(b, chosen, question.which, question.tolerance, rivals, question.top)
