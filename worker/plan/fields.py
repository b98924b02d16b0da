"""The kinds of values that a plan holds, each with an error that says what was expected."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo


class Mistakes(ValueError):
    """Several mistakes in one part of the plan: the key (dotted, or empty) and a sentence."""

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{key}: {text}" for key, text in found))


class PlanPart(BaseModel):
    """A part of the plan: no unknown keys, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("came an empty text, expected a name")
    return text


def _beside_the_plan(path: Path, info: ValidationInfo) -> Path:
    # The context is there only while a plan file is read; a stored plan keeps what it has.
    folder: Path | None = (info.context or {}).get("folder")
    return folder / path.expanduser() if folder is not None else path


def _text(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise ValueError("came an empty text, expected the path of a file")
    return value


Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, Field(strict=True), AfterValidator(_not_empty)]
FilePath = Annotated[Path, BeforeValidator(_text), AfterValidator(_beside_the_plan)]


def later(known: str, *others: Any) -> BeforeValidator:
    """Refuse, by name, a value that a later release will know."""

    def refuse(value: Any) -> Any:
        if any(value == other and type(value) is type(other) for other in others):
            raise ValueError(f"came {value!r}, which this release does not know; it knows {known}")
        return value

    return BeforeValidator(refuse)


def name_or_names(what: str) -> Callable[[Any], Any]:
    """Return a check that a value is one text or a list of texts, before pydantic tries each."""

    def check(value: Any) -> Any:
        texts = value if isinstance(value, list | tuple) else [value]
        bad = [text for text in texts if not isinstance(text, str) or not text.strip()]
        if bad:
            raise ValueError(
                f"came {bad[0]!r}, expected {what}; write names that look like numbers or dates "
                "in quotes"
            )
        return tuple(value) if isinstance(value, list) else value

    return check
