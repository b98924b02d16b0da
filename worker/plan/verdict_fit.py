"""Checks whether a plan fits outputs that a person judges, or has a prediction."""

from collections.abc import Sequence

from worker.metrics import METRICS
from worker.plan.models_part import ModelPlan
from worker.plan.pool_part import PoolPlan
from worker.plan.question_part import QuestionPlan
from worker.plan.verdict_part import VerdictPlan


def mistakes_of_verdict(
    verdict: VerdictPlan | None,
    pool: PoolPlan,
    question: QuestionPlan,
    models: Sequence[ModelPlan] | None,
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything that outputs which are judged do not go with."""
    metric = METRICS[question.metric]
    if verdict is None and metric.judge_says is not None:
        text = f"came {metric.name}, which is of a judge of outputs; say what people call right by"
        cure = "`annotation: {verdict: ...}`; of a class that is predicted use recall"
        return [("question.metric", f"{text} {cure}")]
    if verdict is None:
        text = "came no predicted, expected either `probabilities`, or `predicted` and `score`"
        text += "; of outputs that a person judges, `annotation: {verdict: ...}`"
        return [("pool", text)] if pool.is_of_outputs else []
    if models is not None:
        text = "came beside `annotation.verdict`; put all models' outputs into one file, and group"
        return [("models", f"{text} by the column that names the model")]
    if pool.project is not None:
        text = f"came {pool.project} beside `annotation.verdict`; outputs come from a file"
        return [("pool.project", f"{text}: export them, and name it under `pool.predictions`")]
    found = []
    for key in ("predicted", "probabilities"):
        if getattr(pool, key) is not None:
            text = "came beside `annotation.verdict`, but of outputs no class is predicted; leave"
            cure = "it out (how likely each is right, by a judge, is `pool.score` alone)"
            found.append((f"pool.{key}", f"{text} {cure}"))
    if pool.classes != verdict.classes:
        text = "came beside `annotation.verdict`, whose choices are the classes; leave it out"
        found.append(("pool.classes", text))
    kinds = {factor.kind for factor in (*pool.factors, *filter(None, [pool.parent_factor]))}
    for kind in sorted(kinds & {"predicted_class", "superclass"}):
        text = f"came {kind}, but of outputs no class is predicted; name columns, as in"
        found.append(("pool.groups", f"{text} [model, topic]"))
    if question.task in ("identify", "compare") and kinds == {"all_items"}:
        text = f"missing; the task {question.task} needs columns whose values are told apart, as in"
        found.append(("pool.groups", f"{text} `groups: [model, topic]`"))
    if question.task == "evaluate":
        text = "came evaluate, which compares class probabilities with votes; outputs that are"
        found.append(("question.task", f"{text} judged have identify, compare and estimate"))
    if metric.judge_says is not None:
        found += _mistakes_of_judge(verdict, question, pool)
    elif metric.of_true_classes or metric.groups != "any":
        text = f"came {metric.name}, which asks for true classes; outputs that are judged have"
        cure = "accuracy (their pass rate), bias, ece, judge_tpr and judge_tnr"
        found.append(("question.metric", f"{text} {cure}"))
    for at, opinion in enumerate(pool.opinions or ()):
        if opinion.kind in ("predicted", "probabilities"):
            text = f"came {opinion.name}, which gives a class, but outputs have none; a judge's"
            cure = "probability that the output is right is `right: COLUMN`"
            found.append((f"pool.opinions.{at}", f"{text} {cure}"))
    return found


def _mistakes_of_judge(
    verdict: VerdictPlan, question: QuestionPlan, pool: PoolPlan
) -> list[tuple[str, str]]:
    found = []
    if question.positive not in (verdict.right[0], verdict.wrong[0]):
        text = f"came {question.positive} beside {question.metric}, which says itself what is to be"
        found.append(("question.positive", f"{text} found; leave it out"))
    if any(factor.is_score_bin for factor in pool.factors):
        text = f"came {pool.groups}, but the judge says the same of all outputs of a score bin"
        found.append(("pool.groups", f"{text}; group by columns, or leave it out"))
    return found
