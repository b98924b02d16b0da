"""The plan: one YAML file that says what is assessed, how, and when to stop."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, field_validator

from worker.errors import PlanError
from worker.plan.fields import FilePath, Mistakes, Name, Number, PlanPart, Whole, later
from worker.plan.group_spec import GroupBy, group_factors
from worker.plan.mistakes import sentences
from worker.plan.pool_part import PoolPlan
from worker.plan.question_part import QuestionPlan, StopPlan
from worker.plan.source import read_yaml

_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _assessment_id(text: str) -> str:
    # It names keys, folders and RQ's jobs, which take these characters only.
    if not 1 <= len(text) <= 64 or not set(text) <= _ID_CHARACTERS or not text[0].isalnum():
        raise ValueError(
            f"came {text!r}, expected 1 to 64 letters (a-z), digits, underscores and hyphens, "
            "of which the first is a letter or a digit"
        )
    return text


def _web_address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"came {text!r}, expected an address such as http://localhost:8080")
    return text.rstrip("/")


class PriorPlan(PlanPart):
    """What is believed before the first label, worth `strength` labels a group."""

    kind: Annotated[
        Literal["uniform", "informative"], later("uniform and informative", "empirical")
    ] = "uniform"
    strength: Annotated[Number, Field(gt=0)] = 2.0


class AnnotationPlan(PlanPart):
    """How annotations become judgements."""

    control: Name | None = None
    per_item: Annotated[Whole, Field(ge=1)] = 1
    rule: Annotated[Literal["first"], later("first", "majority", "dawid-skene", "frequencies")] = (
        "first"
    )
    skips: Annotated[Whole, Field(ge=1)] = 2

    @field_validator("per_item")
    @classmethod
    def _one(cls, per_item: int) -> int:
        if per_item > 1:
            raise ValueError(
                f"came {per_item}, but this release takes one annotation an item; write 1"
            )
        return per_item


class QueuePlan(PlanPart):
    """How items reach the annotators."""

    look_ahead: Annotated[Whole, Field(ge=1)] = 3
    mode: Annotated[Literal["import"], later("import", "prioritise")] = "import"


class LabelStudioPlan(PlanPart):
    """Where Label Studio is and which project is used; the token is in the environment."""

    url: Annotated[Name, AfterValidator(_web_address)] | None = None
    project: Annotated[Literal["new"] | Whole, Field(union_mode="left_to_right")] = "new"
    title: Name | None = None
    config: FilePath | None = None
    instruction: str | None = None

    @field_validator("project", mode="before")
    @classmethod
    def _new_or_number(cls, project: Any) -> Any:
        is_number = isinstance(project, int) and not isinstance(project, bool) and project >= 1
        if project != "new" and not is_number:
            raise ValueError(f"came {project!r}, expected new or the number of a project")
        return project


class Plan(PlanPart):
    """An assessment as it was asked for; checked in itself, not yet against the predictions."""

    assessment: Annotated[Name, AfterValidator(_assessment_id)]
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = 1
    population: Literal["finite", "infinite"] = "finite"
    pool: PoolPlan
    question: QuestionPlan
    prior: PriorPlan = PriorPlan()
    strategy: Annotated[
        Literal["random", "thompson"],
        later(
            "random and thompson",
            "top-two", "multiple-play", "epsilon-greedy", "bayes-ucb", "assay",
        ),
    ] = "thompson"  # fmt: skip
    stop: StopPlan = StopPlan()
    annotation: AnnotationPlan = AnnotationPlan()
    queue: QueuePlan = QueuePlan()
    label_studio: LabelStudioPlan = LabelStudioPlan()

    @field_validator("pool")
    @classmethod
    def _one_cell_if_infinite(cls, pool: PoolPlan, info: ValidationInfo) -> PoolPlan:
        if info.data.get("population") == "infinite" and pool.strata > 1:
            text = f"came {pool.strata} with an infinite population, expected 1"
            raise Mistakes([("strata", f"{text}; strata need `population: finite`")])
        return pool

    @field_validator("stop")
    @classmethod
    def _rule_of_the_task(cls, stop: StopPlan, info: ValidationInfo) -> StopPlan:
        question: QuestionPlan | None = info.data.get("question")
        return stop.fitted_to(question.task) if question is not None else stop

    def warnings(self) -> list[str]:
        """Return what is allowed but probably not meant."""
        if self.prior.kind == "uniform" and self.pool.strata > 1:
            return [
                f"pool.strata is {self.pool.strata} with a uniform prior: a uniform prior in every "
                "stratum adds up to a far too certain one for the group, so the assessment may "
                "stop too early; use `strata: 1`, or `prior: {kind: informative}`"
            ]
        return []


def load_plan(path: Path | str) -> Plan:
    """Read and check a plan file; the paths in it are taken relative to its folder.

    Raises:
        PlanError: it cannot be read, or is not a plan: all its mistakes, one a line.
    """
    path = Path(path)
    values, lines = read_yaml(path)
    try:
        return Plan.model_validate(values, context={"folder": path.resolve().parent})
    except ValidationError as error:
        raise PlanError(sentences(error, Plan, lines), str(path)) from error


def plan_hash(plan: Plan) -> str:
    """Return the SHA-256 (hex) of the plan, the same on every machine: folders do not count."""
    values = plan.model_dump(mode="json")
    values["pool"] = without_folders(plan.pool)
    if plan.label_studio.config is not None:
        values["label_studio"]["config"] = plan.label_studio.config.name
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def without_folders(pool: PoolPlan) -> dict[str, Any]:
    """Return the plan of a pool as plain values, its files by their names only."""
    factors = [
        str(GroupBy("superclass", map_path=Path(f.map_path).name) if f.map_path else f)
        for f in group_factors(pool.groups)
    ]
    return pool.model_dump(mode="json") | {
        "predictions": pool.predictions.name,
        "groups": factors[0] if isinstance(pool.groups, str) else factors,
    }


def canonical_json(values: object) -> str:
    """Return JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
