"""The kinds of values that a plan holds, each with an error that says what was expected."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from worker.plan.addresses import FOLDERS, address, allowed, folders, shown, without_scheme


class Mistakes(ValueError):
    """Several mistakes in one part of the plan: the key (dotted, or empty) and a sentence."""

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{key}: {text}" for key, text in found))


class PlanPart(BaseModel):
    """A part of the plan: no unknown keys, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def _spoken(value: Any) -> Any:
    words = {"yes": True, "on": True, "no": False, "off": False}
    return words.get(value.lower(), value) if isinstance(value, str) else value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("came an empty text, expected a name")
    return text


def _beside_the_plan(path: Path, info: ValidationInfo) -> Path:
    # The context is there only while a plan file is read; a stored plan keeps what it has.
    folder: Path | None = (info.context or {}).get("folder")
    return beside(folder, path) if folder is not None else path


def _anywhere(path: Path, info: ValidationInfo) -> Path:
    folder: Path | None = (info.context or {}).get("folder")
    return anywhere(folder, path) if folder is not None else path


def anywhere(folder: Path, path: str | Path) -> Path:
    """Return a path of the plan as `beside` does, or an address (`s3://...`) as it came.

    Raises:
        ValueError: as `beside`, and as `worker.plan.addresses.allowed`.
    """
    uri = address(without_scheme(path))
    if uri is None:
        return beside(folder, path)
    allowed(uri)
    return Path(uri)


def beside(folder: Path, path: str | Path) -> Path:
    """Return a path of the plan, taken relative to the folder; `~` is somebody's home.

    Where ASSAY_PLAN_FOLDERS is set (folders, with a colon between them), it must lie in one of
    them, links followed: whoever may write a plan is not to have all files of the service read.

    Raises:
        ValueError: it names the home of nobody, holds a zero byte, which no path does, is an
            address, or lies outside of those folders.
    """
    path = without_scheme(path)
    if "\0" in path:
        raise ValueError(f"came {path!r}, expected the path of a file, without a zero byte")
    if uri := address(path):
        raise ValueError(f"came the address {shown(uri)!r}, expected the path of a file here")
    try:
        found = folder / Path(path).expanduser()
    except RuntimeError as error:
        text = f"came {path!r}, but that home is not known here"
        raise ValueError(f"{text}; write the path from / on") from error
    confined(found, path)
    return found


def confined(found: Path, came: str) -> None:
    """Refuse a path outside of ASSAY_PLAN_FOLDERS, where that is set; links are followed.

    Args:
        came: as it was written, for the message.

    Raises:
        ValueError.
    """
    roots = folders()
    if not roots:
        return
    real = Path(os.path.realpath(found))
    here = [Path(root) for root in roots if not address(root)]
    if not any(real.is_relative_to(os.path.realpath(root)) for root in here):
        raise ValueError(
            f"came {came!r}, which lies outside of {FOLDERS} "
            f"({', '.join(map(shown, roots))}); put the file there"
        )


def _text(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise ValueError("came an empty text, expected the path of a file")
    return value


Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
# The words are YAML's own for true and false, which are texts everywhere else in a plan.
YesOrNo = Annotated[bool, Field(strict=True), BeforeValidator(_spoken)]
Name = Annotated[str, Field(strict=True), AfterValidator(_not_empty)]
FilePath = Annotated[Path, BeforeValidator(_text), AfterValidator(_beside_the_plan)]
FileAnywhere = Annotated[Path, BeforeValidator(_text), AfterValidator(_anywhere)]


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
