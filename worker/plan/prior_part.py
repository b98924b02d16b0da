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
    strength: Annotated[Number, Field(gt=0)] = 2.0
