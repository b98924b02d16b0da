"""The part of the plan that says who is told of what happens to the assessment."""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from worker.plan.fields import Name, PlanPart, YesOrNo
from worker.plan.report_part import duration

EventKind = Literal["decision", "stall", "failure", "report"]

# `${ASSAY_NOTIFY_...}` in an address. No other variable: whoever writes a plan must not be able to
# have a worker send its token to an address of his choice.
VARIABLE = re.compile(r"\$\{([^}]*)\}")
PREFIX = "ASSAY_NOTIFY_"
SECRET = "ASSAY_NOTIFY_SECRET"

Duration = Annotated[str, BeforeValidator(duration)]


def is_partly_a_variable(text: str) -> bool:
    """Whether a variable stands for a part of an address: then the plan says who gets its value."""
    return bool(VARIABLE.search(text)) and not VARIABLE.fullmatch(text)


def _address(text: str, info: ValidationInfo) -> str:
    for name in VARIABLE.findall(text):
        if not re.fullmatch(PREFIX + "[A-Z0-9_]+", name) or name == SECRET:
            raise ValueError(
                f"came ${{{name}}}, expected the name of a variable that begins with {PREFIX} "
                f"(but not {SECRET}); no other one is read for an address"
            )
    # What is stored may be older; `worker.notices.sending` does not fill it.
    if info.context is not None and is_partly_a_variable(text):
        raise ValueError(
            f"came {VARIABLE.findall(text)[0]} in a part of an address, expected it as the whole "
            f'of it, as in "${{{PREFIX}URL}}"; put the whole address into the variable'
        )
    if VARIABLE.match(text):
        return text
    parts = urlsplit(text)
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise ValueError(
            f"came {text.split('?')[0]!r}, expected an address such as https://example.org/hook, "
            "or ${ASSAY_NOTIFY_URL} to keep it in the environment"
        )
    return text


class NotifyPlan(PlanPart):
    """One address that is told, and of what."""

    url: Annotated[Name, AfterValidator(_address)]
    """who is told, one entry each: an address, or `${ASSAY_NOTIFY_…}`."""
    kind: Literal["slack", "webhook"] = "webhook"
    """`slack` for Slack and what understands its messages; `webhook` for signed JSON."""
    on: Annotated[tuple[EventKind, ...], Field(min_length=1)] = ("decision", "stall", "failure")
    """of what: `decision`, `stall`, `failure`, `report`."""
    allow_private: YesOrNo = False
    """also an address that is not on the public internet, and without TLS."""
