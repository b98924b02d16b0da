"""The page in a real browser, wide and on a phone, light and dark (pictures: build/screens)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.machine import needs
from tests.report.examples import EXAMPLES
from tests.web.browser import browser, complaints, hosts, screenshot, visit, wrong_with
from worker.report.page import write_report

pytestmark = needs("browser")
# As WCAG 2.2 computes it, of every element with text of its own, on the ground behind it.
_CONTRAST = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = (rgb) => rgb.slice(0, 3).map(Number).map(channel)
  .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
const parts = (colour) => colour.match(/[\\d.]+/g);
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const colour = parts(getComputedStyle(element).backgroundColor);
    if (colour.length === 3 || Number(colour[3]) === 1) return colour;
  }
  return ["255", "255", "255"];
};
const worst = { ratio: 99, text: "" };
for (const element of document.querySelectorAll("body, body *:not(svg *)")) {
  if (["SCRIPT", "STYLE"].includes(element.tagName)) continue;
  const text = [...element.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
  if (!text.length) continue;
  const pair = [light(parts(getComputedStyle(element).color)), light(ground(element))].sort();
  const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  if (ratio < worst.ratio) Object.assign(worst, { ratio, text: text[0].data });
}
return worst;
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: write_report(make(), folder, name) for name, make in EXAMPLES.items()}


def look(driver: webdriver.Chrome, page: Path, width: int = 1280, scheme: str = "light") -> None:
    """Open a page in a window so wide; everything that was said before is forgotten."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    complaints(driver), hosts(driver)
    visit(driver, page.as_uri())


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_a_page_fits_its_window_complains_of_nothing_and_asks_nobody(
    driver: webdriver.Chrome, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    look(driver, pages[name], width, scheme)
    screenshot(driver, f"report-{name}-{width}-{scheme}")
    driver.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert complaints(driver) == []
    assert hosts(driver) == set()
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.find_elements(By.TAG_NAME, "h1")[0].is_displayed()


@pytest.mark.parametrize("name", ["ordinary", "empty", "costly", "continued"])
def test_axe_finds_nothing(driver: webdriver.Chrome, pages: dict[str, Path], name: str) -> None:
    for width in (360, 1280):
        look(driver, pages[name], width)
        assert wrong_with(driver) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_told_from_its_ground(
    driver: webdriver.Chrome, pages: dict[str, Path], scheme: str
) -> None:
    look(driver, pages["ordinary"], scheme=scheme)
    driver.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
    worst = driver.execute_script(_CONTRAST)
    assert worst["ratio"] >= 4.5, worst


def test_the_words_of_a_picture_stay_within_it(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    for name in ("ordinary", "nasty", "thousand", "compared", "confused"):
        for width in (1280, 390):
            look(driver, pages[name], width)
            outside = driver.execute_script(
                "return [...document.querySelectorAll('svg')].flatMap((svg) => {"
                "const frame = svg.getBoundingClientRect();"
                "return [...svg.querySelectorAll('text')].filter((text) => {"
                "const box = text.getBoundingClientRect();"
                "return box.left < frame.left - 1 || box.right > frame.right + 1;"
                "}).map((text) => text.textContent)})"
            )
            assert outside == [], (name, width)


def test_tables_are_opened_and_sorted_with_the_keyboard_alone(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["ordinary"])
    section = driver.find_element(By.ID, "labels")
    section.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    head = section.find_elements(By.CSS_SELECTOR, "thead th")[1]
    button = head.find_element(By.TAG_NAME, "button")
    for order, is_down in (("ascending", False), ("descending", True)):
        button.send_keys(Keys.ENTER)
        assert head.get_attribute("aria-sort") == order
        cells = section.find_elements(By.CSS_SELECTOR, "tbody tr td:nth-child(2)")
        numbers = [int(cell.text.replace(",", "")) for cell in cells]
        assert numbers == sorted(numbers, reverse=is_down)
        assert len(numbers) == 20


def test_the_first_key_leads_past_the_header_and_shows_where_one_is(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["ordinary"])
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    focused = driver.switch_to.active_element
    assert focused.text == "Skip to the content"
    assert focused.value_of_css_property("outline-style") == "solid"
    focused.send_keys(Keys.ENTER)
    assert driver.switch_to.active_element.get_attribute("id") == "content"


def test_a_name_runs_no_script(driver: webdriver.Chrome, pages: dict[str, Path]) -> None:
    look(driver, pages["nasty"])
    driver.execute_script("return document.title")  # an open alert would raise here
    assert len(driver.find_elements(By.TAG_NAME, "script")) == 1


def test_print_leaves_closed_tables_and_the_list_of_sections_out(
    driver: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    look(driver, pages["thousand"])
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not driver.find_element(By.TAG_NAME, "nav").is_displayed()
    assert not driver.find_element(By.TAG_NAME, "summary").is_displayed()
    assert driver.find_element(By.TAG_NAME, "svg").is_displayed()
    ground = driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert ground == "rgba(255, 255, 255, 1)"


def test_in_a_cell_of_a_notebook_it_works_as_ever_and_cannot_reach_the_notebook(
    driver: webdriver.Chrome, tmp_path: Path
) -> None:
    notebook = tmp_path / "notebook.html"
    cell = EXAMPLES["nasty"]()._repr_html_()
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{cell}", encoding="utf-8")
    look(driver, notebook)
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    try:
        assert driver.find_element(By.TAG_NAME, "h1").is_displayed()
        button = driver.find_element(By.CSS_SELECTOR, "#labels thead button")
        driver.execute_script("arguments[0].click()", button)
        assert driver.find_elements(By.CSS_SELECTOR, "#labels th[aria-sort=ascending]")
        assert complaints(driver) == []
        assert hosts(driver) == set()
        reach = "try { return parent.document.title } catch (error) { return error.name }"
        assert driver.execute_script(reach) == "SecurityError"
    finally:
        driver.switch_to.default_content()
