"""axe finds nothing on any page: at the width of a phone and of a screen, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from tests.machine import needs
from tests.web.browser import browser, screenshot, visit, wrong_with
from tests.web.site import TOKEN, Begun, begin, dashboard, forget
from tests.web.test_browser import is_live, text, wait
from worker.report.making import make_now
from worker.service.context import Context
from worker.setup.lifecycle import pause, stop

pytestmark = needs("browser")


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    with browser(tmp_path / "profile") as driver:
        yield driver


@pytest.fixture
def pages(
    context: Context, begun: Begun, tmp_path: Path, assessment_id: str
) -> Iterator[dict[str, str]]:
    """A page of each kind: its name and its path."""
    paused, stopped = (
        begin(context, tmp_path / name, f"{assessment_id}-{name}") for name in ("paused", "stopped")
    )
    for n, one in ((20, begun), (3, paused), (20, stopped)):
        for k in range(n):
            one.label(("cat", "dog", "cow")[k % 3])
    pause(context, paused.id)
    stop(context, stopped.id)
    report = make_now(context, stopped.id).name
    yield {
        "all": "/",
        "running": f"/a/{begun.id}",
        "paused": f"/a/{paused.id}",
        "stopped": f"/a/{stopped.id}",
        "nobody": "/a/nobody",
        "report": f"/a/{stopped.id}/reports/{report}",
        "reports": f"/a/{stopped.id}/reports/index.html",
    }
    for one in (paused, stopped):
        forget(context, one.id)


def look(driver: webdriver.Chrome, width: int, scheme: str) -> None:
    """Let all pages be so wide, and light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )


@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")]
)
def test_axe_finds_nothing_and_no_page_scrolls_sideways(
    chromium: webdriver.Chrome,
    url: str,
    guarded: str,
    pages: dict[str, str],
    width: int,
    scheme: str,
) -> None:
    look(chromium, width, scheme)
    found: dict[str, list[str]] = {}

    def hold(name: str) -> None:
        found[name] = wrong_with(chromium)
        if chromium.execute_script("return document.documentElement.scrollWidth") > width:
            found[name].append("it scrolls sideways")
        screenshot(chromium, f"accessible-{name}-{width}-{scheme}")

    for name, path in (("login", "/login"), ("wrong token", "/login?token=wrong")):
        visit(chromium, guarded + path)
        hold(name)
    visit(chromium, url + pages["running"])
    hold("signed out")
    chromium.get(f"{guarded}/login?token={TOKEN}")
    for name, path in pages.items():
        visit(chromium, guarded + path)
        if name in ("running", "paused", "stopped"):
            wait(chromium, lambda: is_live(chromium))
            assert "labels" in text(chromium, "charts")
            assert chromium.execute_script("return !!document.getElementById('make-report')")
        hold(name)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_axe_would_find_what_is_wrong(
    chromium: webdriver.Chrome, guarded: str, begun: Begun
) -> None:
    visit(chromium, f"{guarded}/login")
    chromium.execute_script("document.querySelector('label').remove()")
    assert [wrong.split(":")[0] for wrong in wrong_with(chromium)] == ["label"]


def test_a_link_with_the_token_leaves_no_token_in_the_address(
    chromium: webdriver.Chrome, context: Context, begun: Begun
) -> None:
    with dashboard(context, host="0.0.0.0") as url:
        chromium.get(f"{url}/login?token={TOKEN}&next=/a/{begun.id}")
        wait(chromium, lambda: is_live(chromium))
        assert chromium.current_url == f"{url}/a/{begun.id}"
        assert TOKEN not in chromium.page_source
        assert chromium.execute_script("return document.referrer") == ""


def test_after_a_link_with_a_wrong_token_the_form_still_signs_in(
    chromium: webdriver.Chrome, guarded: str, begun: Begun
) -> None:
    visit(chromium, f"{guarded}/login?token=wrong&next=/a/{begun.id}")
    chromium.find_element("id", "token").send_keys(TOKEN, "\n")
    wait(chromium, lambda: chromium.current_url == f"{guarded}/a/{begun.id}")
    assert chromium.find_elements("id", "pause")


def test_a_report_is_made_with_the_keyboard_and_comes_to_the_page_by_itself(
    chromium: webdriver.Chrome, guarded: str, begun: Begun
) -> None:
    begun.label()
    chromium.get(f"{guarded}/login?token={TOKEN}&next=/a/{begun.id}")
    wait(chromium, lambda: is_live(chromium))
    chromium.find_element("id", "make-report").send_keys("\n")
    wait(chromium, lambda: "CSV" in text(chromium, "reports"))
    assert chromium.execute_script("return !!document.getElementById('make-report')")
