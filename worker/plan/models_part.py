"""The part of the plan that names the models which are assessed with the same labels."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, model_validator

from worker.plan.annotation_part import AnnotationPlan
from worker.plan.fields import FilePath, Mistakes, Name, PlanPart, name_or_names
from worker.plan.pool_part import PoolPlan
from worker.plan.prior_part import PriorPlan
from worker.plan.question_part import QuestionPlan
from worker.plan.stop_part import StopPlan

DEFAULT_EPSILON = 0.01
_STRATA_TO_COMPARE = 8
# Before any label a gap of half of the items on which two models disagree is about as likely to be
# exceeded as not: P(equivalent) is .53, and .27 each that one of them is better by more.
_STRENGTH_TO_COMPARE = 1.0
_PREDICTION = ("predictions", "id", "probabilities", "predicted", "score")
_FEWEST, _MOST, _MOST_OF_BEST = 2, 8, 100
STRATA_OF_BEST = 16
# Claims of 95% about two models that differ by little more than the tolerance were right in .93 and
# .94 of 120 runs with two looks, in .95 and .96 with three, after a fifth to a third more labels.
_LOOKS_OF_BEST = 3


class ModelPlan(PlanPart):
    """One model: its name, and where its predictions of the pool's items are.

    The keys mean what they mean in `pool`; an `id` that is not given is the pool's.
    """

    name: Name
    """several models, 2 to 8 (to find the best, 100), are assessed with the same labels: the name
    of one; see below."""
    predictions: FilePath
    """the file of one of several models; items and groups are those of the first one's."""
    id: Name | None = None
    """as in `pool`. Default: the pool's."""
    probabilities: Annotated[
        str | tuple[str, ...] | None,
        BeforeValidator(
            lambda value: (
                None if value is None else name_or_names("a list of columns, or one")(value)
            )
        ),
    ] = None
    """as in `pool`."""
    predicted: Name | None = None
    """as in `pool`."""
    score: Name | None = None
    """as in `pool`."""

    @model_validator(mode="after")
    def _one_kind_of_prediction(self) -> "ModelPlan":
        if (self.probabilities is None) == (self.predicted is None):
            came = "both" if self.predicted is not None else "neither"
            text = f"came {came}, expected either `probabilities`, or `predicted` (with `score`)"
            raise Mistakes([("predicted", text)])
        if self.probabilities is not None and self.score is not None:
            text = "came beside `probabilities`, which have the scores; leave it out"
            raise Mistakes([("score", text)])
        return self


def _several(models: tuple[ModelPlan, ...] | None) -> tuple[ModelPlan, ...] | None:
    if models is None:
        return None
    if not _FEWEST <= len(models) <= _MOST_OF_BEST:
        cure = "one model alone is the plan's `pool`"
        if len(models) > _FEWEST:
            cure = "leave out those that are surely not the best, or those that are nearly the same"
        raise ValueError(
            f"came {len(models)} of them, expected {_FEWEST} to {_MOST}, or to {_MOST_OF_BEST} if "
            f"the question is of models; {cure}"
        )
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the name {name} stands there twice; give each model its own")
    return models


Models = Annotated[tuple[ModelPlan, ...] | None, AfterValidator(_several)]


