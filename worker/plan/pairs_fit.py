"""Checks whether outputs of the same prompts can be compared in pairs under a plan."""

from typing import Literal

from worker.plan.annotation_part import AnnotationPlan
from worker.plan.pool_part import PoolPlan
from worker.plan.question_part import QuestionPlan
from worker.plan.stop_part import StopPlan


def mistakes_of_pairs(
    pool: PoolPlan,
    question: QuestionPlan,
    stop: StopPlan,
    annotation: AnnotationPlan,
    population: Literal["finite", "infinite"],
    has_since: bool,
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything that `pool.pairs_by` does not go with."""
    if pool.pairs_by is None:
        return []
    whys = {
        "outputs that a person judges are paired, and `annotation.verdict` is missing": (
            annotation.verdict is None
        ),
        f"pairs tell of differences, and the task is {question.task}": question.task != "compare",
        f"pass rates are compared in pairs, and the metric is {question.metric}": (
            question.metric != "accuracy"
        ),
        "a bound that holds at any time knows nothing of pairs": stop.guarantee == "anytime",
        "an infinite population has other prompts": population == "infinite",
        f"a pair needs one whole verdict an output, and the rule is {annotation.rule}": (
            annotation.rule != "first"
        ),
        "labels of an earlier assessment are of other pairs": has_since,
        "what opinions were worth is not told of pairs; leave `pool.opinions` out, too": (
            pool.opinions is not None
        ),
        "what groups lie within is not compared in pairs; leave `pool.parents` out, too": (
            pool.parents is not None
        ),
        "the outputs of a prompt lie in different groups, and it is a column of the groups": (
            pool.pairs_by in pool.group_columns
        ),
    }
    found = [why for why, is_so in whys.items() if is_so][:1]
    return [("pool.pairs_by", f"came {pool.pairs_by}, but {why}; leave it out") for why in found]
