"""The parts of the plan that say what is asked, and when the answer is good enough."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from worker.plan.fields import Mistakes, Number, PlanPart, Whole, later

Task = Literal["identify", "estimate", "compare"]
RuleKind = Literal["mrr", "rope", "rmse", "width"]
RULES_OF_TASK: dict[Task, tuple[RuleKind, ...]] = {
    "identify": ("mrr",),
    "compare": ("rope",),
    "estimate": ("rmse", "width"),
}
DEFAULT_RMSE = 0.02

Pairs = tuple[tuple[str, str], ...]
Share = Annotated[Number, Field(gt=0, lt=1)]


def _pairs(value: Any) -> Any:
    """Read `[a, b]`, `[[a, b], [c, d]]` or `all`."""
    if value is None or value == "all":
        return value
    expected = "expected [group, group], a list of such pairs, or all"
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"came {value!r}, {expected}")
    pairs = [value] if not any(isinstance(item, list | tuple) for item in value) else value
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(f"came {pair!r}, {expected}")
        for name in pair:
            if not isinstance(name, str):
                raise ValueError(f"came {name!r}, expected the name of a group; write it in quotes")
    return tuple(tuple(pair) for pair in pairs)


def _different(value: Pairs | Literal["all"] | None) -> Pairs | Literal["all"] | None:
    if isinstance(value, tuple):
        seen: set[frozenset[str]] = set()
        for pair in value:
            if pair[0] == pair[1]:
                raise ValueError(f"came {pair[0]} twice, expected two different groups")
            if frozenset(pair) in seen:
                raise ValueError(f"the pair {pair[0]}, {pair[1]} stands there twice")
            seen.add(frozenset(pair))
    return value


class QuestionPlan(PlanPart):
    """What the assessment is to find out about the groups."""

    task: Annotated[Task, later("identify, estimate and compare", "evaluate")]
    metric: Annotated[
        Literal["accuracy"], later("accuracy", "bias", "ece", "cost", "confusion", "tpr")
    ] = "accuracy"
    which: Literal["lowest", "highest"] = "lowest"
    top: Annotated[Whole, Field(ge=1)] = 1
    compare: Annotated[
        Pairs | Literal["all"] | None, BeforeValidator(_pairs), AfterValidator(_different)
    ] = None
    tolerance: Annotated[Number, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _fits_the_task(self) -> Self:
        found = []
        if self.task == "compare" and self.compare is None:
            found.append(("compare", "missing; expected [group, group], a list of pairs, or all"))
        if self.task != "compare" and self.compare is not None:
            found.append(("compare", f"only the task compare has it; the task is {self.task}"))
        if self.task != "identify":
            of_identify = QuestionPlan.model_fields
            found.extend(
                (key, f"only the task identify has it; the task is {self.task}")
                for key in ("which", "top", "tolerance")
                if getattr(self, key) != of_identify[key].default
            )
        if found:
            raise Mistakes(found)
        return self


class MrrRule(PlanPart):
    """Stop when P(mean reciprocal rank >= threshold) >= confidence."""

    threshold: Annotated[Number, Field(gt=0, le=1)] = 0.99
    confidence: Share = 0.95


class RopeRule(PlanPart):
    """Stop when every pair's difference is below, within or above ±epsilon with confidence."""

    epsilon: Annotated[Number, Field(ge=0, lt=1)] = 0.05
    confidence: Share = 0.95


class StopPlan(PlanPart):
    """When the answer is good enough, or enough has been spent on it."""

    mrr: MrrRule | None = None
    rope: RopeRule | None = None
    rmse: Share | None = None
    width: Share | None = None
    guarantee: Annotated[Literal["posterior"], later("posterior", "anytime")] = "posterior"
    budget: Annotated[Whole, Field(ge=1)] | None = None

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

    def fitted_to(self, task: Task) -> Self:
        """Return the stop rule for a task, with the task's own rule where none is given.

        Raises:
            ValueError: more than one rule, or one that another task has.
        """
        known = RULES_OF_TASK[task]
        if not self.rules:
            default: dict[Task, dict[str, object]] = {
                "identify": {"mrr": MrrRule()},
                "compare": {"rope": RopeRule()},
                "estimate": {"rmse": DEFAULT_RMSE},
            }
            return self.model_copy(update=default[task])
        if len(self.rules) > 1:
            raise ValueError(
                f"came {' and '.join(self.rules)}, expected one rule; the task {task} has "
                f"{' or '.join(known)}"
            )
        if self.kind not in known:
            raise ValueError(f"came {self.kind}, but the task {task} has {' or '.join(known)}")
        return self
