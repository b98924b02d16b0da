"""The kinds of values that only the plan's `pool` holds, each with what it may be."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from worker.plan.fields import Name, anywhere, name_or_names
from worker.plan.group_spec import GroupBy, group_factor, group_factors

# Rows that may be left out; nobody knows what rows with other faults mean.
Droppable = Literal["empty", "nan", "duplicate"]

RESERVED_KEY = "item_id"  # by this key our tasks are found again in Label Studio


def _groups_beside_the_plan(spec: str | tuple[str, ...], info: ValidationInfo) -> object:
    folder: Path | None = (info.context or {}).get("folder")
    factors = [str(_moved(factor, folder)) for factor in group_factors(spec)]
    return factors[0] if isinstance(spec, str) else tuple(factors)


def _moved(factor: GroupBy, folder: Path | None) -> GroupBy:
    if factor.kind != "superclass" or folder is None:
        return factor
    return GroupBy("superclass", map_path=str(anywhere(folder, factor.map_path)))


def _parents_beside_the_plan(text: str | None, info: ValidationInfo) -> str | None:
    if text is None:
        return None
    factor = group_factor(text)
    if factor.kind not in ("superclass", "column"):
        raise ValueError(f"came {text}, expected superclass(map.csv), or a column such as site")
    return str(_moved(factor, (info.context or {}).get("folder")))


def _classes(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if names is not None:
        if len(names) < 2:
            raise ValueError(f"came {len(names)} class, expected at least two")
        if twice := _twice(names):
            raise ValueError(f"the class {twice} stands there twice; name each class once")
    return names


def _probability_columns(columns: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    if isinstance(columns, tuple):
        if len(columns) < 2:
            raise ValueError(
                "came one class only, expected a column for each of at least two classes "
                "(or one column that holds a list, given as text and not as a list)"
            )
        if twice := _twice(columns):
            raise ValueError(f"the column {twice} stands there twice; name each column once")
    return columns


def _twice(names: tuple[str, ...]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _data(data: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    # A simulation shows nothing to anybody; its plan may be stored and read again as it is. The
    # tasks of a project are there already.
    is_shown = info.context and not info.context.get("for_simulation")
    if not data and is_shown and info.data.get("project") is None:
        raise ValueError("came no columns, expected what annotators see, as in {image: image_url}")
    if RESERVED_KEY in data:
        raise ValueError(f"the key {RESERVED_KEY} is Assay's own; call the annotators' key another")
    return data


ClassNames = Annotated[tuple[Name, ...] | None, AfterValidator(_classes)]
ProbabilityColumns = Annotated[
    str | tuple[str, ...] | None,
    BeforeValidator(
        lambda value: (
            None
            if value is None
            else name_or_names("a list of columns, or the name of one column")(value)
        )
    ),
    AfterValidator(_probability_columns),
]
ShownColumns = Annotated[dict[Name, Name], AfterValidator(_data)]
Groups = Annotated[
    str | tuple[str, ...],
    BeforeValidator(
        name_or_names(
            "predicted_class, score_bin(10), equal_mass_bin(10), superclass(map.csv), "
            "a column, or a list of these"
        )
    ),
    AfterValidator(_groups_beside_the_plan),
]
Parents = Annotated[str | None, AfterValidator(_parents_beside_the_plan)]
