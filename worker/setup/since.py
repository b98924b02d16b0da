"""Continuing an assessment with another pool: what the earlier one leaves to it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worker.core.drift.shift import scores_differ, shares_differ
from worker.core.posterior.belief import group_labelled, group_share, group_size
from worker.core.posterior.intervals import interval, whole
from worker.core.posterior.summary import mean
from worker.formats import counted
from worker.metrics import METRICS
from worker.plan import Plan
from worker.plan.since_part import since_file
from worker.pool import Pool
from worker.pool.continued import continued, in_cells, needs_scores
from worker.pool.since import Inputs, Since, Then
from worker.setup.earlier import Earlier, NotContinuable, exported, on_server

if TYPE_CHECKING:
    from worker.service.context import Context

Ints = NDArray[np.int64]


def with_earlier(
    plan: Plan,
    pool: Pool,
    pools: Path,
    context: Callable[[], AbstractContextManager[Context]] | None,
) -> Pool:
    """The pool of a plan, as one that continues the assessment that the plan names, if any.

    Args:
        pools: where compiled pools are kept.
        context: opens the server's assessments; None where there is no server.

    Raises:
        NotContinuable: the earlier assessment leaves nothing to this one, or is not to be had.
        NoSuchAssessment: there is none with that id.
        PoolChanged: its compiled pool is gone.
    """
    if plan.since is None:
        return pool
    file = since_file(plan.since)
    if file is not None:
        return continue_with(plan, pool, exported(file, pools))
    if context is None:
        raise NotContinuable(
            f"since: came {plan.since}, but a simulation asks no server; write `assay export "
            f"{plan.since} --to {plan.since}.json`, and `since: {plan.since}.json`."
        )
    with context() as here:
        return continue_with(plan, pool, on_server(here, plan.since))


def taken_over(since: Since) -> str:
    """What a plan's check says of the assessment that it continues."""
    verb = "is" if since.labels == 1 else "are"
    text = f"{counted(since.labels, 'label')} of {since.assessment} {verb} taken over"
    if since.status == "running":
        text += " as they are now (it is still running: what comes later is not)"
    if since.left_out:
        they = "is left out, for it is" if since.n_left_out == 1 else "are left out, for they are"
        left = ", ".join(f"{name} ({n})" for name, n in list(since.left_out.items())[:5])
        text += f"; {since.n_left_out:,} {they} of what is not here: {left}"
    return text


def continue_with(plan: Plan, pool: Pool, earlier: Earlier) -> Pool:
    """The pool of a plan, compiled on its own, as one that continues an earlier assessment.

    Raises:
        NotContinuable: none of its labels belongs to a group of this pool, or none could say to
            which cell of its group.
    """
    work, items = earlier.work, earlier.items
    if pool.known is not None:
        raise NotContinuable(
            f"since: this pool begins with {counted(pool.n_known, 'label')} of its project "
            f"already, and with those of {work.plan.assessment} none could say which is which; "
            "leave `since` out, or the labels of the project."
        )
    of_judge = [METRICS[one.question.metric].judge_says is not None for one in (work.plan, plan)]
    if of_judge[0] != of_judge[1]:
        whose = ["outputs", "the judge"] if of_judge[1] else ["the judge", "outputs"]
        raise NotContinuable(
            f"since: {work.plan.assessment} asked about {whose[0]}, this plan asks about "
            f"{whose[1]}, whose labels lie in other cells; continue one with the same "
            "`question.metric`, or leave `since` out."
        )
    if not work.pool.has_scores and needs_scores(pool, plan.question.positive):
        cure = "write `strata: 1` under `pool`, or " if plan.pool.strata > 1 else ""
        raise NotContinuable(
            f"since: the predictions of {work.plan.assessment} have no scores, but this pool is "
            "cut by its scores into several cells a group, so none could say to which of them its "
            f"labels belong; {cure}leave `since` out."
        )
    known, missing = in_cells(
        items, pool, plan.question.positive, METRICS[plan.question.metric].of_true_classes
    )
    if not known:
        there = ", ".join(list(missing)[:3]) or "no labels"
        raise NotContinuable(
            f"since: no label of {work.plan.assessment} belongs to a group of this pool (it has "
            f"{there}); group both pools by the same classes or columns, or leave `since` out."
        )
    belief = work.believe(earlier.tally)
    is_alike = work.plan.metric == plan.metric and belief.metric.kind == plan.question.metric
    then: list[Then | None] = [None] * len(pool.group_names)
    if is_alike:
        places = {name: g for g, name in enumerate(work.pool.group_names)}
        size, labels, share = group_size(belief), group_labelled(belief), group_share(belief)
        means, bounds = mean(belief), interval(belief)
        for at, name in enumerate(pool.group_names):
            g = places.get(name)
            if g is not None and size[g]:
                centre, low, high = (round(float(x), 6) for x in (means[g], *bounds[g]))
                n, part = int(labels[g]), round(float(share[g]), 6)
                then[at] = Then(centre, low, high, n, int(size[g]), part)
    overall = tuple(round(float(x), 6) for x in whole(belief)) if is_alike else None
    since = Since(
        base=pool.hash,
        assessment=work.plan.assessment,
        status=earlier.status,
        text=earlier.text,
        metric=work.plan.metric,
        labels=sum(known.values()),
        tally=dict(known),
        left_out=dict(missing),
        then=tuple(then),
        overall=overall,  # type: ignore[arg-type]
        inputs=_inputs(work.pool, pool),
    )
    return continued(pool, since)


def _inputs(then: Pool, now: Pool) -> Inputs:
    """How the predictions differ."""
    was: Ints = np.zeros(0, np.int64)
    is_now: Ints = was
    classes = None
    if set(then.classes) == set(now.classes):
        order = np.array([then.classes.index(name) for name in now.classes])
        was = np.bincount(then.predicted, minlength=order.size)[order].astype(np.int64)
        is_now = np.bincount(now.predicted, minlength=order.size).astype(np.int64)
        classes = shares_differ(was, is_now)
    scores = None
    if then.has_scores and now.has_scores:
        scores = scores_differ(then.score.astype(np.float64), now.score.astype(np.float64))
    return Inputs(
        None if classes is None else classes.p,
        None if classes is None else round(classes.distance, 6),
        None if scores is None else scores.p,
        None if scores is None else round(scores.distance, 6),
        tuple(was.tolist()),
        tuple(is_now.tolist()),
    )
