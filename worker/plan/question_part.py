"""The part of the plan that says what is asked about the groups."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from worker.metrics import METRICS
from worker.metrics.cost import NAMED_COSTS
from worker.plan.fields import FileAnywhere, Mistakes, Name, Number, PlanPart, Whole, anywhere
from worker.plan.group_spec import GroupBy, bins_spec
from worker.plan.project_part import OPTIONAL

Task = Literal["identify", "estimate", "compare", "evaluate"]
Metric = Literal[
    "accuracy", "bias", "ece", "cost", "confusion", "recall", "precision", "f1",
    "recall_by_class", "f1_by_class", "recall_macro", "precision_macro", "f1_macro",
    "judge_tpr", "judge_tnr",
]  # fmt: skip
Pairs = tuple[tuple[str, str], ...]

DEFAULT_COST_RATIO = 10.0
_METRICS_OF_KEY = {
    key: [other.name for other in METRICS.values() if key in other.keys]
    for metric in METRICS.values()
    for key in metric.keys
}


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


def _costs(value: Any) -> Any:
    if value is not None and not (isinstance(value, str | Path) and str(value).strip()):
        raise ValueError(f"came {value!r}, expected human, superclass, or the path of a CSV file")
    return value if value is None else str(value)


def _bins(value: Any) -> Any:
    if value is not None:
        bins_spec(value)
    return value


class QuestionPlan(PlanPart):
    """What the assessment is to find out about the groups."""

    task: Task
    """`identify` the extreme groups, `compare` pairs, `estimate` all; `evaluate`: tasks without a
    single truth, see below."""
    metric: Metric = "accuracy"
    """`accuracy`, `bias`, `ece`, `cost`, `confusion`, `recall`, `precision`, `f1`; of each
    class: `recall_by_class`, `f1_by_class` (its precision is `accuracy`); averaged over the
    classes: `recall_macro`, `precision_macro`, `f1_macro`; of a judge: `judge_tpr`,
    `judge_tnr`; see below."""
    which: Literal["lowest", "highest"] = "lowest"
    """the `lowest` or the `highest` groups. Default: lowest; `bias`, `ece`, `cost`: highest."""
    top: Annotated[Whole, Field(ge=1)] = 1
    """how many groups."""
    compare: Annotated[
        Pairs | Literal["all"] | None, BeforeValidator(_pairs), AfterValidator(_different)
    ] = None
    """`[a, b]`, a list of pairs, or `all`."""
    tolerance: Annotated[Number, Field(ge=0)] = 0.0
    """groups closer than this count as equal (in the unit of the metric)."""
    shortlist: Annotated[Whole, Field(ge=1)] | None = OPTIONAL
    """identify: name so many groups, among which the answer is; where two are nearly tied far
    fewer labels decide."""
    bins: Annotated[int | str | None, BeforeValidator(_bins)] = None
    """`ece` in groups that are no score bins: `10` equal-width bins, or `equal_mass(10)`.
    Default: 10."""
    costs: Annotated[str | None, BeforeValidator(_costs)] = None
    """`cost`: a CSV (rows: true class, columns: predicted), or `human` or `superclass`."""
    cost_ratio: Annotated[Number, Field(gt=0)] | None = None
    """`human`, `superclass`: how much dearer the grave errors are. Default: 10."""
    superclasses: FileAnywhere | None = None
    """`superclass`, `human`: a CSV with the columns `class` and `superclass`."""
    people: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """`human`: the classes that are a person. Default: those of the superclass `people`."""
    positive: Name | None = None
    """`recall`, `precision`, `f1`: the class to be found."""
    models: Annotated[tuple[Name, ...], Field(min_length=2)] | None = OPTIONAL
    """with several models: which ones are compared, pair by pair. Default: all."""
    where: Literal["overall", "groups", "both"] | None = OPTIONAL
    """with several models: compared `overall`, in the `groups` of a column, or `both`. Default:
    overall."""
    of: Literal["models"] | None = OPTIONAL
    """with several models, 2 to 100: `models`, to identify the best of them and not groups."""
    level: Annotated[
        Literal["parents"] | None,
        BeforeValidator(lambda value: None if value == "groups" else value),
    ] = OPTIONAL
    """`groups`, or `parents`: what is asked about. Default: groups."""

    @property
    def bin_factor(self) -> GroupBy | None:
        """The score bins inside every group that the metric ece asks for."""
        return None if self.bins is None else bins_spec(self.bins)

    @property
    def cost_path(self) -> Path | None:
        """The file with the costs, if they are not called by name."""
        is_named = self.costs is None or self.costs in NAMED_COSTS
        return None if is_named else Path(str(self.costs))

    @property
    def paths(self) -> dict[str, Path]:
        """The files that the question needs, by their keys in the plan."""
        files = {"question.costs": self.cost_path, "question.superclasses": self.superclasses}
        return {key: path for key, path in files.items() if path is not None}

    @model_validator(mode="before")
    @classmethod
    def _with_defaults_of_the_metric(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        metric = METRICS.get(str(values.get("metric", "accuracy")))
        is_high = metric is not None and metric.worst_is_highest
        filled: dict[str, Any] = {"which": "highest" if is_high else "lowest"} | values
        if values.get("costs") in NAMED_COSTS and values.get("cost_ratio") is None:
            filled["cost_ratio"] = DEFAULT_COST_RATIO
        return filled

    @field_validator("costs")
    @classmethod
    def _beside_the_plan(cls, costs: str | None, info: ValidationInfo) -> str | None:
        folder: Path | None = (info.context or {}).get("folder")
        if costs is None or costs in NAMED_COSTS or folder is None:
            return costs
        return str(anywhere(folder, costs))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = [*self._mistakes_of_the_task(), *self._mistakes_of_the_metric()]
        if found:
            raise Mistakes(found)
        return self

    def _mistakes_of_the_task(self) -> list[tuple[str, str]]:
        found = []
        if self.task == "compare" and self.compare is None and self.where is None:
            found.append(("compare", "missing; expected [group, group], a list of pairs, or all"))
        if self.task != "compare" and self.compare is not None:
            found.append(("compare", f"only the task compare has it; the task is {self.task}"))
        if self.task != "compare":
            found.extend(
                (key, f"only the task compare has it; the task is {self.task}")
                for key in ("models", "where")
                if getattr(self, key) is not None
            )
        if self.task != "identify":
            usual = {
                "which": "highest" if METRICS[self.metric].worst_is_highest else "lowest",
                "top": 1,
                "tolerance": 0.0,
                "shortlist": None,
            }
            found.extend(
                (key, f"only the task identify has it; the task is {self.task}")
                for key, value in usual.items()
                if getattr(self, key) != value
            )
        if self.task != "identify" and self.of is not None:
            found.append(("of", f"only the task identify has it; the task is {self.task}"))
        if self.shortlist is not None and self.shortlist <= self.top:
            text = f"came {self.shortlist}, expected more than question.top, which is {self.top}"
            found.append(("shortlist", f"{text}; without it the answer names just these"))
        if self.task == "evaluate" and self.metric != "accuracy":
            text = "the task evaluate has no metric; choose `evaluate.measure`"
            found.append(("metric", f"came {self.metric}, but {text}"))
        return found

    def _mistakes_of_the_metric(self) -> list[tuple[str, str]]:
        found = [
            (key, f"only the metric {' or '.join(metrics)} has it; the metric is {self.metric}")
            for key, metrics in _METRICS_OF_KEY.items()
            if getattr(self, key) is not None and self.metric not in metrics
        ]
        if found:
            return found
        if METRICS[self.metric].range is not None and self.tolerance >= 1:
            found.append(("tolerance", f"came the number {self.tolerance}, expected a number < 1"))
        return found + METRICS[self.metric].mistakes(self)
