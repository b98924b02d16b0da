"""The part of the plan for outputs that a person judges: there is no class, only right or wrong."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from worker.metrics import METRICS
from worker.plan.fields import Mistakes, Name, PlanPart

Choices = Annotated[tuple[Name, ...], Field(min_length=1)]


class VerdictPlan(PlanPart):
    """The choices of annotators who see an output and say whether it is right."""

    right: Choices
    """outputs that a person judges, see below: the choices that count as right."""
    wrong: Choices
    """the choices that count as wrong; each is a kind of failure."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All that annotators choose from."""
        return (*self.right, *self.wrong)

    @property
    def classes(self) -> tuple[str, ...]:
        """What the pool has for classes: right, and the kinds of failure."""
        return (self.right[0], *self.wrong)

    @property
    def counts_as(self) -> dict[str, str]:
        """Further right choices -> the first one, as which they count."""
        return dict.fromkeys(self.right[1:], self.right[0])

    @model_validator(mode="after")
    def _named_once(self) -> "VerdictPlan":
        for key, names in (("right", self.right), ("wrong", self.wrong)):
            for name in names:
                if names.count(name) > 1:
                    raise Mistakes([(key, f"the choice {name} stands there twice; name it once")])
        both = [name for name in self.right if name in self.wrong]
        if both:
            text = f"came {', '.join(both)}, which `right` has too; a choice counts as one of them"
            raise Mistakes([("wrong", f"{text}: take it out of the other list")])
        return self


def with_verdict(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a plan in which outputs are judged with what follows filled in.

    That are the pool's classes, and what is positive where the judge is asked about.
    """
    annotation, pool = values.get("annotation"), values.get("pool")
    verdict = annotation.get("verdict") if isinstance(annotation, Mapping) else None
    if not isinstance(verdict, Mapping) or not isinstance(pool, Mapping):
        return values
    right: Any = verdict.get("right")
    wrong: Any = verdict.get("wrong")
    if not all(isinstance(names, list | tuple) and names for names in (right, wrong)):
        return values
    filled = values | {"pool": {"classes": [right[0], *wrong]} | dict(pool)}
    question = values.get("question")
    metric = METRICS.get(str(question.get("metric"))) if isinstance(question, Mapping) else None
    if isinstance(question, Mapping) and metric is not None and metric.judge_says is not None:
        positive = right[0] if metric.judge_says == "right" else wrong[0]
        filled["question"] = {"positive": positive} | dict(question)
    return filled
