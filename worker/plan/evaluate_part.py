"""The part of the plan that compares a predictor with the votes of many people (soft labels)."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from worker.evaluator.errors import EvaluatorError
from worker.evaluator.options import Options
from worker.evaluator.scales import Scale, binned, ordinal
from worker.plan.fields import FilePath, Mistakes, Name, Number, PlanPart, Whole

EvaluatorName = Literal["uniform", "dirichlet", "ndod", "zero-mean-ndod", "bnn"]
_USUAL = Options()


class ScalePlan(PlanPart):
    """How ratings become classes: whole numbers, each a class, or bins between edges."""

    low: Whole | None = None
    """ratings are whole numbers, each a class: the least."""
    high: Whole | None = None
    """ratings are whole numbers, each a class: the greatest."""
    edges: tuple[Number, ...] | None = None
    """in place of `low` and `high`: ratings become classes between these edges."""

    @property
    def scale(self) -> Scale:
        """The scale that is meant."""
        if self.edges is not None:
            return binned(self.edges)
        assert self.low is not None, "checked"
        assert self.high is not None, "checked"
        return ordinal(self.low, self.high)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        expected = "expected `low` and `high` (whole numbers), or `edges` of bins"
        ends = [end for end in (self.low, self.high) if end is not None]
        if (self.edges is not None) == bool(ends) or len(ends) == 1:
            given = [key for key in ("low", "high", "edges") if getattr(self, key) is not None]
            raise ValueError(f"came {' and '.join(given) or 'neither'}, {expected}")
        _said(lambda: self.scale)
        return self


def _folds(value: Any) -> Any:
    if value == 1 and not isinstance(value, bool):
        raise ValueError("came the number 1, expected 0 (no folds), 2 or more")
    return value


class EvaluatePlan(PlanPart):
    """What the votes are, and how the predictor is compared with them."""

    human: FilePath | None = None
    """`task: evaluate`, see below: a file with the votes of every item. Default: the annotations
    in Label Studio."""
    column: Name | None = None
    """the column of the votes in `evaluate.human`, if it has one a row; else one for each class."""
    scale: ScalePlan | None = None
    part: Name | None = None
    """a column of the predictions; each of its values (train, test) gets a fit of its own."""
    evaluator: EvaluatorName = "bnn"
    """`uniform`, `dirichlet`, `ndod`, `zero-mean-ndod`, `bnn`; see below."""
    measure: Literal["l2", "kl", "auc"] = "l2"
    """how far predictions are from votes: `l2`, `kl` or `auc`."""
    level: Annotated[Number, Field(gt=0, lt=1)] = 0.95
    """the level of the intervals."""
    sigma2: Annotated[Number, Field(gt=0)] = _USUAL.sigma2
    """`bnn`: the variance of its likelihood."""
    prior: Literal["normal", "uniform"] = _USUAL.prior
    """`bnn`: the prior of its weights, `normal` or `uniform`."""
    chains: Annotated[Whole, Field(ge=2)] = _USUAL.chains
    """`bnn`: so many chains."""
    warmup: Annotated[Whole, Field(ge=10)] = _USUAL.warmup
    """`bnn`: steps of each that are left out."""
    draws: Annotated[Whole, Field(ge=10)] = _USUAL.draws
    """`bnn`: draws of each."""
    folds: Annotated[Whole, BeforeValidator(_folds), Field(ge=0)] = 3
    """how many folds the experiment `fit` makes; 0: none."""
    models: dict[Name, FilePath] = Field(default_factory=dict)
    """predictions files of further predictors, by their names."""

    @property
    def options(self) -> Options:
        """The settings of the network."""
        return Options(self.sigma2, self.prior, self.chains, self.warmup, self.draws)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.column is not None and self.human is None:
            text = "came without `human`; it names the column of that file with a vote a row"
            raise Mistakes([("column", text)])
        return self


def _said(check: Callable[[], object]) -> None:
    """Turn an error of the evaluators into a mistake of the plan."""
    try:
        check()
    except EvaluatorError as error:
        raise ValueError(str(error)) from None
