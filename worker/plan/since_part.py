"""The part of the plan that names the assessment which it continues with another pool."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from worker.plan.fields import Name, beside

_EXPORT = ".json"


def _earlier(text: str, info: ValidationInfo) -> str:
    """An id, or the file of an export, taken relative to the plan while one is read."""
    folder: Path | None = (info.context or {}).get("folder")
    if not text.endswith(_EXPORT) and ("/" in text or "." in text):
        raise ValueError(
            f"came {text!r}, expected the id of an assessment on this server, or the file that "
            "`assay export ID --to FILE.json` wrote"
        )
    if not text.endswith(_EXPORT) or folder is None:
        return text
    return str(beside(folder, text))


Since = Annotated[Name, AfterValidator(_earlier)]


def since_file(since: str | None) -> Path | None:
    """The export that is named; None if it is an id, or nothing."""
    return Path(since) if since is not None and since.endswith(_EXPORT) else None


def mistakes_of_since(since: str | None, assessment: str, task: str) -> list[tuple[str, str]]:
    """What an assessment that continues another cannot be."""
    if since is None:
        return []
    if task == "evaluate":
        text = "came beside the task evaluate, whose votes are not right or wrong; leave it out"
        return [("since", text)]
    if since == assessment:
        text = f"came {since!r}, which is this assessment itself; name the one before it"
        return [("since", text)]
    return []
