"""Checks whether sites, rows left out, parents of groups and opinions fit the rest of a plan."""

from worker.plan.pool_part import PoolPlan
from worker.plan.prior_part import PriorPlan
from worker.plan.question_part import QuestionPlan


def mistakes_of_structure(
    pool: PoolPlan, question: QuestionPlan, prior: PriorPlan, has_models: bool, has_since: bool
) -> list[tuple[str, str]]:
    """Return the key and a sentence for all that sites, parents or opinions cannot go with."""
    found = _mistakes_of_opinions(pool, question, prior, has_models, has_since)
    if question.level is not None and pool.parents is None:
        text = "came parents, but the groups have none; write `pool.parents`, such as"
        found.append(("question.level", f"{text} superclass(map.csv), or leave it out"))
    if question.level is not None and question.task == "evaluate":
        found.append(("question.level", "the task evaluate has none; leave it out"))
    for key, is_there in (("parents", pool.parents is not None), ("sites", pool.sites is not None)):
        if not is_there:
            continue
        place = "pool.parents" if key == "parents" else "pool.predictions"
        for other, is_other in (("models", has_models), ("since", has_since)):
            if is_other:
                text = f"{key} cannot go with `{other}`; assess them one after the other"
                found.append((place, text))
    if pool.drop is not None and not may_drop(pool, question, has_models):
        text = "rows are left out of the files of one model alone; without `models`, `pool.project`"
        found.append(("pool.drop", f"{text} and the task evaluate"))
    if pool.sites is not None and question.task == "evaluate":
        text = "the task evaluate reads one file; join the files of the sites"
        found.append(("pool.predictions", text))
    return found


def _mistakes_of_opinions(
    pool: PoolPlan, question: QuestionPlan, prior: PriorPlan, has_models: bool, has_since: bool
) -> list[tuple[str, str]]:
    if pool.opinions is None:
        return []
    whys = {
        "several models are each other's opinions already": has_models,
        "earlier labels are not told apart by them": has_since,
        "the task evaluate does not use them": question.task == "evaluate",
        "the metric ece holds scores against labels, which opinions say nothing of": (
            question.metric == "ece"
        ),
        f"the prior is {prior.kind}, and what they tell is learnt by the empirical one": (
            prior.kind != "empirical"
        ),
    }
    found = [("pool.opinions", f"{why}; leave them out") for why, is_so in whys.items() if is_so]
    return found[:1]  # of several models the prior is another one, which nobody wrote


def may_drop(pool: PoolPlan, question: QuestionPlan, has_models: bool) -> bool:
    """Whether rows may be left out: not where several files speak of the same items."""
    return not has_models and pool.project is None and question.task != "evaluate"


def warnings_of_structure(pool: PoolPlan, question: QuestionPlan, prior: PriorPlan) -> list[str]:
    """Return what is allowed for parents and opinions but probably not meant."""
    found = _warnings_of_opinions(pool)
    # of the parents themselves it is asked what their own labels say
    if pool.parents is None or question.level is not None or prior.kind == "empirical":
        return found
    return [
        *found,
        f"pool.parents is {pool.parents}, but the prior is {prior.kind}, so that labels of a group "
        "tell nothing of its siblings; write `prior: {kind: empirical}`",
    ]


def _warnings_of_opinions(pool: PoolPlan) -> list[str]:
    if pool.opinions is None:
        return []
    found = [
        f"pool.opinions: {one.name} is the column {column}, by which the pool is grouped: it is "
        "the same of all items of a group, and tells nothing within groups; leave it out"
        for one in pool.opinions
        for column in one.columns
        if one.predictions is None and one.predicted is None and column in pool.group_columns
    ]
    if pool.strata == 1:
        found.append(
            "pool.strata is 1: opinions tell of whole groups only, as every group is one stratum; "
            "leave `strata` out"
        )
    return found
