"""Pictures say what is so, in words and as tables, and stay on their sheet at any number."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web.site import Begun
from worker.formats import percent
from worker.report.contents_progress import Forecast, Point
from worker.report.status import Status, status_of
from worker.web.charts import HEIGHT, WIDTH, Chart, hours, way

NOW = 1_800_000_000.0
shares = st.floats(0, 1)


@pytest.fixture
def status(begun: Begun) -> Status:
    begun.label()
    return status_of(begun.context, begun.id)


def places(chart: Chart) -> list[tuple[float, float]]:
    found = [*chart.line, *chart.ahead]
    found += [(x, 0.0) for x, _ in chart.x_ticks] + [(0.0, y) for y, _ in chart.y_ticks]
    found += [(x + width, y + height) for x, y, width, height in chart.bars]
    found += [(x, y) for x, y, _, _ in chart.bars]
    found += [(x, chart.stop[0]) for x in chart.end or () if chart.stop]
    return found


def is_on_its_sheet(chart: Chart) -> bool:
    return all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places(chart))


@pytest.mark.parametrize("labels", [1, 2, 3, 40, 10_000])
def test_the_way_stays_on_its_sheet_and_has_its_numbers(
    begun: Begun, status: Status, labels: int
) -> None:
    before = [Point(n, 0.3 + n / 50_000, "") for n in range(8, labels, max(1, labels // 16))]
    for low, more, high in ((1, 1, 1), (5, 20, 60), (9_000, 50_000, 400_000), (None, None, None)):
        ahead = Forecast(more, None, None, "About so many more.", low, high)
        now = replace(status, labels=labels, confidence=0.8, forecast=ahead)
        chart = way(now, begun.work, before)
        assert chart is not None
        assert is_on_its_sheet(chart)
        assert 2 <= len(chart.x_ticks) <= 5
        assert len({text for _, text in chart.x_ticks}) == len(chart.x_ticks)
        assert chart.line == tuple(sorted(chart.line))
        assert chart.rows[0] == (f"{labels:,}", percent(0.8))
        assert len(chart.rows) == len(chart.line) == len(before) + 1
        assert f"after {labels:,} label" in chart.says
        assert "80%" in chart.says
        assert "The rule stops at 99.9%." in chart.says
        assert ahead.text in chart.says


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    reached=shares,
    labels=st.integers(1, 10**6),
    missing=st.lists(st.integers(1, 10**6), min_size=3, max_size=3).map(sorted),
)
def test_what_is_foreseen_begins_now_and_leads_towards_the_stop_line(
    begun: Begun, status: Status, reached: float, labels: int, missing: list[int]
) -> None:
    low, more, high = missing
    ahead = Forecast(more, None, None, "", low, high)
    chart = way(replace(status, labels=labels, confidence=reached, forecast=ahead), begun.work, [])
    assert chart is not None
    assert chart.stop is not None
    assert is_on_its_sheet(chart)
    now, end = chart.ahead
    assert now == chart.line[-1]
    assert end[0] >= now[0]
    assert abs(end[1] - chart.stop[0]) <= abs(now[1] - chart.stop[0])
    if chart.end is not None:
        assert now[0] <= chart.end[0] <= chart.end[1]


def test_before_the_first_label_there_is_no_way_yet(begun: Begun) -> None:
    status = status_of(begun.context, begun.id)
    assert way(status, begun.work, []) is None
    assert hours([0] * 24, NOW, "UTC") is None


@given(st.lists(st.integers(0, 5_000), min_size=24, max_size=24))
def test_hours_are_bars_with_their_sum_in_words(per_hour: list[int]) -> None:
    chart = hours(per_hour, NOW, "UTC")
    if not sum(per_hour):
        assert chart is None
        return
    assert chart is not None
    assert is_on_its_sheet(chart)
    assert len(chart.bars) == sum(n > 0 for n in per_hour)
    assert chart.says.startswith(f"{sum(per_hour):,} label")
    assert [text for _, text in chart.rows] == [f"{n:,}" for n in reversed(per_hour)]
    assert [text for _, text in chart.x_ticks] == ["12:00", "18:00", "00:00", "06:00"]


def test_hours_are_those_of_the_plans_clock() -> None:
    chart = hours([0] * 23 + [7], NOW, "Asia/Kolkata")  # 08:00 in UTC
    assert chart is not None
    assert chart.rows[0] == ("Fri 13:30", "7")
    assert "from 13:30 on" in chart.says


def test_the_page_has_its_pictures_in_words_and_as_tables_and_they_grow_with_the_labels(
    begun: Begun, url: str
) -> None:
    page = f"{url}/a/{begun.id}"
    assert 'class="chart"' not in httpx.get(page).text
    begun.label()
    text = httpx.get(page).text
    assert text.count('<figure class="chart">') == text.count('<svg viewBox="0 0 360 180"') == 2
    assert 'role="img" aria-label="Probability that the answer is right after 1 label: ' in text
    assert 'role="img" aria-label="1 label in the last 24 hours: at most 1 in one, ' in text
    assert '<details id="way-details">' in text
    assert '<details id="hours-details">' in text
    begun.label("dog")
    assert "after 2 labels: " in httpx.get(page).text
