"""The plan: one YAML file that says what is assessed, how, and when to stop."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from worker.errors import NewerPlan, PlanError
from worker.metrics import METRICS, WORDS, Words, words_of_outputs
from worker.plan.annotation_part import AnnotationPlan
from worker.plan.defaults import with_defaults
from worker.plan.evaluate_part import EvaluatePlan
from worker.plan.fields import Mistakes, Name, PlanPart, Whole
from worker.plan.fitting import mistakes_between
from worker.plan.mistakes import sentences
from worker.plan.models_part import Models, mistakes_of_models, with_models
from worker.plan.notify_part import Duration, NotifyPlan
from worker.plan.pairs_fit import mistakes_of_pairs
from worker.plan.pool_part import PoolPlan
from worker.plan.prior_part import PriorPlan
from worker.plan.project_part import OPTIONAL
from worker.plan.question_part import QuestionPlan
from worker.plan.queue_fit import mistakes_of_queue
from worker.plan.queue_part import LabelStudioPlan, QueuePlan
from worker.plan.report_part import ReportPlan
from worker.plan.since_part import Since, mistakes_of_since
from worker.plan.source import read_yaml
from worker.plan.stop_part import StopPlan
from worker.plan.structure_fit import mistakes_of_structure, warnings_of_structure
from worker.plan.verdict_fit import mistakes_of_verdict
from worker.plan.verdict_part import with_verdict

Strategy = Literal[
    "random", "thompson", "top-two", "multiple-play", "epsilon-greedy", "bayes-ucb", "assay"
]
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def assessment_id(text: str) -> str:
    """Return the text if it may name an assessment: keys, folders and RQ's jobs are named by it.

    Raises:
        ValueError: it has other characters, or too many.
    """
    if not 1 <= len(text) <= 64 or not set(text) <= _ID_CHARACTERS or not text[0].isalnum():
        raise ValueError(
            f"came {text!r}, expected 1 to 64 letters (a-z), digits, underscores and hyphens, "
            "of which the first is a letter or a digit"
        )
    return text


class Plan(PlanPart):
    """An assessment as it was asked for; checked in itself, not yet against the predictions.

    Every default is filled in, also those that follow from other keys (`worker.plan.defaults`).
    """

    assessment: Annotated[Name, AfterValidator(assessment_id)]
    """its id: letters, digits, `_`, `-`."""
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = 1
    """fixes every random choice."""
    population: Literal["finite", "infinite"] = "finite"
    """`finite`: the accuracy on this very pool; `infinite`: on all items like it."""
    since: Since | None = OPTIONAL
    """the assessment that this one continues: its id on this server, or the file of its export;
    see below."""
    models: Models = OPTIONAL
    pool: PoolPlan
    question: QuestionPlan
    prior: PriorPlan = PriorPlan()
    strategy: Strategy = "assay"
    """`assay`, or `thompson`, `top-two`, `multiple-play`, `epsilon-greedy`, `bayes-ucb`,
    `random`."""
    stop: StopPlan = StopPlan()
    annotation: AnnotationPlan = AnnotationPlan()
    evaluate: EvaluatePlan | None = None
    queue: QueuePlan = QueuePlan()
    label_studio: LabelStudioPlan = LabelStudioPlan()
    report: ReportPlan = ReportPlan()
    notify: tuple[NotifyPlan, ...] = ()
    stall_after: Duration = "4h"
    """no label for so long, or an empty queue, is a stall."""

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        values = with_verdict(values)
        return with_defaults(values if values.get("models") is None else with_models(values))

    @field_validator("pool")
    @classmethod
    def _one_cell_if_infinite(cls, pool: PoolPlan, info: ValidationInfo) -> PoolPlan:
        if info.data.get("population") != "infinite":
            return pool
        if pool.opinions is not None:
            text = "an infinite population has one stratum a group, in which they tell nothing"
            raise Mistakes([("opinions", f"{text}; leave them out, or write `population: finite`")])
        if pool.strata > 1:
            text = f"came {pool.strata} with an infinite population, expected 1"
            raise Mistakes([("strata", f"{text}; strata need `population: finite`")])
        return pool

    @field_validator("stop")
    @classmethod
    def _rule_of_the_task(cls, stop: StopPlan, info: ValidationInfo) -> StopPlan:
        question: QuestionPlan | None = info.data.get("question")
        return stop.fitted_to(question) if question is not None else stop

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        found = mistakes_between(
            self.pool,
            self.question,
            self.prior,
            self.stop,
            self.annotation,
            self.evaluate,
            self.population,
            self.strategy,
        )
        found += mistakes_of_queue(
            self.pool, self.queue.mode, self.label_studio.given, self.annotation, self.population
        )
        found += mistakes_of_models(
            self.models, self.pool, self.question, self.prior, self.stop, self.annotation,
            self.strategy,
            {
                "since": self.since,
                "pool.project": self.pool.project,
                "annotation.gold": self.annotation.gold,
                "population": self.population == "infinite",
            },
        )  # fmt: skip
        found += mistakes_of_verdict(self.annotation.verdict, self.pool, self.question, self.models)
        found += mistakes_of_structure(
            self.pool, self.question, self.prior, self.models is not None, self.since is not None
        )
        found += mistakes_of_pairs(
            self.pool, self.question, self.stop, self.annotation, self.population,
            self.since is not None,
        )  # fmt: skip
        found += mistakes_of_since(self.since, self.assessment, self.question.task)
        if found:
            raise Mistakes(found)
        return self

    @property
    def metric(self) -> str:
        """What a group's value is: the question's metric, or the measure of the task evaluate."""
        return self.question.metric if self.evaluate is None else self.evaluate.measure

    @property
    def words(self) -> Words:
        """How one speaks about the groups' values."""
        judged = self.annotation.verdict is not None
        return words_of_outputs(self.metric) if judged else WORDS[self.metric]

    def warnings(self) -> list[str]:
        """Return what is allowed but probably not meant."""
        found, prior, has_models = [], self.prior, self.models is not None
        # strata of a comparison of models have a rate in common, whatever the prior
        if prior.kind == "uniform" and self.pool.strata > 1 and not has_models:
            found.append(
                f"pool.strata is {self.pool.strata} with a uniform prior: a uniform prior in every "
                "stratum adds up to a far too certain one for the group, so the assessment may "
                "stop too early; use `strata: 1`, or `prior: {kind: empirical}`"
            )
        is_believed = prior.kind == "informative" and self.stop.guarantee != "anytime"
        if is_believed and not has_models:
            found.append(
                "prior.kind is informative: what is published is as right as the scores are "
                "calibrated, and wrong most of the time where they are too high; leave it out for "
                "a prior that is learnt from the labels"
            )
        if prior.kind == "empirical" and prior.strength != METRICS[self.question.metric].strength:
            cure = "leave it out" + ("" if has_models else ", or use `kind: informative`")
            found.append(
                f"prior.strength is {prior.strength:g} with an empirical prior, whose strength is "
                f"fitted to the labels: it has no effect; {cure}"
            )
        return found + warnings_of_structure(self.pool, self.question, prior)


