"""The part of the plan that says when reports are made, where they go, and what they show."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterError, croniter
from pydantic import AfterValidator, BeforeValidator, Field

from worker.plan.fields import FilePath, Name, PlanPart, Whole, YesOrNo

SHORTEST_S = 30
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_TIMES = "a time such as 30m, 1h, 2d or 1w"


def seconds_of(text: str) -> int | None:
    """Return the seconds of a time such as `30s`, `5m`, `1h`, `2d`, `1w`; None for another text."""
    match = re.fullmatch(r"([0-9]{1,6})\s*([smhdw])", text)
    return int(match[1]) * _SECONDS[match[2]] if match else None


def cron_of(every: str) -> str:
    """Return the five fields of a cron line, with one space between them."""
    return " ".join(every.removeprefix("cron:").split())


def _every(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f'came {value!r}, expected {_TIMES}, or a cron line: "0 7 * * 1"')
    text = value.strip()
    seconds = seconds_of(text)
    if seconds is not None:
        if seconds < SHORTEST_S:
            raise ValueError(f"came {text}, expected {SHORTEST_S}s or more")
        return text
    cron = cron_of(text)
    try:
        if len(cron.split(" ")) != 5:
            raise ValueError
        croniter(cron, datetime.now(UTC)).get_next(datetime)  # 30 February never comes
    except (CroniterError, ValueError):
        raise ValueError(
            f'came {text!r}, expected {_TIMES}, or a cron line of five fields: "0 7 * * 1" is '
            "every Monday at seven (minute, hour, day, month, day of the week)"
        ) from None
    return f"cron: {cron}"


def duration(value: Any) -> str:
    """Check a time such as `4h`; for fields of the plan."""
    if not isinstance(value, str) or not seconds_of(value.strip()):
        raise ValueError(f"came {value!r}, expected {_TIMES}")
    return value.strip()


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"came {name!r}, expected the name of a time zone, such as UTC or Europe/Berlin"
        ) from None
    return name


class ReportPlan(PlanPart):
    """When reports are made by themselves, and where they are kept."""

    every: Annotated[str, BeforeValidator(_every)] | None = None
    """a report by itself: `1h` (`30m`, `2d`, `1w`), or a cron line: `"cron: 0 7 * * 1"` is
    Mondays at seven. Default: never."""
    final: YesOrNo = True
    """whether the decision gets a report by itself."""
    to: FilePath | None = None
    """the folder of the reports. Default: beside the decision."""
    keep: Annotated[Whole, Field(ge=1)] = 30
    """how many of the newest reports stay."""
    names: YesOrNo = False
    """whether a report says which annotator is who."""
    timezone: Annotated[Name, AfterValidator(_zone)] = "UTC"
    """the time zone of cron lines and days."""
