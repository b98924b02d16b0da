"""The part of the plan that says what is believed before the first label."""

from typing import Annotated, Literal

from pydantic import Field

from worker.plan.fields import Number, PlanPart


class PriorPlan(PlanPart):
    """What is believed before the first label, worth `strength` labels a group.

    The strength of an empirical prior is fitted; then the number here means nothing. To compare
    models the scores only cut strata, whose rates are alike (`worker.core.posterior.differences`).
    """

    kind: Literal["uniform", "informative", "empirical"] = "uniform"
    """`empirical` (learnt from scores and labels), `informative` (the scores are believed; to
    compare models they only cut strata), `uniform`. Default: empirical; `cost` and
    `confusion` without probabilities: uniform; to compare models: informative, without scores
    uniform."""
    strength: Annotated[Number, Field(gt=0)] = 2.0
    """of the other two kinds, in pseudo-labels a cell (to compare models, a group). Default: 2;
    `cost`, `confusion`, to compare models: 1."""