def load_plan(
    path: Path | str,
    for_simulation: bool = False,
    asking: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """Read and check a plan file; the paths in it are taken relative to its folder.

    Args:
        path: the YAML file.
        for_simulation: nobody will label anything, so `assessment` and `pool.data` may be absent.
        asking: a `question` in place of the plan's, and what of `pool` is otherwise for it; the
            rule and the strata follow by default.

    Raises:
        PlanError: it cannot be read, or is not a plan: all its mistakes, one a line.
    """
    path = Path(path)
    values, lines = read_yaml(path)
    if for_simulation:
        values = {"assessment": as_id(path)} | values
        pool = values.get("pool", {} if "models" in values else None)
        if isinstance(pool, dict):
            values["pool"] = {"data": {}} | pool
    if asking is not None:
        kept = {key: value for key, value in values.items() if key not in ("stop", "strategy")}
        pool = {k: v for k, v in values["pool"].items() if k not in ("strata", "pairs_by")}
        pool |= asking.get("pool", {})
        values = kept | {"question": asking["question"], "pool": pool}
    context = {"folder": path.resolve().parent, "for_simulation": for_simulation}
    try:
        return Plan.model_validate(values, context=context)
    except ValidationError as error:
        raise PlanError(sentences(error, Plan, lines), str(path)) from error


# What a later release may add to a plan: keys, choices, kinds of a part.
_NEWER = frozenset({"extra_forbidden", "literal_error", "union_tag_invalid"})


# The watcher goes round all of a server's assessments: with fewer places than those none is found.
@lru_cache(maxsize=8192)
def stored_plan(text: str) -> Plan:
    """Return the plan that a ledger keeps as JSON; it never changes.

    Raises:
        NewerPlan: a newer release wrote it; this one does not know all that it asks for.
        ValueError: it is damaged: no release wrote it.
    """
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        if not {one["type"] for one in error.errors()} & _NEWER:
            raise ValueError(f"the stored plan is none: {error.errors()[0]['msg']}") from error
        unknown = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        raise NewerPlan(
            f"The stored plan has what this release does not know ({unknown}): a newer Assay "
            "started this assessment; upgrade Assay on this machine."
        ) from error


def as_id(path: Path) -> str:
    """Return the name of a file as an assessment's id."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", path.name.split(".")[0]).strip("-")[:64].rstrip("-")
    return words or "assessment"
