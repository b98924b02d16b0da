"""The part of the plan that says how the judgements of annotators become outcomes."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from worker.plan.fields import FileAnywhere, Mistakes, Name, Number, PlanPart, Whole
from worker.plan.project_part import OPTIONAL
from worker.plan.verdict_part import VerdictPlan
from worker.store.rules import Rules

Rule = Literal["first", "majority", "dawid-skene", "frequencies"]

# How many annotators more than `per_item` a tie may take.
_MORE_FOR_TIES = 2


class GoldPlan(PlanPart):
    """Items whose class is known, mixed into the queue to see how good the annotators are."""

    items: FileAnywhere
    """items whose class is known, mixed into the queue: CSV, JSONL or Parquet with the columns of
    `pool.id` and `pool.data`, and `label`; none of them is among the predictions."""
    rate: Annotated[Number, Field(gt=0, le=0.5)] = 0.05
    """the share of gold items in the queue."""


class AnnotationPlan(PlanPart):
    """How annotations become judgements, and judgements outcomes."""

    verdict: VerdictPlan | None = OPTIONAL
    control: Name | None = None
    """the Choices of the labelling configuration that answers the question. Default: the only
    one."""
    per_item: Annotated[Whole, Field(ge=1, le=100)] = 1
    """so many different people judge every item (skips do not count)."""
    per_item_max: Annotated[Whole, Field(ge=1, le=100)] = 1
    """`majority`: while votes are tied one person more is asked, up to so many. Default:
    per_item; `majority`: 2 more."""
    rule: Rule = "first"
    """how their judgements add up: `first`, `majority`, `dawid-skene`, `frequencies`; see below.
    Default: one person: first; several: dawid-skene; `evaluate`: frequencies."""
    item_confidence: Annotated[Number, Field(gt=0.5, lt=1)] | None = None
    """`dawid-skene`: nobody else is asked once an item's class is so sure. Default: all are
    asked."""
    skips: Annotated[Whole, Field(ge=1)] = 2
    """after so many skips an item is given up (it stays in the pool, unlabelled)."""
    gold: GoldPlan | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        per_item = values.get("per_item", 1)
        several = isinstance(per_item, int) and per_item > 1
        filled: dict[str, Any] = {"rule": "dawid-skene" if several else "first"} | values
        if isinstance(per_item, int) and per_item >= 1:
            more = _MORE_FOR_TIES if filled["rule"] == "majority" else 0
            filled = {"per_item_max": per_item + more} | filled
        return filled

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = []
        if self.per_item_max < self.per_item:
            text = f"came {self.per_item_max}, expected at least per_item, which is {self.per_item}"
            found.append(("per_item_max", text))
        if self.rule != "majority" and self.per_item_max > self.per_item:
            text = f"only the rule majority asks more people at ties; the rule is {self.rule}"
            found.append(("per_item_max", text))
        if self.rule == "majority" and self.per_item == 1:
            text = "came 1, but of one vote there is no majority; ask for 3, or write `rule: first`"
            found.append(("per_item", text))
        if self.item_confidence is not None and self.rule != "dawid-skene":
            text = f"only the rule dawid-skene knows how sure an item is; the rule is {self.rule}"
            found.append(("item_confidence", text))
        if found:
            raise Mistakes(found)
        return self

    @property
    def paths(self) -> dict[str, Path]:
        """The file that the gold items are in, by its key in the plan."""
        return {} if self.gold is None else {"annotation.gold.items": self.gold.items}

    @property
    def counts_as(self) -> dict[str, str]:
        """Choices of a verdict -> the one as which they count, where it is another."""
        return {} if self.verdict is None else self.verdict.counts_as

    @property
    def rules(self) -> Rules:
        """What an item's judgements add up to."""
        return Rules(self.rule, self.per_item, self.per_item_max, self.skips)
