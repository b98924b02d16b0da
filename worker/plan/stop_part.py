"""The part of the plan that says when the answer is good enough."""

from typing import Annotated, Literal, Self

from pydantic import Field

from worker.core.confidence_sequences.guarantee import GUARANTEED
from worker.metrics import METRICS
from worker.plan.fields import Mistakes, Number, PlanPart, Whole
from worker.plan.question_part import QuestionPlan, Task

RuleKind = Literal["mrr", "rope", "rmse", "width"]
RULES_OF_TASK: dict[Task, tuple[RuleKind, ...]] = {
    "identify": ("mrr",),
    "compare": ("rope",),
    "estimate": ("rmse", "width"),
    "evaluate": ("width",),
}
DEFAULT_RMSE = 0.02
DEFAULT_WIDTH = 0.1
DEFAULT_MEASURE_WIDTH = 0.02

Share = Annotated[Number, Field(gt=0, lt=1)]
Positive = Annotated[Number, Field(gt=0)]


class MrrRule(PlanPart):
    """Stop when P(mean reciprocal rank >= threshold) >= confidence."""

    threshold: Annotated[Number, Field(gt=0, le=1)] = 0.99
    """identify: the mean reciprocal rank that the answer must reach."""
    confidence: Share = 0.95
    """identify: the probability with which `stop.mrr.threshold` must be reached."""


class RopeRule(PlanPart):
    """Stop when every pair's difference is below, within or above ±epsilon with confidence."""

    epsilon: Annotated[Number, Field(ge=0)] = 0.05
    """compare: a difference that does not matter. Default: 0.05; of models 0.01."""
    confidence: Share = 0.95
    """compare: the probability that every pair needs."""


class StopPlan(PlanPart):
    """When the answer is good enough, or enough has been spent on it.

    rmse, width and epsilon are in the unit of the metric: below 1, but for costs.
    """

    mrr: MrrRule | None = None
    rope: RopeRule | None = None
    rmse: Positive | None = None
    """estimate: the expected root mean squared error; of a pool's ECE also if the classifier
    should not be calibrated. Default: 0.02."""
    width: Positive | None = None
    """estimate: the width of the widest 95% interval; of a pool's ECE as `stop.rmse`. Default:
    `anytime`: 0.1; `evaluate`: 0.02."""
    guarantee: Literal["posterior", "anytime"] = "posterior"
    """`posterior` or `anytime`: [what a decision says](../findings/README.md)."""
    budget: Annotated[Whole, Field(ge=1)] | None = None
    """end after so many labels in any case (inconclusive)."""
    min_per_group: Annotated[Whole, Field(ge=0)] = 0
    """labels that every group in question needs before the rule may hold (or all of its items)."""
    looks: Annotated[Whole, Field(ge=1)] = 1
    """at how many looks running the rule must hold with the same finding; a look is every 10%
    more labels, and at least four. Default: 2; for `rmse` and `width`, and of models, 3; with
    `guarantee: anytime` 1."""

    @property
    def rules(self) -> tuple[RuleKind, ...]:
        """The rules that are given; one, once the plan is read."""
        given: dict[RuleKind, object] = {
            "mrr": self.mrr, "rope": self.rope, "rmse": self.rmse, "width": self.width
        }  # fmt: skip
        return tuple(kind for kind, rule in given.items() if rule is not None)

    @property
    def kind(self) -> RuleKind:
        """The rule of the plan."""
        return self.rules[0]

    @property
    def target(self) -> float:
        """What the rule's number must reach: the threshold, epsilon, or the error or width."""
        if self.mrr is not None:
            return self.mrr.threshold
        if self.rope is not None:
            return self.rope.epsilon
        target = self.rmse if self.rmse is not None else self.width
        assert target is not None, "a plan that is read has a rule"
        return target

    @property
    def confidence(self) -> float | None:
        """How probable the claim must be; None where the rule is about an error or a width."""
        rule = self.mrr or self.rope
        return rule.confidence if rule else None

    def fitted_to(self, question: QuestionPlan) -> Self:
        """Return the stop rule for a question, with the task's own rule where none is given.

        Raises:
            ValueError: more than one rule, one that another task has, or one that cannot fire.
        """
        task, known = question.task, RULES_OF_TASK[question.task]
        if not self.rules:
            is_anytime = self.guarantee == "anytime"
            of_estimate = {"width": DEFAULT_WIDTH} if is_anytime else {"rmse": DEFAULT_RMSE}
            default: dict[Task, dict[str, object]] = {
                "identify": {"mrr": MrrRule()},
                "compare": {"rope": RopeRule()},
                "estimate": {**of_estimate},
                "evaluate": {"width": DEFAULT_MEASURE_WIDTH},
            }
            return self.model_copy(update=default[task]).fitted_to(question)
        if len(self.rules) > 1:
            raise ValueError(
                f"came {' and '.join(self.rules)}, expected one rule; the task {task} has "
                f"{' or '.join(known)}"
            )
        if self.kind not in known:
            raise ValueError(f"came {self.kind}, but the task {task} has {' or '.join(known)}")
        if found := self._mistakes_for(question):
            raise Mistakes(found)
        return self

    def _mistakes_for(self, question: QuestionPlan) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        if self.kind != "mrr" and self.target >= 1 and METRICS[question.metric].range is not None:
            key = "rope.epsilon" if self.kind == "rope" else self.kind
            text = f"came the number {self.target}, expected a number < 1"
            found.append((key, f"{text}; no {question.metric} is larger"))
        if self.guarantee == "anytime":
            other = "or write `guarantee: posterior`"
            if self.kind == "rmse":
                text = "came rmse, but an expected error has no bound that holds at any time"
                found.append(("guarantee", f"{text}; use `width`, {other}"))
            if question.metric not in GUARANTEED:
                text = f"came anytime, which has no bound for the metric {question.metric}"
                known = ", ".join(GUARANTEED)
                found.append(("guarantee", f"{text}; ask for one of {known}, {other}"))
        return found
