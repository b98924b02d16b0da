"""What annotators read in a real Label Studio: card, instruction and tab, as pictures too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from connector.local import ADMIN_EMAIL, ADMIN_PASSWORD, LabelStudioServer
from tests.live.pools import SignUp, Trial, insects, project_of
from tests.live.service import PATIENCE_S, Service, eventually
from tests.machine import needs
from tests.web.browser import browser, screenshot

pytestmark = [pytest.mark.live, needs("browser")]
OWN = "Look at the wings first."


def shown(driver: webdriver.Chrome, url: str, text: str, name: str) -> str:
    """The text of a page once `text` is in it; a picture of it is kept."""
    driver.get(url)
    seen = eventually(lambda: _body(driver) if text in _body(driver) else None, PATIENCE_S)
    screenshot(driver, name)
    return seen


def _body(driver: webdriver.Chrome) -> str:
    return str(driver.find_element(By.TAG_NAME, "body").text)


def instruction(driver: webdriver.Chrome, url: str, text: str, name: str) -> str:
    """What opens before one labels."""
    return shown(driver, f"{url}&labeling=1", text, name)


def log_in(driver: webdriver.Chrome, studio: LabelStudioServer) -> None:
    driver.set_page_load_timeout(PATIENCE_S)
    driver.get(f"{studio.url}/user/login/")
    for field, said in (("email", ADMIN_EMAIL), ("password", ADMIN_PASSWORD)):
        driver.find_element(By.NAME, field).send_keys(said)
    driver.find_element(By.CSS_SELECTOR, "form button[type=submit]").click()
    WebDriverWait(driver, PATIENCE_S).until(lambda now: "/user/login" not in now.current_url)


def test_a_person_at_the_browser_reads_progress_then_the_pause_then_thanks_and_never_a_finding(
    running: Service, label_studio: LabelStudioServer, annotator: SignUp, tmp_path: Path
) -> None:
    trial = insects(tmp_path, stop="{budget: 4}", more=f"label_studio: {{instruction: {OWN}}}\n")
    name, ada = trial.assessment, annotator()
    project = running.begin(trial.plan)
    data = f"{label_studio.url}/projects/{project}/data?task="
    every = f"{label_studio.url}/projects?page=1&page_size=100"

    def card() -> str:
        return str(project_of(label_studio, project)["description"])

    with browser(tmp_path / "profile") as driver:
        log_in(driver, label_studio)
        trial.answer(ada, project)
        told = "1 item is labelled so far: about a quarter of what is foreseen."
        eventually(lambda: told in card())
        read = [shown(driver, every, told, "annotators-card-progress")]
        read += [shown(driver, data, "Assay: 1 label", "annotators-tab-progress")]

        running.json("pause", name, "--why", "the photos are being sharpened")
        eventually(lambda: "Labelling is paused" in card())
        reason = "Labelling is paused (the photos are being sharpened): nobody gets new items"
        read += [shown(driver, every, reason, "annotators-card-paused")]
        read += [shown(driver, data, "Assay: paused", "annotators-tab-paused")]
        read += [instruction(driver, data, reason, "annotators-instruction-paused")]
        assert OWN in read[-1]

        running.json("resume", name)
        eventually(lambda: "paused" not in card())
        eventually(lambda: project_of(label_studio, project)["expert_instruction"] == OWN)
        read += [instruction(driver, data, OWN, "annotators-instruction-resumed")]
        assert "paused" not in read[-1]

        running.json("stop", name)
        eventually(lambda: running.context.ledger(name).metadata().get("told_desk"))
        thanks = "Thank you: labelling has ended, there is nothing left to label here."
        read += [shown(driver, every, thanks, "annotators-card-thanks")]
        read += [instruction(driver, data, thanks, "annotators-instruction-thanks")]
        read += [shown(driver, data, "Assay: finished", "annotators-tab-thanks")]
    for text in read:
        assert not re.search(r"least accurate|% sure|posterior|credible|confiden", text)
    assert _is_quiet(running, trial)


def _is_quiet(running: Service, trial: Trial) -> bool:
    return running.status(trial.assessment)["error"] == ""