def with_models(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a plan with several models, with what follows from them filled in.

    The items themselves (what annotators see, columns to group by) are those of the first model's
    file, which `pool` then describes.
    """
    filled = dict(values)
    models = values["models"]
    pool, question, stop, prior = (
        values.get(key, {}) for key in ("pool", "question", "stop", "prior")
    )
    first = models[0] if isinstance(models, list | tuple) and models else {}
    if isinstance(first, ModelPlan):
        first = first.model_dump(exclude_none=True)
    is_compared = isinstance(question, dict) and question.get("task") == "compare"
    if is_compared and isinstance(question, dict):
        filled["question"] = {"where": "overall"} | question
        has_scores = isinstance(first, dict) and (
            first.get("score") is not None or first.get("probabilities") is not None
        )
        if isinstance(prior, dict):
            kind = "informative" if has_scores else "uniform"
            prior = {"kind": kind, "strength": _STRENGTH_TO_COMPARE} | prior
            filled["prior"] = prior
        if isinstance(stop, dict):
            rope = stop.get("rope") or {}
            if isinstance(rope, dict):
                filled["stop"] = stop | {"rope": {"epsilon": DEFAULT_EPSILON} | rope}
    is_of_models = isinstance(question, dict) and question.get("of") == "models"
    if is_of_models and isinstance(stop, dict):
        filled["stop"] = {"looks": _LOOKS_OF_BEST} | stop
    if isinstance(pool, dict) and isinstance(first, dict):
        is_cut = is_compared and isinstance(prior, dict) and prior["kind"] == "informative"
        is_cut = is_cut and values.get("population") != "infinite"
        strata = {"strata": _STRATA_TO_COMPARE} if is_cut else {}
        has_scores = first.get("score", first.get("probabilities")) is not None
        if is_of_models and has_scores:
            strata = {"strata": STRATA_OF_BEST}
        known = {key: first[key] for key in _PREDICTION if first.get(key) is not None}
        filled["pool"] = strata | pool | known
    return filled


def mistakes_of_models(
    models: Sequence[ModelPlan] | None,
    pool: PoolPlan,
    question: QuestionPlan,
    prior: PriorPlan,
    stop: StopPlan,
    annotation: AnnotationPlan,
    strategy: str,
    others: Mapping[str, object],
) -> list[tuple[str, str]]:
    """Return the key and a sentence for everything that several models do not go with.

    Args:
        others: by its key, what else of the plan must not be given.
    """
    if models is None:
        given = {"models": question.models, "where": question.where, "of": question.of}
        text = "only a plan with several models has it; name them under `models`"
        return [(f"question.{key}", text) for key, value in given.items() if value is not None]
    found = [
        (key, "a plan with several models does not have it; leave it out")
        for key, value in others.items()
        if value
    ]
    names = [model.name for model in models]
    found += _mistakes_of_number(len(models), question)
    found += _leaks(models, pool)
    if question.task not in ("compare", "identify"):
        text = f"came {question.task}, but several models are asked which is better, or for their"
        found.append(("question.task", f"{text} worst groups: write compare or identify"))
    if question.metric != "accuracy":
        text = f"came {question.metric}, but several models are compared by their accuracy; write"
        found.append(("question.metric", f"{text} accuracy, or assess each model alone"))
    if question.compare is not None:
        text = "compares groups of one model; with several models write `question.models`"
        found.append(("question.compare", text))
    for name in question.models or ():
        if name not in names:
            text = f"the model {name!r} is not known; the models are {', '.join(names)}"
            found.append(("question.models", text))
    if question.task == "compare":
        found += _mistakes_of_compare(pool, question, prior)
    if question.task == "identify" and pool.has_scores and prior.kind != "empirical":
        text = f"came {prior.kind}, but the prior of each model's groups is fitted to the labels"
        found.append(("prior.kind", f"{text}; leave it out"))
    if annotation.rule != "first":
        text = f"came {annotation.rule}, but several models are told apart by one whole class an"
        found.append(("annotation.rule", f"{text} item; write `rule: first`"))
    if stop.guarantee == "anytime":
        text = "came anytime, whose bounds are for one model; write `guarantee: posterior`, or"
        found.append(("stop.guarantee", f"{text} assess each model alone"))
    if strategy not in ("assay", "random"):
        text = f"came {strategy}, which knows one model; several models have assay and random"
        found.append(("strategy", text))
    return found


def _mistakes_of_number(n_models: int, question: QuestionPlan) -> list[tuple[str, str]]:
    if question.of is None:
        if n_models <= _MOST:
            return []
        text = f"came {n_models} of them, expected {_FEWEST} to {_MOST}; more, to {_MOST_OF_BEST},"
        return [
            ("models", f"{text} only to find the best: `question: {{task: identify, of: models}}`")
        ]
    key = "top" if question.shortlist is None else "shortlist"
    named = question.top if question.shortlist is None else question.shortlist
    if named < n_models:
        return []
    text = f"came {named}, expected less than the {n_models} models"
    return [(f"question.{key}", f"{text}; name fewer of them")]


def _leaks(models: Sequence[ModelPlan], pool: PoolPlan) -> list[tuple[str, str]]:
    """Columns of the file whose items annotators see that are what another model says."""
    found = []
    for model in models:
        listed = model.probabilities or ()
        columns = {*((listed,) if isinstance(listed, str) else listed)}
        columns |= {column for column in (model.predicted, model.score) if column is not None}
        found += [
            (f"pool.data.{key}", f"the column {column} holds what the model {model.name} says")
            for key, column in pool.data.items()
            if column in columns and model.predictions == pool.predictions
        ]
    return [
        (key, f"{text}, which annotators must not see; show them another column")
        for key, text in found
    ]


def _mistakes_of_compare(
    pool: PoolPlan, question: QuestionPlan, prior: PriorPlan
) -> list[tuple[str, str]]:
    found = []
    kinds = {factor.kind for factor in pool.factors}
    if question.where != "overall" and kinds != {"column"}:
        came = ", ".join(map(str, pool.factors))
        text = f"came {came}, but models are compared in groups that they share: name a column"
        found.append(("pool.groups", f"{text}, or write `question: {{where: overall}}`"))
    if prior.kind == "empirical":
        text = "came empirical, but what scores say of disagreements is not fitted; write"
        found.append(("prior.kind", f"{text} informative (strata by scores) or uniform (none)"))
    return found
