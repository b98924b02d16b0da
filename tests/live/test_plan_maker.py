"""In a real browser from a dropped file to the first label, with a real Label Studio behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from connector.local import LabelStudioServer
from tests.live.pools import SignUp
from tests.live.service import eventually, service
from tests.machine import needs
from tests.web.browser import browser, screenshot
from tests.web.site import TOKEN
from tests.web.test_browser import text, wait
from tests.worker.setup.messy_files import TOPICS, semicolons

pytestmark = [pytest.mark.live, needs("browser")]


def test_a_file_that_is_chosen_on_a_page_is_labelled_by_a_person_and_seen_on_a_page(
    label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    home, file = tmp_path / "home", semicolons(tmp_path)
    token = {"ASSAY_DASHBOARD_TOKEN": TOKEN}
    with service(home, label_studio, token) as running, browser(tmp_path / "profile") as driver:
        running.spawn_all()
        address = running.context.state.get("assay:receiver")
        driver.get(f"{address}/login?token={TOKEN}&next=/new")
        wait(driver, lambda: driver.current_url.endswith("/new"))
        driver.find_element(By.ID, "file").send_keys(str(file))
        driver.find_element(By.CSS_SELECTOR, "#take button").click()
        wait(driver, lambda: driver.current_url.endswith("/new/tickets"))
        driver.find_element(By.CSS_SELECTOR, "form[action$='/start'] button").click()
        eventually(lambda: driver.current_url.endswith("/a/tickets"))

        header = running.context.header("tickets")
        person = annotator()
        task = eventually(lambda: person.next_task(header.project))
        assert set(task["data"]) == {"item_id", "body"}
        person.submit(task["id"], TOPICS[0], header.control, header.to_name)
        eventually(lambda: running.labels("tickets") == 1)
        wait(driver, lambda: text(driver, "labels") == "1", 120)
        screenshot(driver, "plan-maker-first-label")
