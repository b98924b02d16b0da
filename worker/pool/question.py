"""Checks that the question of a plan can be asked of a pool."""

from itertools import combinations

import numpy as np

from worker.errors import PlanError
from worker.metrics import METRICS
from worker.nearest import listed, nearest_first
from worker.plan import Plan
from worker.pool.file import Pool
from worker.pool.models import Models


def check_question(plan: Plan, pool: Pool) -> None:
    """Check the question of a plan against the groups of its pool.

    Raises:
        PlanError: `question.top`, or the shortlist, leaves no group out, `question.compare` names a
            group that is not known or has no items, there are too few groups that have items, or
            the budget is spent before the stop rule may fire.
    """
    task, (key, named) = plan.question.task, _named(plan)
    if pool.models is not None:
        _check_models(plan, pool.models)
        return
    n_groups = int((pool.group_size > 0).sum())
    empty = pool.empty_groups()
    without = f" (without items: {listed(empty)})" if empty else ""
    if task not in ("estimate", "evaluate") and n_groups < 2:
        raise PlanError(
            [
                f"pool.groups: {n_groups} group has items{without}, but the task {task} needs at "
                "least two; group by something else"
            ]
        )
    if task == "identify" and named >= n_groups:
        have = f"the {n_groups} groups that have items{without}"
        raise PlanError([f"{key}: came {named}, expected less than {have}"])
    if task == "compare":
        compared_pairs(plan, pool)
    if task == "evaluate":
        _check_evaluation(plan)
    if plan.question.positive is not None:
        _check_positive(plan.question.metric, plan.question.positive, pool)
    _check_budget(plan, pool)


def _named(plan: Plan) -> tuple[str, int]:
    """How many groups an answer names, and the key that says so."""
    if plan.question.shortlist is not None:
        return "question.shortlist", plan.question.shortlist
    return "question.top", plan.question.top


def _check_models(plan: Plan, models: Models) -> None:
    """Check what is asked of several models, each in its own groups."""
    if plan.question.task == "compare" or plan.question.of == "models":
        return
    problems = []
    key, named = _named(plan)
    for m, name in enumerate(models.names):
        filled = np.unique(models.own[:, m]).size
        if named >= filled:
            problems.append(
                f"{key}: came {named}, expected less than the {filled} groups of the model {name} "
                "that have items"
            )
    if problems:
        raise PlanError(problems)


def _check_positive(metric: str, positive: str, pool: Pool) -> None:
    """Check that the positive class is predicted somewhere; of precision, in every group."""
    predicted = np.bincount(
        pool.cell_group, np.where(pool.cell_unit == 1, pool.cell_size, 0), len(pool.group_names)
    )
    if not predicted.any() and (says := METRICS[metric].judge_says) is not None:
        score = "below a half" if says == "right" else "a half or more"
        raise PlanError(
            [
                f"question.metric: the judge calls no output {says} (its score is {score} of all), "
                "so this is 0 without a label; ask for its bias, which tells how far it is off"
            ]
        )
    if not predicted.any():
        raise PlanError(
            [
                f"question.positive: no item is predicted {positive}, so its recall and F1 are 0 "
                "without a label, and it has no precision; name a class that is predicted"
            ]
        )
    without = [
        name
        for name, n, size in zip(pool.group_names, predicted, pool.group_size, strict=True)
        if size and not n
    ]
    if metric == "precision" and without:
        raise PlanError(
            [
                f"question.metric: no item of {listed(without)} is predicted {positive}, so it has "
                "no precision there; group by something coarser, or ask for f1"
            ]
        )


def _check_evaluation(plan: Plan) -> None:
    """Check what annotators are to be asked; experiments on votes in a file take more."""
    problems = []
    if plan.evaluate is not None and plan.evaluate.measure == "auc":
        problems.append(
            "evaluate.measure: came auc, which is one number of all items at once, so that votes "
            "on some of them narrow it in no foreseeable way; write l2 or kl, and ask for the AUC "
            "with `assay evaluate --experiment uncertainty` once the votes are there"
        )
    if plan.annotation.per_item == 1:
        problems.append(
            "annotation.per_item: came 1, but one vote an item does not tell how far people "
            "disagree; ask for 3 votes an item, or more"
        )
    if problems:
        raise PlanError(problems)


def _check_budget(plan: Plan, pool: Pool) -> None:
    if pool.models is not None:
        return  # a label counts in the groups of several models
    least, budget = plan.stop.min_per_group, plan.stop.budget
    # what is known from the beginning costs no label
    n_open = np.bincount(pool.cell_group, pool.cell_open, len(pool.group_names)).astype(int)
    compared = sorted({group for pair in compared_pairs(plan, pool) for group in pair})
    asked = n_open[compared] if plan.question.task == "compare" else n_open
    needed = int(np.minimum(asked, least).sum())
    if budget is not None and needed > budget:
        raise PlanError(
            [
                f"stop.budget: came {budget}, but {least} labels in every group in question "
                f"(`stop.min_per_group`) are {needed}, so the rule could never fire; allow more "
                "labels, or ask for fewer in each group"
            ]
        )


def compared_pairs(plan: Plan, pool: Pool) -> tuple[tuple[int, int], ...]:
    """Return the pairs of groups to compare, by their index; none for another task.

    Raises:
        PlanError: a group is not known, or has no items; names the known ones, nearest first.
    """
    asked = plan.question.compare
    filled = [int(group) for group in pool.group_size.nonzero()[0]]
    if asked is None:
        return ()
    if asked == "all":
        return tuple(combinations(filled, 2))
    place = {pool.group_names[group]: group for group in filled}
    problems = []
    for name in dict.fromkeys(name for pair in asked for name in pair):
        if name in place:
            continue
        state = "has no items" if name in pool.group_names else "is not known"
        known = listed(nearest_first(name, place))
        problems.append(f"question.compare: the group {name!r} {state}; the groups are {known}")
    if problems:
        raise PlanError(problems)
    return tuple((place[first], place[second]) for first, second in asked)
