"""The part of the plan that says what the pool is: its file, its columns, its groups."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, model_validator

from worker.plan.fields import FileAnywhere, Mistakes, Name, PlanPart, Whole
from worker.plan.group_spec import GroupBy, group_factor, group_factors
from worker.plan.opinions_part import Opinions, mistakes_of_opinions
from worker.plan.pool_fields import (
    ClassNames,
    Droppable,
    Groups,
    Parents,
    ProbabilityColumns,
    ShownColumns,
)
from worker.plan.project_part import OPTIONAL, Existing, from_project, mistakes_without_project
from worker.plan.sites_part import from_sites, mistakes_of_sites


class PoolPlan(PlanPart):
    """Where the predictions are, what their columns mean, and how the pool is cut up."""

    predictions: FileAnywhere
    """the file, relative to the plan, or its address (`s3://…`); see Kinds of predictions."""
    sites: dict[Name, FileAnywhere] | None = OPTIONAL
    """several sites, from `predictions: {north: a.csv, south: b.csv}`; see below."""
    site: Name | None = OPTIONAL
    """of several sites: the name of the column that says which one. Default: site."""
    project: Annotated[Whole, Field(ge=1)] | None = OPTIONAL
    """in place of a file a Label Studio project that holds tasks and predictions; see below."""
    model_version: Name | None = OPTIONAL
    """of a project: which predictions are assessed. Default: the only ones."""
    existing: Existing | None = OPTIONAL
    """of a project: annotations that are there are `known` outcomes, or a `random` sample.
    Default: known."""
    id: Name = "item_id"
    """the column that names each item; `row number`: each is called after its row, `row-1`, ..."""
    drop: tuple[Droppable, ...] | None = OPTIONAL
    """rows to leave out, and to count: `empty` (no id, group, prediction or content), `nan` (no
    score), `duplicate` (the id of an earlier row). Default: none, such rows are mistakes."""
    probabilities: ProbabilityColumns = None
    """the columns of the classes' probabilities, or one list column."""
    predicted: Name | None = None
    """in place of `pool.probabilities`: the column of the predicted class."""
    score: Name | None = None
    """beside `pool.predicted`: the column of its probability; of outputs that a person judges: of
    the probability that the output is right, by a judge."""
    classes: ClassNames = None
    """the classes' names, in the order of the probabilities. Default: from the columns."""
    opinions: Opinions = OPTIONAL
    data: ShownColumns
    """what annotators see: key in the task → column; paths of images, sounds and videos are
    uploaded, see Images, sounds and videos."""
    strata: Annotated[Whole, Field(ge=1, le=1000)] = 1
    """strata by score inside every group, with opinions by both. Default: 16 with the empirical
    prior and a finite population, twice as many with opinions (2 with `guarantee: anytime`), else
    1; `metric: ece` in groups: 4 beside its bins (1 with `guarantee: anytime`); `cost`,
    `confusion`: 1; to compare models by scores: 8."""
    groups: Groups = "predicted_class"
    """`predicted_class`, `score_bin(10)`, `equal_mass_bin(10)`, `superclass(map.csv)`, a column,
    a list of these for their product, or `all_items`. Default: predicted_class; `recall`,
    `precision`, `f1`, and outputs that a person judges: all_items."""
    pairs_by: Name | None = OPTIONAL
    """of outputs that a person judges: the column of what they answer; those of one prompt are
    labelled and compared in pairs, see below."""
    parents: Parents = OPTIONAL
    """what groups lie within: `superclass(map.csv)`, or a column such as `site`; see below."""

    @property
    def parent_factor(self) -> GroupBy | None:
        """What the groups lie within, if anything."""
        return None if self.parents is None else group_factor(self.parents)

    @property
    def factors(self) -> tuple[GroupBy, ...]:
        """What the pool is grouped by; several factors mean their product."""
        if self.is_of_outputs and self.groups == "predicted_class":
            return (GroupBy("all_items"),)
        return group_factors(self.groups)

    @property
    def shared_factors(self) -> tuple[GroupBy, ...]:
        """What groups have in common: factors of a product, and what they lie within."""
        many = self.factors if len(self.factors) > 1 else ()
        above = () if self.parent_factor is None else (self.parent_factor,)
        return tuple(dict.fromkeys((*many, *above)))

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns of the predictions file that the groups need."""
        return tuple(dict.fromkeys(f.column for f in self._all_factors if f.kind == "column"))

    @property
    def coded_columns(self) -> tuple[str, ...]:
        """The columns of the predictions file whose values tell items apart, or join them."""
        more = () if self.pairs_by is None else (self.pairs_by,)
        return tuple(dict.fromkeys((*self.group_columns, *more)))

    @property
    def map_paths(self) -> tuple[Path, ...]:
        """The superclass maps that the groups, and what they lie within, need."""
        return tuple(Path(f.map_path) for f in self._all_factors if f.kind == "superclass")

    @property
    def _all_factors(self) -> tuple[GroupBy, ...]:
        above = self.parent_factor
        return self.factors if above is None else (*self.factors, above)

    @property
    def is_of_outputs(self) -> bool:
        """Whether people judge outputs, for which no class is predicted (`annotation.verdict`)."""
        return self.probabilities is None and self.predicted is None

    @property
    def has_scores(self) -> bool:
        """Whether the classifier, or a judge of outputs, says how sure it is."""
        return self.probabilities is not None or self.score is not None

    @property
    def is_list_column(self) -> bool:
        """Whether one column holds all probabilities of an item as a list."""
        return isinstance(self.probabilities, str)

    @model_validator(mode="before")
    @classmethod
    def _of_a_project(cls, values: Any, info: ValidationInfo) -> Any:
        # A stored plan has the file into which the project was read.
        is_read = info.context is not None and isinstance(values, dict)
        return from_sites(from_project(values)) if is_read else values

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = [
            *mistakes_without_project(self.project, self.model_version, self.existing),
            *mistakes_of_sites(self.sites, self.site, self._columns_of_the_prediction()),
            *self._mistakes_of_the_parents(),
            *self._mistakes_of_the_prediction(),
            *self._mistakes_without_scores(),
            *self._numbers_used_as_text(),
            *_leaks(self.data, self._hidden()),
            *mistakes_of_opinions(
                self.opinions,
                (self.predictions, *(self.sites or {}).values()),
                self._columns_of_the_prediction(),
                self.data,
                is_project=self.project is not None,
                is_made=self.sites is not None or self.drop is not None,
            ),
        ]
        if found:
            raise Mistakes(found)
        return self

    def _columns_of_the_prediction(self) -> dict[str, str]:
        listed = self.probabilities or ()
        columns = (listed,) if isinstance(listed, str) else listed
        used = dict.fromkeys(columns, "a probability") | {self.id: "the ids"}
        used |= {self.score: "the score"} if self.score else {}
        return used | ({self.predicted: "the prediction"} if self.predicted else {})

    def _mistakes_of_the_parents(self) -> list[tuple[str, str]]:
        above = self.parent_factor
        if above is None or self.factors != (above,):
            return []
        text = f"came {above}, which the groups are already; parents have several groups each"
        return [("parents", text)]

    def _mistakes_of_the_prediction(self) -> list[tuple[str, str]]:
        one = "expected either `probabilities`, or `predicted` and `score`"
        columns, classes = self.probabilities, self.classes
        given = {"predicted": self.predicted, "score": self.score}
        missing = [key for key, column in given.items() if column is None]
        if columns is None:
            text = f"came no {' and no '.join(missing)}, {one} (the score may be left out)"
            # with classes only it may be a plan of outputs, which `annotation.verdict` says
            return [("", text)] if self.predicted is None and classes is None else []
        found = []
        if len(missing) < len(given):
            found.append(("probabilities", f"came beside {' or '.join(given)}, {one}"))
        if self.is_list_column and classes is None:
            found.append(
                ("classes", f"missing; name the classes in the order of the list in {columns}")
            )
        if isinstance(columns, tuple) and classes is not None and len(classes) != len(columns):
            text = f"came {len(classes)} for {len(columns)} probability columns, expected as many"
            found.append(("classes", f"{text}, in the same order"))
        return found

    def _mistakes_without_scores(self) -> list[tuple[str, str]]:
        if self.has_scores or (self.predicted is None and self.classes is None):
            return []
        has_strata = self.opinions is not None
        cure = "but the pool has no scores; give `score`, or"
        found = [
            ("groups", f"came {factor}, {cure} group by something else")
            for factor in self.factors
            if factor.is_score_bin
        ]
        if self.strata > 1 and not has_strata:
            found.append(("strata", f"came {self.strata}, {cure} write 1"))
        return found

    def _numbers_used_as_text(self) -> list[tuple[str, str]]:
        listed = self.probabilities or ()
        numbers = {*((listed,) if isinstance(listed, str) else listed), self.score}
        found = [
            ("groups", f"the column {name} holds numbers; use score_bin(10) to group by the score")
            for name in self.group_columns
            if name in numbers
        ]
        if self.id in numbers:
            found.append(("id", f"the column {self.id} holds the prediction, expected the ids"))
        return found

    def _hidden(self) -> dict[str, str]:
        """The columns that annotators must not see, and what each of them holds."""
        listed = self.probabilities or ()
        columns = (listed,) if isinstance(listed, str) else listed
        hidden = dict.fromkeys(self.group_columns, "a group")
        hidden |= dict.fromkeys(columns, "a probability")
        hidden |= {self.score: "the score"} if self.score else {}
        hidden |= {self.predicted: "the prediction"} if self.predicted else {}
        return hidden


def _leaks(data: Mapping[str, str], hidden: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (
            f"data.{key}",
            f"the column {column} holds {hidden[column]}, which annotators must not see; show "
            "them another column",
        )
        for key, column in data.items()
        if column in hidden
    ]
