"""What a plan with several models makes of its pool: what is asked, and the beliefs at first."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from worker.assessment.outcomes import Outcomes
from worker.assessment.several import Asked, Several, side_by_side
from worker.core.posterior.belief import Belief, replaced
from worker.core.posterior.views import (
    Layout,
    View,
    apart_from,
    believed_difference,
    fused_logit,
    joined,
    of_difference,
    of_model,
)
from worker.core.prior import empirical
from worker.core.prior.hyperparameters import Covariate, Scores, unfitted
from worker.core.questions.question import Question
from worker.plan import Plan
from worker.pool import Pool
from worker.pool.models import ALL_ITEMS, Models

Ints = NDArray[np.int64]

NO_DIFFERENCE = "no difference"

# What it says of a model's accuracy that all others disagree with it, beside what all their scores
# say together: weak normal prior (mean, standard deviation), in logits. In fits to all labels of
# six pairs and two triples of published models it was -1.6 to 1.4; where scores do not tell who is
# right, it may be three times as much (`make calibration`, ten points in a hundred).
_APART = (0.0, 3.0)


def several(plan: Plan, pool: Pool, meaning: Outcomes) -> Several:
    """What a plan with several models makes of its pool."""
    assert pool.models is not None, "a pool of several models has them"
    make = _compared if plan.question.task == "compare" else _identified
    return make(plan, pool, meaning, pool.models)


def _compared(plan: Plan, pool: Pool, meaning: Outcomes, models: Models) -> Several:
    question, layout = plan.question, models.layout
    number = {name: m for m, name in enumerate(models.names)}
    among = [number[name] for name in question.models or models.names]
    views, asked = [], []
    for first, second in combinations(among, 2):
        places: list[tuple[Ints, tuple[str, ...]]] = []
        if question.where in ("overall", "both"):
            places.append((np.zeros(layout.size.size, np.int64), (ALL_ITEMS,)))
        if question.where in ("groups", "both"):
            places.append((models.own[:, 0], models.own_names[0]))
        for group, names in places:
            view = of_difference(layout, first, second, group, len(names))
            views.append(view)
            asked += [Asked(first, second, name) for name in names]
    view = joined(views)
    common = np.full((view.n_groups, 3), plan.prior.strength / 3)
    filled = np.flatnonzero(np.bincount(view.group, view.size, view.n_groups)[:-1])
    pairs = tuple((int(g), len(asked)) for g in filled)
    return Several(
        models, pool, meaning, Question("compare", pairs=pairs, epsilon=plan.stop.target), (view,),
        (*(_named(models, one) for one in asked), NO_DIFFERENCE), tuple(asked),
        replaced(believed_difference(view, common), n_labels=0), (),
    )  # fmt: skip


def _named(models: Models, asked: Asked) -> str:
    both = f"{models.names[asked.first]} − {models.names[asked.second]}"
    return both if asked.group == ALL_ITEMS else f"{both} · {asked.group}"


def _identified(plan: Plan, pool: Pool, meaning: Outcomes, models: Models) -> Several:
    layout, parts, views, scores = models.layout, [], [], []
    for m in range(len(models.names)):
        view = of_model(layout, m, models.own[:, m], len(models.own_names[m]))
        own = _scores(layout, m, view)
        none = np.zeros(view.group.size, dtype=np.int64)
        before = unfitted(own.weak)
        alpha, beta, mixture = empirical.prior_of(before.mode, own, before.covariance)
        part = Belief(
            view.group, view.size, none, none, alpha, beta, view.n_groups, "finite", mixture
        )
        shared = empirical.shared_of(before, own, part.size, part.group, part.n_groups)
        parts.append(replaced(part, shared=shared, _memo={}))
        views.append(view)
        scores.append(own)
    asked = plan.question
    names = tuple(
        f"{name}: {group}"
        for name, groups in zip(models.names, models.own_names, strict=True)
        for group in groups
    )
    question = Question(
        "identify", asked.which, asked.top, tolerance=asked.tolerance, shortlist=asked.shortlist
    )
    return Several(
        models, pool, meaning, question, tuple(views), names, (), side_by_side(tuple(parts), 0),
        tuple(scores),
    )  # fmt: skip


def _scores(layout: Layout, model: int, view: View) -> Scores:
    logit = view.of_cells(fused_logit(layout, model))
    sizes = np.bincount(view.group, view.size, view.n_groups)
    of_group = np.bincount(view.group, view.size * logit, view.n_groups) / np.maximum(sizes, 1)
    centre = float(of_group @ sizes / sizes.sum())
    apart = Covariate(view.of_cells(apart_from(layout, model)), *_APART)
    return Scores(logit, (of_group - centre)[view.group], (apart,))
