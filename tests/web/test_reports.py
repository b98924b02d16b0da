"""Reports are made from the page, once however often one presses, and kept as files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.web.site import Begun, csrf_of, signed_in
from worker.report.index import entries
from worker.report.making import claim, make_claimed
from worker.report.scheduled import is_claimed
from worker.service.context import Context
from worker.web import reports

PATIENCE_S = 120.0


@pytest.fixture
def client(guarded: str, begun: Begun) -> Iterator[httpx.Client]:
    begun.label()
    with signed_in(guarded) as client:
        yield client


def press(client: httpx.Client, begun: Begun) -> httpx.Response:
    return client.post(f"/a/{begun.id}/report", data={"csrf": csrf_of(client, begun.id)})


def eventually(look: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not look():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_idle(begun: Begun) -> bool:
    return not is_claimed(begun.ledger.metadata(), time.time())


def test_a_press_makes_the_report_that_the_command_makes_and_the_page_lists_it(
    client: httpx.Client, begun: Begun, context: Context
) -> None:
    page = f"/a/{begun.id}"
    assert "Make a report" in client.get(page).text
    answer = press(client, begun)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}#reports")
    eventually(lambda: is_idle(begun))
    (entry,) = entries(context.folder(begun.id) / "reports")
    assert entry.labels == 1
    eventually(lambda: f"/reports/{entry.html}" in client.get(page).text)
    assert "Make a report" in client.get(page).text


def test_presses_at_once_make_one_report(
    client: httpx.Client, begun: Begun, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    are_pressed, made = threading.Event(), list[str]()

    def make_then(of: Context, assessment: str, mine: str) -> None:
        made.append(mine)
        assert are_pressed.wait(PATIENCE_S)
        make_claimed(of, assessment, mine)

    monkeypatch.setattr(reports, "make_claimed", make_then)
    csrf = {"csrf": csrf_of(client, begun.id)}
    with ThreadPoolExecutor(4) as several:
        posts = [several.submit(client.post, f"/a/{begun.id}/report", data=csrf) for _ in range(4)]
        assert {post.result().status_code for post in posts} == {303}
    are_pressed.set()
    eventually(lambda: is_idle(begun))
    assert len(made) == len(entries(context.folder(begun.id) / "reports")) == 1


def test_while_somebody_makes_one_the_page_says_so_and_a_press_makes_none(
    client: httpx.Client, begun: Begun, context: Context
) -> None:
    assert claim(begun.ledger, begun.ledger.metadata())
    text = client.get(f"/a/{begun.id}").text
    assert "A report is being made" in text
    assert "Make a report" not in text
    assert press(client, begun).status_code == 303
    time.sleep(0.5)
    assert entries(context.folder(begun.id) / "reports") == []


def test_a_report_that_fails_is_told_on_the_page(
    client: httpx.Client, begun: Begun, context: Context
) -> None:
    folder = context.folder(begun.id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reports").write_text("no folder")  # as a disk that is full would
    press(client, begun)
    eventually(lambda: "No report could be made" in client.get(f"/a/{begun.id}").text)


def test_without_a_session_and_its_form_nothing_is_made(
    url: str, guarded: str, begun: Begun, context: Context
) -> None:
    begun.label()
    assert "Make a report" not in httpx.get(f"{url}/a/{begun.id}").text
    assert httpx.post(f"{url}/a/{begun.id}/report").status_code == 403
    assert httpx.post(f"{guarded}/a/{begun.id}/report").status_code == 401
    with signed_in(guarded) as client:
        assert client.post(f"/a/{begun.id}/report", data={"csrf": "0" * 64}).status_code == 403
        assert client.post("/a/nobody/report", data={"csrf": csrf_of(client, begun.id)}
                           ).status_code == 404  # fmt: skip
    assert is_idle(begun)
    assert entries(context.folder(begun.id) / "reports") == []


def test_numbers_are_kept_as_files_and_pages_are_shown(
    client: httpx.Client, begun: Begun, context: Context
) -> None:
    press(client, begun)
    eventually(lambda: is_idle(begun))
    (entry,) = entries(context.folder(begun.id) / "reports")
    text = client.get(f"/a/{begun.id}").text
    for name, kind in ((entry.csv, "text/csv"), (entry.json, "application/json")):
        assert f'href="/a/{begun.id}/reports/{name}" download' in text
        answer = client.get(f"/a/{begun.id}/reports/{name}")
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["content-type"].startswith(kind)
    assert "content-disposition" not in client.get(f"/a/{begun.id}/reports/{entry.html}").headers
