"""Paces, days and rounded numbers: what people read first."""

from datetime import UTC, datetime, timedelta

import pytest

from worker.report.progress import _two_digits, _when, pace

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def ago(**time: float) -> int:
    return int((NOW - timedelta(**time)).timestamp() * 1e6)


def test_a_pace_counts_nights_and_pauses():
    assert pace([ago(hours=h) for h in (10, 9.9, 9.8, 0.1)], NOW) == pytest.approx(0.4)


def test_a_pace_looks_back_a_week_at_most():
    early = [ago(days=30, minutes=m) for m in range(500)]
    late = [ago(hours=h) for h in range(1, 169)]
    assert pace(early + late, NOW) == pytest.approx(1.0, rel=0.01)


def test_who_stopped_labelling_a_week_ago_has_no_pace():
    assert pace([ago(days=8), ago(days=9)], NOW) is None


def test_one_label_has_no_pace_and_two_quick_ones_no_absurd_one():
    assert pace([ago(hours=1)], NOW) is None
    assert pace([ago(seconds=1), ago(seconds=2)], NOW) <= 12


@pytest.mark.parametrize(("n", "shown"), [(1, 1), (7, 7), (99, 99), (101, 110), (1540, 1600)])
def test_a_forecast_does_not_pretend_to_be_exact(n, shown):
    assert _two_digits(n) == shown


def test_a_day_is_named_and_an_hour_if_it_is_near():
    assert _when(NOW + timedelta(hours=3), NOW) == "Saturday at 15:00 UTC"
    assert _when(NOW + timedelta(days=5), NOW) == "Thursday, 26 November"
    assert _when(NOW + timedelta(days=60), NOW) == "Wednesday, 20 January 2027"
