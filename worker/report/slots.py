"""When a report is due: a pure function of the schedule and the clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from worker.plan.report_part import cron_of, seconds_of


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A moment for which there is one report; `number` is its second since 1970 in UTC."""

    number: int

    @property
    def at(self) -> datetime:
        """The moment, in UTC."""
        return datetime.fromtimestamp(self.number, UTC)


def slot_of(every: str, began_at: datetime, now: datetime, timezone: str = "UTC") -> Slot | None:
    """The latest slot that is not later than `now`; None before the first one after `began_at`.

    Never goes back while `now` goes forward. Slots that were missed are not listed: the latest one
    makes up for them all.

    Args:
        every: as `ReportPlan` keeps it: an interval from `began_at` on, or a cron line.
        began_at, now: with their time zones.
        timezone: in which the cron line is meant. A time that the clocks skip in spring comes when
            they have jumped; one that they repeat in autumn comes once if the line names one hour.
    """
    seconds = seconds_of(every)
    if seconds is not None:
        n = int((now - began_at) // timedelta(seconds=seconds))
        first = int(began_at.timestamp())
        return Slot(first + n * seconds) if n >= 1 else None
    line = cron_of(every)
    # Asked for what lies strictly before the next whole second. (Added in UTC: on a zone's own
    # clock the sum would forget which of two repeated hours it is in.)
    until = now.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    at: datetime = croniter(line, until.astimezone(ZoneInfo(timezone))).get_prev(datetime)
    if at.fold and line.split(" ")[1].isdecimal():
        at = at.replace(fold=0)
    return Slot(int(at.timestamp())) if at > began_at else None
