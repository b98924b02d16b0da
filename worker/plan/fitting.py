"""Checks whether the parts of a plan fit each other; each part has checked itself before."""

from typing import Literal

from worker.plan.pool_part import PoolPlan
from worker.plan.prior_part import PriorPlan
from worker.plan.question_part import QuestionPlan
from worker.plan.stop_part import StopPlan

OF_TRUE_CLASSES = ("cost", "confusion", "tpr")  # metrics that ask for more than right or wrong


def mistakes_between(
    pool: PoolPlan,
    question: QuestionPlan,
    prior: PriorPlan,
    stop: StopPlan,
    population: Literal["finite", "infinite"],
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything in which parts contradict each other."""
    found = [*_between_scores(pool, question, prior), *_between_groups(pool, question)]
    if stop.guarantee == "anytime" and population == "infinite":
        text = "came anytime with an infinite population; its bound is for these very items: write"
        found.append(("stop.guarantee", f"{text} `population: finite`, or `guarantee: posterior`"))
    return found


def _between_scores(
    pool: PoolPlan, question: QuestionPlan, prior: PriorPlan
) -> list[tuple[str, str]]:
    found = []
    metric = question.metric
    if not pool.has_scores:
        cure = "but the pool has no scores; give `pool.probabilities`, or `pool.score`"
        if metric in ("bias", "ece"):
            text = f"came {metric}, which holds scores against labels, {cure}"
            found.append(("question.metric", text))
        if prior.kind != "uniform":
            text = f"came {prior.kind}, which begins with the scores, {cure}, or write uniform"
            found.append(("prior.kind", text))
    elif metric in OF_TRUE_CLASSES and pool.probabilities is None and prior.kind != "uniform":
        text = f"came {metric}, whose {prior.kind} prior needs the probabilities of all classes"
        cure = "give `pool.probabilities`, or write `prior: {kind: uniform}`"
        found.append(
            ("question.metric", f"{text}, but the pool has only the predicted one's score; {cure}")
        )
    return found


def _between_groups(pool: PoolPlan, question: QuestionPlan) -> list[tuple[str, str]]:
    metric, factors = question.metric, pool.factors
    came = ", ".join(str(factor) for factor in factors)
    kinds = {factor.kind for factor in factors}
    if metric in ("cost", "confusion") and (len(factors) > 1 or kinds != {"predicted_class"}):
        text = f"came {came}, but the metric {metric} looks at one predicted class at a time"
        return [("pool.groups", f"{text}; write predicted_class")]
    if metric == "tpr" and kinds & {"predicted_class", "superclass"}:
        text = f"came {came}, but groups by what was predicted have no true positive rate"
        return [("pool.groups", f"{text} of their own; group by an attribute (a column)")]
    if question.bins is not None and any(factor.is_score_bin for factor in factors):
        text = f"came {question.bins}, but the groups ({came}) are score bins already"
        return [("question.bins", f"{text}; leave it out")]
    return []
