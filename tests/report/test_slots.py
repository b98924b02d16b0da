"""When a report is due: once for every slot, whoever looks how often, through summer time and all.

The laws hold for any schedule; the days on which clocks change are looked at minute by minute.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.report.slots import Slot, slot_of

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
LINES = ["*/7 * * * *", "0 * * * *", "30 2 * * *", "0 7 * * 1", "15 2,3 * * *", "0 0 29 2 *"]
SCHEDULES = ["30s", "7m", "1h", "3d", "2w", *(f"cron: {line}" for line in LINES)]

moments = st.datetimes(datetime(2026, 1, 1), datetime(2031, 1, 1)).map(
    lambda d: d.replace(tzinfo=UTC)
)


def slots_between(every: str, zone: str, start: datetime, hours: int) -> list[datetime]:
    """All slots that a watcher sees who looks once a minute, on the zone's clock."""
    seen: list[Slot] = []
    for minute in range(hours * 60):
        slot = slot_of(every, BEGAN, start + timedelta(minutes=minute, seconds=0.5), zone)
        if slot is not None and (not seen or seen[-1] != slot):
            seen.append(slot)
    assert seen == sorted(set(seen)), "a slot came back"
    return [slot.at.astimezone(ZoneInfo(zone)) for slot in seen if slot.at >= start]


@given(st.sampled_from(SCHEDULES), st.sampled_from(ZONES), moments, moments)
def test_slots_never_go_back_and_are_never_in_the_future(every, zone, one, other):
    early, late = sorted([one, other])
    first, second = (slot_of(every, BEGAN, now, zone) for now in (early, late))
    if first is not None:
        assert second is not None
        assert first <= second
        assert BEGAN < first.at <= early


@given(st.sampled_from(SCHEDULES), st.sampled_from(ZONES), moments)
def test_a_slot_is_its_own_slot(every, zone, now):
    slot = slot_of(every, BEGAN, now, zone)
    if slot is not None:
        assert slot_of(every, BEGAN, slot.at, zone) == slot


def test_an_interval_counts_from_the_start(tmp_path):
    began = datetime(2026, 1, 1, 10, 20, tzinfo=UTC)
    assert slot_of("1h", began, began + timedelta(minutes=59, seconds=59)) is None
    assert slot_of("1h", began, began + timedelta(hours=1)) == Slot(int(began.timestamp()) + 3600)


def test_many_missed_slots_are_made_up_by_the_latest_one():
    slot = slot_of("1h", BEGAN, BEGAN + timedelta(hours=50, minutes=3))
    assert slot is not None
    assert slot.at == BEGAN + timedelta(hours=50)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("month", [3, 4, 10, 11])
def test_a_daily_report_comes_once_on_every_day_also_when_the_clocks_change(zone, month):
    start = datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    for hour in (1, 2, 3):
        slots = [
            slot_of(f"cron: 30 {hour} * * *", BEGAN, start + timedelta(hours=h), zone)
            for h in range(24 * 29)
        ]
        days = [s.at.astimezone(ZoneInfo(zone)).date() for s in dict.fromkeys(slots) if s]
        assert len(days) == len(set(days))
        assert len(days) in (29, 30)


def test_a_time_that_the_clocks_skip_comes_when_they_have_jumped():
    found = slots_between("cron: 30 2 * * *", "Europe/Berlin", datetime(2026, 3, 29, tzinfo=UTC), 6)
    assert [at.isoformat() for at in found] == ["2026-03-29T03:00:00+02:00"]


def test_a_time_that_the_clocks_repeat_comes_once():
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    found = slots_between("cron: 30 2 * * *", "Europe/Berlin", start, 6)
    assert [at.isoformat() for at in found] == ["2026-10-25T02:30:00+02:00"]


def test_an_hourly_report_comes_every_hour_also_when_the_clocks_repeat_one():
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    assert len(slots_between("cron: 0 * * * *", "Europe/Berlin", start, 6)) == 6


def test_every_monday_at_seven_is_on_the_clock_of_the_plan_in_summer_and_winter():
    for month, hour in ((1, 6), (7, 5)):
        now = datetime(2026, month, 15, 12, tzinfo=UTC)
        slot = slot_of("cron: 0 7 * * 1", BEGAN, now, "Europe/Berlin")
        assert slot is not None
        assert (slot.at.weekday(), slot.at.hour) == (0, hour)
