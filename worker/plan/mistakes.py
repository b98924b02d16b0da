"""Turns pydantic's findings about a plan into sentences: where, what came, what was expected."""

import datetime
import typing
from collections.abc import Mapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from worker.nearest import did_you_mean
from worker.plan.fields import Mistakes
from worker.plan.source import Place

_EXPECTED = {
    "invalid_key": "a key that is text; write it in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
    "dict_type": "keys with values",
    "tuple_type": "a list",
    "list_type": "a list",
    "path_type": "the path of a file, as text",
}
# What one message can hold so that somebody reads it; a plan has no more than a hundred keys.
_LONGEST, _MOST = 600, 30

_BOUNDS = {
    "greater_than_equal": ("ge", ">="),
    "greater_than": ("gt", ">"),
    "less_than_equal": ("le", "<="),
    "less_than": ("lt", "<"),
}


def sentences(
    error: ValidationError, model: type[BaseModel], lines: Mapping[Place, int]
) -> list[str]:
    """Return one sentence per mistake in the order of the file, each with its line and place."""
    found: list[tuple[int, str]] = []
    # a place in a list is a number there, and a text in the keys of our own mistakes
    lines = {tuple(map(str, place)): line for place, line in lines.items()}
    for detail in error.errors(include_url=False):
        for place, text in _mistakes(detail, model):
            line = _line(place, lines)
            where = ".".join(str(step) for step in place)
            start = (f"line {line}: " if line else "") + (f"{where}: " if where else "")
            found.append((line, start + text))
    in_order = [_cut(text) for _, text in sorted(found, key=lambda pair: pair[0])]
    told = list(dict.fromkeys(in_order))
    more = len(told) - _MOST
    return [*told[:_MOST], f"and {more} more; correct these first"] if more > 1 else told


def _cut(text: str) -> str:
    """A sentence that fits a screen, whatever stood in the file."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _mistakes(detail: ErrorDetails, model: type[BaseModel]) -> list[tuple[Place, str]]:
    # pydantic marks a bad key of a mapping by a last step "[key]"
    place = tuple(step for step in detail["loc"] if step != "[key]")
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, Mistakes):
        return [((*place, *key.split(".")) if key else place, text) for key, text in cause.found]
    return [(place, _text(detail, model))]


def _line(place: Place, lines: Mapping[Place, int]) -> int:
    steps = tuple(map(str, place))
    for length in range(len(steps), 0, -1):
        if steps[:length] in lines:
            return lines[steps[:length]]
    return 0


def _text(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind, came, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = list(_model_at(model, detail["loc"][:-1]).model_fields)
        guess = did_you_mean(str(detail["loc"][-1]), known)
        return f"unknown key{guess or '; the keys here are ' + ', '.join(known)}"
    if kind == "missing":
        return "missing; the plan needs it"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"came {_shown(came)}, expected {context['expected']}{_close(came, context)}"
    if kind in _BOUNDS:
        name, sign = _BOUNDS[kind]
        return f"came {_shown(came)}, expected a number {sign} {context[name]}"
    if kind == "too_short":
        n, least = context["actual_length"], context["min_length"]
        return f"came a list of {n}, expected at least {least}"
    if kind in _EXPECTED:
        quotes = "; write it in quotes" if kind == "string_type" and _is_scalar(came) else ""
        return f"came {_shown(came)}, expected {_EXPECTED[kind]}{quotes}"
    return f"came {_shown(came)}: {detail['msg']}"


def _close(came: object, context: Mapping[str, object]) -> str:
    known = [word.strip(" '") for word in str(context["expected"]).replace(" or ", ",").split(",")]
    return did_you_mean(came, known) if isinstance(came, str) else ""


def _is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float | datetime.date)


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case datetime.date():
            return f"the date {value}"
        case bool():
            return f"the yes-or-no value {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case dict():
            return "keys with values"
        case list() | tuple():
            return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _model_at(model: type[BaseModel], loc: Place) -> type[BaseModel]:
    """Return the model of the part of the plan at `loc`."""
    for step in loc:
        if isinstance(step, str):  # a number is a place in a list of parts
            model = _part(model.model_fields[step].annotation) or model
    return model


def _part(annotation: object) -> type[BaseModel] | None:
    """The part of a plan that a value is, or a list of which it is."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = map(_part, typing.get_args(annotation))
    return next((part for part in found if part is not None), None)
