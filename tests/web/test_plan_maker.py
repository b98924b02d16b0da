"""From a file to a plan on pages: guesses are seen, choices count, nobody gets in unsigned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.machine import needs
from tests.web.browser import browser, complaints, screenshot
from tests.web.site import TOKEN, dashboard, signed_in
from tests.web.test_accessible import look, wrong_with
from tests.web.test_browser import text, wait
from tests.worker.pool.opinions_pool import animals, write
from tests.worker.setup.messy_files import empty_texts, semicolons
from worker.plan import load_plan
from worker.service.context import Context


def csrf_of(client: httpx.Client, page: str = "/new") -> str:
    found = re.search(r'csrf="([0-9a-f]+)"', client.get(page).text)
    assert found is not None
    return found[1]


def sent(client: httpx.Client, path: Path, name: str = "") -> httpx.Response:
    headers = {"X-CSRF": csrf_of(client), "accept": "application/json"}
    content = path.read_bytes()
    return client.put(f"/new/file/{name or path.name}", content=content, headers=headers)


def test_a_file_becomes_a_page_with_guesses_and_what_annotators_will_see(
    context: Context, guarded: str, tmp_path: Path
) -> None:
    with signed_in(guarded) as client:
        answer = sent(client, semicolons(tmp_path))
        assert answer.status_code == 201
        page = client.get(answer.json()["page"]).text
    assert "predicted: model_topic" in page
    assert "not shown: topic" in page
    assert "120 items in 4 groups" in page
    assert page.count("<bdi>body: ") == 3
    assert load_plan(context.settings.home / "plans" / "tickets" / "plan.yaml").pool.data


def test_the_page_says_what_each_opinion_in_the_file_is_for(guarded: str, tmp_path: Path) -> None:
    table = animals()
    table["model_b"] = table.pop("old_class")
    path = write(tmp_path, {"predicted": table.pop("said"), **table})
    with signed_in(guarded) as client:
        page = client.get(sent(client, path).json()["page"]).text
    assert "opinion: model_b (another classifier" in page
    assert "model_b: another classifier&#39;s class; agrees on " in page


def test_choices_are_in_the_plan_that_is_begun(
    context: Context, guarded: str, tmp_path: Path
) -> None:
    chosen = {"task": "compare", "groups": "topic", "score": "", "predicted": "", "shown": ""}
    with signed_in(guarded) as client:
        page = sent(client, semicolons(tmp_path)).json()["page"]
        csrf = csrf_of(client)
        assert client.post(page, data=chosen | {"csrf": csrf}).status_code == 303
        assert "120 items in 4 groups" in client.get(page).text
    plan = load_plan(context.settings.home / "plans" / "tickets" / "plan.yaml")
    assert (plan.question.task, plan.pool.groups) == ("compare", "topic")
    assert plan.stop.kind == "rope"


@pytest.mark.parametrize("task", ["identify", "estimate", "compare"])
def test_how_many_labels_it_takes_is_said_before_there_are_any(
    guarded: str, tmp_path: Path, task: str
) -> None:
    with signed_in(guarded) as client:
        page = sent(client, semicolons(tmp_path)).json()["page"]
        csrf = csrf_of(client)
        client.post(page, data={"task": task, "csrf": csrf})
        told = client.post(f"{page}/foreseen", data={"csrf": csrf}, timeout=240)
    assert told.status_code == 200
    assert "labels" in told.text


def test_rows_with_faults_are_named_and_left_out_when_that_is_chosen(
    guarded: str, tmp_path: Path
) -> None:
    with signed_in(guarded) as client:
        page = sent(client, empty_texts(tmp_path)).json()["page"]
        told = client.get(page).text
        assert "annotators would see nothing" in told
        assert "in rows 1, 71" in told
        assert ">Start<" not in told
        client.post(page, data={"drop": "yes", "csrf": csrf_of(client)})
        told = client.get(page).text
    assert "118 items" in told
    assert "Left out: 2 empty" in told
    assert ">Start<" in told


def test_a_second_file_of_one_name_takes_no_place_of_the_first(
    guarded: str, tmp_path: Path
) -> None:
    with signed_in(guarded) as client:
        pages = [sent(client, semicolons(tmp_path)).json()["page"] for _ in range(2)]
    assert pages == ["/new/tickets", "/new/tickets-2"]


def test_nothing_is_shown_taken_or_begun_without_the_token(
    context: Context, url: str, guarded: str, tmp_path: Path
) -> None:
    path = semicolons(tmp_path)
    for address, code in ((url, 403), (guarded, 401)):
        with httpx.Client(base_url=address) as client:
            assert client.get("/new").status_code == code
            assert client.put("/new/file/a.csv", content=path.read_bytes()).status_code == code
            assert client.post("/new/tickets/start").status_code == code
    with signed_in(guarded) as client:
        page = sent(client, path).json()["page"]
        for place in (page, f"{page}/foreseen", f"{page}/start"):
            assert client.post(place, data={"csrf": "0" * 64}).status_code == 403
    with httpx.Client(base_url=guarded) as client:
        assert client.get(page).status_code == 401
    assert not list((context.settings.home / "plans").glob("a*"))


@pytest.mark.parametrize(
    ("name", "code"), [("a.exe", 400), ("plan.yaml", 400), ("..%2f..%2fa.csv", 404), ("a.xls", 400)]
)
def test_what_is_no_file_of_predictions_is_not_taken(
    guarded: str, tmp_path: Path, name: str, code: int
) -> None:
    with signed_in(guarded) as client:
        answer = sent(client, semicolons(tmp_path), name)
        assert answer.status_code == code
        assert client.get("/new/..%2f..").status_code == 404


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    with browser(tmp_path / "profile") as driver:
        driver.set_script_timeout(120)
        yield driver


@needs("browser")
@pytest.mark.parametrize("width", [360, 1280])
def test_in_a_browser_a_chosen_file_leads_to_its_page_and_axe_finds_nothing(
    chromium: webdriver.Chrome, context: Context, tmp_path: Path, width: int
) -> None:
    path = semicolons(tmp_path)
    with dashboard(context) as url:
        look(chromium, width, "light")
        chromium.get(f"{url}/login?token={TOKEN}&next=/new")
        wait(chromium, lambda: chromium.current_url.endswith("/new"))
        assert wrong_with(chromium) == []
        screenshot(chromium, f"new-{width}")
        chromium.find_element(By.ID, "file").send_keys(str(path))
        chromium.find_element(By.CSS_SELECTOR, "#take button").click()
        wait(chromium, lambda: chromium.current_url.endswith("/new/tickets"))
        assert "120 items in 4 groups" in chromium.find_element(By.ID, "main").text
        wide = "return document.documentElement.scrollWidth <= window.innerWidth"
        assert chromium.execute_script(wide)
        assert wrong_with(chromium) == []
        screenshot(chromium, f"plan-{width}")
        chromium.find_element(By.ID, "foresee").click()
        wait(chromium, lambda: "labels" in text(chromium, "told"), 240)
        assert complaints(chromium) == []
