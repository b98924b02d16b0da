"""The part of the plan's `pool` that says what else is known of an item than the own score."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, model_validator

from worker.plan.fields import FileAnywhere, Mistakes, Name, PlanPart
from worker.plan.pool_fields import ProbabilityColumns

MOST_OPINIONS = 8
_KINDS = ("predicted", "probabilities", "right", "number", "category")


class OpinionPlan(PlanPart):
    """Something known of every item that may go with errors: what another model says, a length.

    Only as much of it is believed as labels show (`worker.core.prior.hyperparameters`).
    """

    name: Name
    """what else is known of the items, up to 8 such: the name of one; see Second opinions."""
    predictions: FileAnywhere | None = None
    """its own file, joined by `id`. Default: the pool's."""
    id: Name | None = None
    """as in `pool`. Default: the pool's."""
    predicted: Name | None = None
    """another classifier: the column of its class, with `score` if there is one."""
    score: Name | None = None
    """beside `predicted`: the column of its probability."""
    probabilities: ProbabilityColumns = None
    """another classifier: the columns of all classes' probabilities, in the pool's order of
    classes, or one list column."""
    right: Name | None = None
    """the column of a probability (or yes and no) that the assessed prediction is right."""
    number: Name | None = None
    """the column of any number, such as a length."""
    category: Name | None = None
    """the column of any category, such as a source."""

    @property
    def kind(self) -> str:
        """predicted, probabilities, right, number or category."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of its file that are read, but for the ids."""
        first = getattr(self, self.kind)
        own = (first,) if isinstance(first, str) else tuple(first)
        return own if self.score is None else (*own, self.score)

    @model_validator(mode="after")
    def _of_one_kind(self) -> "OpinionPlan":
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            came = " and ".join(given) or "none of them"
            text = f"came {came}, expected one of {', '.join(_KINDS)}"
            raise Mistakes([("", text)])
        if self.score is not None and self.predicted is None:
            text = f"came beside {given[0]}, but only `predicted` has one; leave it out"
            raise Mistakes([("score", text)])
        if self.id is not None and self.predictions is None:
            text = "came without `predictions`; the ids of the pool's file are `pool.id`"
            raise Mistakes([("id", text)])
        return self


def _named_once(opinions: tuple[OpinionPlan, ...] | None) -> tuple[OpinionPlan, ...] | None:
    if opinions is None:
        return None
    if not 1 <= len(opinions) <= MOST_OPINIONS:
        raise ValueError(
            f"came {len(opinions)} of them, expected 1 to {MOST_OPINIONS}; leave those out that "
            "tell the least, or the whole key"
        )
    names = [opinion.name for opinion in opinions]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the name {name} stands there twice; give each opinion its own")
    return opinions


Opinions = Annotated[tuple[OpinionPlan, ...] | None, AfterValidator(_named_once)]


def mistakes_of_opinions(
    opinions: Sequence[OpinionPlan] | None,
    files: Collection[Path],
    taken: Mapping[str, str],
    shown: Mapping[str, str],
    *,
    is_project: bool,
    is_made: bool,
) -> list[tuple[str, str]]:
    """Return what is wrong with the opinions' columns.

    Args:
        files: the pool's own. taken: columns of these that the plan uses, and for what. shown: key
            in the task -> column, as annotators see it.
        is_project: whether the pool is a Label Studio project.
        is_made: whether one file is made of the pool's, of several sites or without some rows.
    """
    found: list[tuple[str, str]] = []
    holders: dict[tuple[Path | None, str], str] = {}
    for at, opinion in enumerate(opinions or ()):
        key, is_own = f"opinions.{at}", opinion.predictions in (None, *files)
        for column in opinion.columns:
            where = None if is_own else opinion.predictions, column
            if where in holders:
                whose = holders[where]
                again = "twice" if whose == opinion.name else f"that {whose} has"
                text = f"{opinion.name} has the column {column} {again}; each opinion needs"
                found.append((key, f"{text} columns of its own"))
            holders[where] = opinion.name
        if is_project and opinion.predictions is None:
            text = f"came {opinion.name} without a file, but the pool is a project, whose tasks"
            cure = "have no columns; name a file with the tasks' ids: `predictions: old.csv`"
            found.append((key, f"{text} {cure}"))
        elif is_own:
            found += _of_the_pools_file(at, opinion, taken, shown, is_made=is_made)
    return found


def _of_the_pools_file(
    at: int,
    opinion: OpinionPlan,
    taken: Mapping[str, str],
    shown: Mapping[str, str],
    *,
    is_made: bool,
) -> list[tuple[str, str]]:
    found = []
    for column in opinion.columns:
        if column in taken:
            text = f"the column {column} holds {taken[column]} already, which is no second"
            found.append((f"opinions.{at}", f"{text} opinion; name another column"))
        for key in (key for key, of in shown.items() if of == column):
            text = f"the column {column} holds what {opinion.name} says, which annotators must"
            found.append((f"data.{key}", f"{text} not see; show them another column"))
    if is_made and opinion.predictions is None and isinstance(opinion.probabilities, str):
        text = f"came the list column {opinion.probabilities} of the pool's file, which is not"
        cure = "read together with several sites or `drop`; name its file: `predictions: ...`"
        found.append((f"opinions.{at}.probabilities", f"{text} {cure}"))
    return found
