"""Checks whether the parts of a plan fit each other; each part has checked itself before."""

from typing import Literal

from worker.metrics import METRICS
from worker.plan.annotation_part import AnnotationPlan
from worker.plan.evaluate_part import EvaluatePlan
from worker.plan.pool_part import PoolPlan
from worker.plan.prior_part import PriorPlan
from worker.plan.question_part import QuestionPlan
from worker.plan.stop_part import StopPlan


def mistakes_between(
    pool: PoolPlan,
    question: QuestionPlan,
    prior: PriorPlan,
    stop: StopPlan,
    annotation: AnnotationPlan,
    evaluate: EvaluatePlan | None,
    population: Literal["finite", "infinite"],
    strategy: str,
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything in which parts contradict each other."""
    found = [*_between_scores(pool, question, prior), *_between_groups(pool, question)]
    if stop.guarantee == "anytime" and population == "infinite":
        text = "came anytime with an infinite population; its bound is for these very items: write"
        found.append(("stop.guarantee", f"{text} `population: finite`, or `guarantee: posterior`"))
    found += _between_subjects(pool, question, annotation, evaluate)
    if question.task == "evaluate":
        found += _mistakes_of_evaluate(pool, prior, population, strategy)
    if stop.guarantee == "anytime" and annotation.rule != "first":
        text = f"came {annotation.rule}, but a claim that holds at any time needs one whole outcome"
        cure = "an item: write `rule: first`, or `guarantee: posterior`"
        found.append(("annotation.rule", f"{text} {cure}"))
    return found


def _between_subjects(
    pool: PoolPlan,
    question: QuestionPlan,
    annotation: AnnotationPlan,
    evaluate: EvaluatePlan | None,
) -> list[tuple[str, str]]:
    """What the task `evaluate` needs, and what it alone has."""
    found = []
    if question.task != "evaluate":
        if evaluate is not None:
            text = f"only the task evaluate has it; the task is {question.task}"
            found.append(("evaluate", text))
        if annotation.rule == "frequencies":
            text = "came frequencies, which are for tasks without a single truth; write"
            found.append(("annotation.rule", f"{text} `question: {{task: evaluate}}`"))
        return found
    if annotation.rule != "frequencies":
        text = f"came {annotation.rule}, but the task evaluate compares with all votes"
        found.append(("annotation.rule", f"{text}; write frequencies, or leave it out"))
    if annotation.gold is not None:
        text = "the task evaluate knows no true class that annotators could be held against"
        found.append(("annotation.gold", f"{text}; leave it out"))
    if pool.probabilities is None:
        text = "missing; the task evaluate compares the probabilities of all classes with the votes"
        found.append(("pool.probabilities", text))
    return found


def _mistakes_of_evaluate(
    pool: PoolPlan, prior: PriorPlan, population: Literal["finite", "infinite"], strategy: str
) -> list[tuple[str, str]]:
    found = []
    if population == "infinite":
        text = "came infinite, but the task evaluate asks for the mean over the pool's items"
        found.append(("population", f"{text}; leave it out"))
    if prior.kind != "empirical" and pool.has_scores:
        text = f"came {prior.kind}, but the task evaluate fits its prior to the votes"
        found.append(("prior.kind", f"{text}; leave it out"))
    if strategy not in ("assay", "random"):
        text = f"came {strategy}, which chooses by right and wrong answers; the task evaluate has"
        found.append(("strategy", f"{text} assay and random"))
    return found


def _between_scores(
    pool: PoolPlan, question: QuestionPlan, prior: PriorPlan
) -> list[tuple[str, str]]:
    found = []
    metric, of_metric = question.metric, METRICS[question.metric]
    if not pool.has_scores:
        cure = "but the pool has no scores; give `pool.probabilities`, or `pool.score`"
        if of_metric.needs_scores:
            text = f"came {metric}, which holds scores against labels, {cure}"
            found.append(("question.metric", text))
        is_empirical = prior.kind == "empirical" and of_metric.of_true_classes
        if prior.kind == "informative" or is_empirical:
            text = f"came {prior.kind}, which begins with the scores, {cure}, or write uniform"
            found.append(("prior.kind", text))
    elif of_metric.of_true_classes and pool.probabilities is None and prior.kind != "uniform":
        text = f"came {metric}, whose {prior.kind} prior needs the probabilities of all classes"
        cure = "give `pool.probabilities`, or write `prior: {kind: uniform}`"
        found.append(
            ("question.metric", f"{text}, but the pool has only the predicted one's score; {cure}")
        )
    return found


def _between_groups(pool: PoolPlan, question: QuestionPlan) -> list[tuple[str, str]]:
    metric, by, factors = question.metric, METRICS[question.metric].groups, pool.factors
    came = ", ".join(str(factor) for factor in factors)
    kinds = {factor.kind for factor in factors}
    if by == "predicted_class" and (len(factors) > 1 or kinds != {"predicted_class"}):
        text = f"came {came}, but the metric {metric} looks at one predicted class at a time"
        return [("pool.groups", f"{text}; write predicted_class")]
    if by == "attribute" and kinds & {"predicted_class", "superclass"}:
        text = f"came {came}, but groups by what was predicted have no {metric}"
        cure = "of their own; group by an attribute (a column), or by all_items"
        return [("pool.groups", f"{text} {cure}")]
    if question.bins is not None and any(factor.is_score_bin for factor in factors):
        text = f"came {question.bins}, but the groups ({came}) are score bins already"
        return [("question.bins", f"{text}; leave it out")]
    return []
