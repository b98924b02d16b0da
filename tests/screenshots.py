"""`make screenshots`: the README's pictures, taken again of a real assessment of the sample.

The dashboard half way, the labelling page of Label Studio as an annotator has it then, and the
report at the end; in a real browser, by a scripted annotator who answers truthfully.
"""

from __future__ import annotations

import base64
import csv
import io
import tempfile
from pathlib import Path

import click
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from connector import local
from connector.annotator import sign_up
from tests.live.pools import SAMPLE, Trial, label_until_stopped
from tests.live.service import Service, service
from tests.web.browser import browser, visit
from tests.web.site import TOKEN

PICTURES = SAMPLE.parent / "screenshots"
ASSESSMENT = "digits-worst-class"
# The sample takes some 60 to 100 labels.
HALF_WAY, MOST = 40, 800
PATIENCE_S = 120.0
WIDTH = 1200
COLOURS = 64  # flat pages: nobody sees the difference, and the file has a third of the bytes
EMAIL, PASSWORD = "ada@example.com", "assay-demo-1"


def take_all(folder: Path) -> None:
    """Run the sample from its start to its decision, and take the pictures on the way.

    Args:
        folder: for all that is thrown away afterwards.
    """
    with (
        local.start(folder / "label-studio", say=click.echo) as studio,
        service(folder / "home", studio, {"ASSAY_DASHBOARD_TOKEN": TOKEN}) as assay,
        sign_up(studio.url, studio.token, EMAIL, PASSWORD) as ada,
        browser(folder / "profile") as driver,
    ):
        driver.set_page_load_timeout(PATIENCE_S)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        assay.spawn_all()
        project = assay.begin(SAMPLE / "plan.yaml")
        trial = Trial(ASSESSMENT, SAMPLE / "plan.yaml", "digit", "image", _truth(), {})
        for _ in range(HALF_WAY):
            trial.answer(ada, project)
        _dashboard(driver, assay)
        _labelling(driver, studio.url, project)
        label_until_stopped(assay, trial, project, ada, MOST)
        _report(driver, assay)


def _dashboard(driver: webdriver.Chrome, assay: Service) -> None:
    address = assay.context.state.get("assay:receiver")
    driver.get(f"{address}/login?token={TOKEN}&next=/a/{ASSESSMENT}")
    _wait(driver, f"return document.body.innerText.includes('{HALF_WAY} of 1,200 items')")
    _take(driver, "dashboard", 1000)


def _labelling(driver: webdriver.Chrome, studio: str, project: int) -> None:
    visit(driver, f"{studio}/user/login/")
    driver.find_element(By.NAME, "email").send_keys(EMAIL)
    driver.find_element(By.NAME, "password").send_keys(PASSWORD, Keys.ENTER)
    _wait(driver, "return !location.pathname.includes('login')")
    visit(driver, f"{studio}/projects/{project}/data?labeling=1")
    _wait(driver, "return document.querySelector('.lsf-main-view img')?.naturalWidth > 0")
    _take(driver, "labelling", 640)


def _report(driver: webdriver.Chrome, assay: Service) -> None:
    path = Path(assay.json("report", ASSESSMENT)["page"])
    visit(driver, path.as_uri())
    _take(driver, "report", 1350)


def _wait(driver: webdriver.Chrome, script: str) -> None:
    """Wait until a script says yes; pages write their elements anew while one looks at them."""
    WebDriverWait(driver, PATIENCE_S).until(lambda now: now.execute_script(script))


def _take(driver: webdriver.Chrome, name: str, height: int) -> None:
    """Keep the top of the page, as a window of this height would show it."""
    window = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
    taken = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    click.echo(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def _truth() -> dict[str, str]:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        return {row["item_id"]: row["digit"] for row in csv.DictReader(file)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        take_all(Path(name))
