"""The dashboard in a real browser: it lives, it steers, and it fits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.machine import needs
from tests.web.browser import browser, complaints, hosts, phone, screenshot, visit
from tests.web.site import TOKEN, Begun, begin, dashboard, forget
from worker.report.making import make_now
from worker.service.context import Context

pytestmark = needs("browser")
NAMES = ("<script>alert(1)</script>", "שלום עולם", "🦎 lizard", "a long name " * 25, "=1+1")


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    with browser(tmp_path / "profile") as driver:
        yield driver


def wait(driver: webdriver.Chrome, look: Callable[[], object], patience_s: float = 60.0) -> None:
    WebDriverWait(driver, patience_s, poll_frequency=0.05).until(lambda _: look())


def text(driver: webdriver.Chrome, name: str) -> str:
    return str(
        driver.execute_script("return document.getElementById(arguments[0]).innerText", name)
    )


def is_live(driver: webdriver.Chrome) -> bool:
    return text(driver, "connection") == "Live"


def sign_in(driver: webdriver.Chrome, url: str, assessment: str) -> None:
    visit(driver, f"{url}/login?next=/a/{assessment}")
    driver.find_element(By.ID, "token").send_keys(TOKEN, Keys.ENTER)
    wait(driver, lambda: driver.current_url.endswith(f"/a/{assessment}"))


def test_the_page_updates_by_itself_within_two_seconds_of_a_label(
    chromium: webdriver.Chrome, url: str, begun: Begun
) -> None:
    visit(chromium, f"{url}/a/{begun.id}")
    wait(chromium, lambda: is_live(chromium))
    assert text(chromium, "labels") == "0"
    chromium.execute_script("window.isTheSamePage = true; document.querySelector('a').focus()")
    for n in range(1, 4):
        begun.label(("cat", "dog", "cow")[n % 3])
        wait(chromium, lambda n=n: text(chromium, "labels") == str(n))
    assert chromium.execute_script("return window.isTheSamePage")
    assert hosts(chromium) == {"127.0.0.1"}
    assert complaints(chromium) == []
    screenshot(chromium, "dashboard-one")
    visit(chromium, url)
    wait(chromium, lambda: is_live(chromium))
    screenshot(chromium, "dashboard-all")
    assert complaints(chromium) == []


def test_focus_scroll_and_open_details_stay_where_they_are(
    chromium: webdriver.Chrome, guarded: str, begun: Begun
) -> None:
    sign_in(chromium, guarded, begun.id)
    wait(chromium, lambda: is_live(chromium))
    chromium.execute_script(
        "document.getElementById('stop-details').open = true; window.scrollTo(0, 300);"
        "document.getElementById('groups-table').focus({preventScroll: true})"
    )
    # What is read stays where it is, also when the text above it grows by a line.
    top = "return document.getElementById('groups-table').getBoundingClientRect().top"
    at = chromium.execute_script(top)
    begun.label()
    wait(chromium, lambda: text(chromium, "labels") == "1")
    assert chromium.execute_script("return document.activeElement.id") == "groups-table"
    assert chromium.execute_script("return document.getElementById('stop-details').open")
    assert chromium.execute_script(top) == pytest.approx(at, abs=2)


def test_one_pauses_resumes_and_stops_with_the_keyboard_alone(
    chromium: webdriver.Chrome, guarded: str, begun: Begun
) -> None:
    def press(wanted: str) -> None:
        """Walk to an element with Tab, as somebody without a mouse does, and press Enter.

        Keys go to the page, whatever has the focus: an element may be another one by now.
        """
        keys = webdriver.ActionChains(chromium)
        for _ in range(40):
            keys.send_keys(Keys.TAB).perform()
            focused = chromium.execute_script(
                "const e = document.activeElement; return e.id || e.parentElement.id"
            )
            if focused == wanted:
                keys.send_keys(Keys.ENTER).perform()
                return
        raise AssertionError(f"Tab never comes to {wanted}")

    def status() -> str:
        return begun.ledger.state().status

    sign_in(chromium, guarded, begun.id)
    press("pause")
    wait(chromium, lambda: status() == "paused")
    wait(chromium, lambda: chromium.find_elements(By.ID, "resume"))
    screenshot(chromium, "dashboard-paused")
    press("resume")
    wait(chromium, lambda: status() == "running")
    wait(chromium, lambda: chromium.find_elements(By.ID, "pause"))
    press("stop-details")
    press("stop")
    wait(chromium, lambda: status() == "stopped")
    wait(chromium, lambda: "Stopped by hand" in text(chromium, "decision"))
    screenshot(chromium, "dashboard-stopped")
    assert complaints(chromium) == []


def test_who_cannot_sign_in_has_no_button(
    chromium: webdriver.Chrome, url: str, begun: Begun
) -> None:
    visit(chromium, f"{url}/a/{begun.id}")
    assert not chromium.find_elements(By.CSS_SELECTOR, "#steer button")
    assert "ASSAY_DASHBOARD_TOKEN" in text(chromium, "steer")


def test_it_says_that_the_connection_is_lost_and_comes_back(
    chromium: webdriver.Chrome, context: Context, begun: Begun
) -> None:
    with ExitStack() as later:
        with dashboard(context, token=None) as url:
            visit(chromium, f"{url}/a/{begun.id}")
            wait(chromium, lambda: is_live(chromium))
        wait(chromium, lambda: "Connection lost" in text(chromium, "connection"))
        screenshot(chromium, "dashboard-lost")
        begun.label()
        later.enter_context(dashboard(context, token=None, port=int(url.rsplit(":", 1)[1])))
        wait(chromium, lambda: is_live(chromium) and text(chromium, "labels") == "1")


def test_a_hidden_tab_asks_for_nothing(chromium: webdriver.Chrome, url: str, begun: Begun) -> None:
    visit(chromium, f"{url}/a/{begun.id}")
    wait(chromium, lambda: is_live(chromium))
    chromium.execute_script(
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    hosts(chromium)
    begun.label()
    time.sleep(1.5)
    assert hosts(chromium) == set()
    assert text(chromium, "labels") == "0"
    chromium.execute_script(
        "Object.defineProperty(document, 'hidden', {value: false, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    wait(chromium, lambda: text(chromium, "labels") == "1")


def test_it_fits_a_phone_with_whatever_names(
    chromium: webdriver.Chrome, context: Context, url: str, tmp_path: Path, assessment_id: str
) -> None:
    odd = begin(context, tmp_path / "odd", assessment_id, groups=NAMES)
    try:
        odd.label()
        phone(chromium)
        for name, path in (("one", f"/a/{odd.id}"), ("all", "/"), ("login", "/login")):
            visit(chromium, url + path)
            wide = chromium.execute_script("return document.documentElement.scrollWidth")
            assert wide <= 375, f"{path} is {wide} wide"
            screenshot(chromium, f"dashboard-phone-{name}")
        assert complaints(chromium) == []
    finally:
        forget(context, odd.id)


def test_dark_is_readable(tmp_path: Path, url: str, begun: Begun) -> None:
    begun.label()
    with browser(tmp_path / "dark") as driver:
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark"}]},
        )
        visit(driver, f"{url}/a/{begun.id}")
        back = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert back == "rgb(21, 24, 26)"
        screenshot(driver, "dashboard-dark")


def test_a_report_opened_from_the_dashboard_has_its_style_and_sorts_its_tables(
    chromium: webdriver.Chrome, url: str, begun: Begun
) -> None:
    begun.label()
    make_now(begun.context, begun.id)
    visit(chromium, f"{url}/a/{begun.id}")
    chromium.find_element(By.CSS_SELECTOR, "#reports li a").click()
    wait(chromium, lambda: chromium.find_elements(By.CSS_SELECTOR, "svg"))
    font = chromium.execute_script("return getComputedStyle(document.querySelector('h1')).fontSize")
    assert float(font.removesuffix("px")) > 24
    assert chromium.find_elements(By.CSS_SELECTOR, "th button")  # the script ran
    assert hosts(chromium) == {"127.0.0.1"}
    assert complaints(chromium) == []
    screenshot(chromium, "dashboard-report")
