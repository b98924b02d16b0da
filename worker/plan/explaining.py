"""What every key of a plan means: read from the models, printed by `assay explain`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from worker.errors import AssayError
from worker.nearest import did_you_mean
from worker.plan.fields import PlanPart
from worker.plan.model import Plan

README = "worker/plan/README.md"


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the plan, with dots; what it means, and its default (empty: none)."""

    name: str
    meaning: str
    default: str


def explain(name: str = "") -> list[Key]:
    """The key of this name, or the keys of this part of the plan; of no name all of them.

    Raises:
        AssayError: there is no such key.
    """
    found = [k for k in keys() if not name or k.name == name or k.name.startswith(f"{name}.")]
    if not found:
        parts = [key.name.partition(".")[0] for key in keys()]
        hint = did_you_mean(name, [*parts, *(key.name for key in keys())])
        raise AssayError(
            f"{name} is no key of a plan{hint or '.'} `assay explain` lists all of them."
        )
    return found


@cache
def keys() -> tuple[Key, ...]:
    """All keys, in the order of the models."""
    return tuple(_keys(Plan, ""))


def table() -> str:
    """All keys as the Markdown table that the plan's README holds."""
    rows = [f"| `{key.name}` | {key.meaning} | {key.default} |" for key in keys()]
    return "\n".join(["| key | meaning | default |", "|---|---|---|", *rows])


def _keys(part: type[PlanPart], begin: str) -> Iterator[Key]:
    docs = _docs(part)
    for name, field in part.model_fields.items():
        inner = list(_parts(field.annotation))
        for own in inner:
            yield from _keys(own, f"{begin}{name}.")
        if not inner:
            meaning, _, default = docs[name].removesuffix(".").partition(". Default: ")
            usual = None if field.is_required() else field.get_default(call_default_factory=True)
            yield Key(begin + name, meaning, default or _shown(usual))


def _parts(annotation: Any) -> Iterator[type[PlanPart]]:
    """The parts of a plan that a value may be, or be made of."""
    if isinstance(annotation, type) and issubclass(annotation, PlanPart):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


def _docs(part: type[PlanPart]) -> dict[str, str]:
    """What is said below every field; pydantic would read the sources at each start to know it."""
    (made,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
    assert isinstance(made, ast.ClassDef), "the source of a class"
    found = {}
    for field, below in zip(made.body, made.body[1:], strict=False):  # the last has none below
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(field.target, ast.Name), "a field has a name"
            found[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return found


def _shown(value: Any) -> str:
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
