"""A real Chromium, and what a person would complain about."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE_S = 20
AXE_S = 110  # of a page with many tables; Selenium itself waits for two minutes
AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_FOUND = """
const done = arguments[arguments.length - 1];
axe.run().then((told) => done({
  rules: told.passes.length,
  wrong: told.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html)}`),
}));
"""
SCREENS = Path(__file__).parents[2] / "build" / "screens"


@contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """A browser without a window, that keeps a log of what it says and asks for."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--disable-background-networking", "--disable-component-update",
                     f"--user-data-dir={profile}", "--window-size=1280,900"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(PATIENCE_S)
    driver.set_script_timeout(AXE_S)
    try:
        yield driver
    finally:
        driver.quit()


def visit(driver: webdriver.Chrome, url: str) -> None:
    """Open a page, and wait until it is laid out: Chromium 150's driver may say so before."""
    driver.get(url)
    is_there = (
        "return location.href.startsWith(arguments[0]) && document.readyState === 'complete'"
        " && document.body.offsetHeight > 0"
    )
    WebDriverWait(driver, PATIENCE_S).until(lambda now: now.execute_script(is_there, url))


def complaints(driver: webdriver.Chrome) -> list[str]:
    """Errors and warnings of the console since the last call."""
    return [line["message"] for line in driver.get_log("browser") if line["level"] != "INFO"]


def hosts(driver: webdriver.Chrome) -> set[str]:
    """Every host that was asked for something since the last call."""
    asked: set[str] = set()
    for line in driver.get_log("performance"):
        message: dict[str, Any] = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = urlsplit(message["params"]["request"]["url"])
            if url.scheme in ("http", "https", "ws", "wss"):  # not the browser's own first page
                asked.add(url.hostname or "")
    return asked


def screenshot(driver: webdriver.Chrome, name: str) -> None:
    """Keep a picture of the whole page for a person to look at."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(4000, size["height"]), "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    (SCREENS / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


def phone(driver: webdriver.Chrome) -> None:
    """Let the page be as wide as a phone."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 375, "height": 740, "deviceScaleFactor": 2, "mobile": True},
    )


def wrong_with(driver: webdriver.Chrome) -> list[str]:
    """What axe says against the page, with everything opened that opens."""
    driver.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
    driver.execute_script(AXE)
    found = driver.execute_async_script(_FOUND)
    assert found["rules"] > 5, "axe looked at nothing"
    return list(found["wrong"])
