"""The local Label Studio and its scripted annotators do what people and servers do."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from connector.annotator import Annotator, AnnotatorError, sign_up
from connector.local import (
    LABEL_STUDIO_VERSION,
    LabelStudioServer,
    LocalServerError,
    personal_access_token,
    start,
)
from connector.local_database import KEPT_IN, POSTGRESQL, SQLITE
from tests.machine import needs

pytestmark = pytest.mark.live

CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="digit" toName="text"><Choice value="0"/><Choice value="1"/></Choices>
</View>
"""

SignUp = Callable[[], Annotator]


@pytest.fixture
def admin(label_studio: LabelStudioServer) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Token {label_studio.token}"}
    with httpx.Client(base_url=label_studio.url, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture
def project(admin: httpx.Client) -> int:
    """A project with three tasks."""
    made = admin.post("/api/projects", json={"title": "Three", "label_config": CONFIG})
    number = int(made.raise_for_status().json()["id"])
    tasks = [{"text": f"item {n}"} for n in range(3)]
    admin.post(f"/api/projects/{number}/import", json=tasks).raise_for_status()
    return number


def annotations_of(admin: httpx.Client, task_id: int) -> list[dict[str, Any]]:
    task = admin.get(f"/api/tasks/{task_id}/").raise_for_status().json()
    return list(task["annotations"])


def choice_of(annotation: dict[str, Any]) -> list[str]:
    return list(annotation["result"][0]["value"]["choices"])


def must_get(person: Annotator, project: int) -> int:
    task = person.next_task(project)
    assert task is not None
    return int(task["id"])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_is_the_pinned_release(label_studio: LabelStudioServer) -> None:
    version = httpx.get(f"{label_studio.url}/api/version").json()

    assert version["release"] == LABEL_STUDIO_VERSION


def test_its_token_and_its_newest_personal_access_token_work(
    label_studio: LabelStudioServer, admin: httpx.Client
) -> None:
    tokens = [personal_access_token(label_studio.url, label_studio.token) for _ in range(2)]

    answers = [admin.post("/api/token/refresh/", json={"refresh": token}) for token in tokens]
    assert [answer.status_code for answer in answers] == [401, 200]
    bearer = {"Authorization": f"Bearer {answers[1].json()['access']}"}
    me = httpx.get(f"{label_studio.url}/api/current-user/whoami", headers=bearer)
    assert me.json()["id"] == admin.get("/api/current-user/whoami").json()["id"]


def test_two_annotators_get_different_tasks_and_keep_theirs(
    project: int, annotator: SignUp
) -> None:
    ada, ben = annotator(), annotator()

    assert ada.user_id != ben.user_id
    assert must_get(ada, project) != must_get(ben, project)
    assert must_get(ada, project) == must_get(ada, project)


def test_an_answer_is_stored_under_the_annotators_name(
    project: int, annotator: SignUp, admin: httpx.Client
) -> None:
    ada = annotator()
    task = must_get(ada, project)

    sent = ada.submit(task, "1", "digit", "text", lead_time=2.5)

    (stored,) = annotations_of(admin, task)
    assert stored["id"] == sent["id"]
    assert stored["completed_by"]["id"] == ada.user_id
    assert choice_of(stored) == ["1"]
    assert stored["lead_time"] == 2.5
    assert must_get(ada, project) != task


def test_an_edit_replaces_the_choice_and_keeps_the_annotation(
    project: int, annotator: SignUp, admin: httpx.Client
) -> None:
    ada, ben = annotator(), annotator()
    task = must_get(ada, project)
    sent = ada.submit(task, "1", "digit", "text")

    ben.edit(sent["id"], "0")

    (stored,) = annotations_of(admin, task)
    assert (stored["id"], choice_of(stored)) == (sent["id"], ["0"])
    assert stored["completed_by"]["id"] == ada.user_id


def test_a_skipped_task_goes_to_another_annotator(
    project: int, annotator: SignUp, admin: httpx.Client
) -> None:
    ada, ben = annotator(), annotator()
    task = must_get(ada, project)

    skipped = ada.skip(task)

    assert skipped["was_cancelled"] is True
    assert must_get(ada, project) != task
    assert must_get(ben, project) == task
    with pytest.raises(AnnotatorError, match="no choice"):
        ada.edit(skipped["id"], "0")


def test_a_deleted_annotation_is_gone(project: int, annotator: SignUp, admin: httpx.Client) -> None:
    ada = annotator()
    task = must_get(ada, project)
    sent = ada.submit(task, "1", "digit", "text")

    ada.delete(sent["id"])

    assert annotations_of(admin, task) == []


def test_an_empty_queue_is_none_and_a_missing_project_is_an_error(
    project: int, annotator: SignUp
) -> None:
    ada = annotator()
    while task := ada.next_task(project):
        ada.submit(task["id"], "0", "digit", "text")

    assert ada.next_task(project) is None
    with pytest.raises(AnnotatorError, match="404"):
        ada.next_task(project + 1000)


def test_a_refused_sign_up_says_why(label_studio: LabelStudioServer, annotator: SignUp) -> None:
    taken = annotator().email

    with pytest.raises(AnnotatorError, match="already exists"):
        sign_up(label_studio.url, label_studio.token, taken, "long-enough-7")
    with pytest.raises(AnnotatorError, match=r"8.128 characters"):
        sign_up(label_studio.url, label_studio.token, "new@example.com", "short")
    with pytest.raises(AnnotatorError, match="401"):
        sign_up(label_studio.url, "0" * 40, "new@example.com", "long-enough-7")


@pytest.mark.parametrize(
    "database",
    [SQLITE, pytest.param(POSTGRESQL, marks=[pytest.mark.long, needs("postgresql")])],
)
def test_a_restart_keeps_the_data_and_the_address_and_a_stop_leaves_no_process(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_TEST_DATABASE", database)
    with start(tmp_path) as server:
        url, first = server.url, server.pid
        headers = {"Authorization": f"Token {server.token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
            made = client.post("/api/projects", json={"title": "Kept"}).raise_for_status().json()

            server.restart()

            kept = client.get(f"/api/projects/{made['id']}/").raise_for_status().json()
        assert kept["title"] == "Kept"
        assert server.url == url
        assert not is_alive(first)
        second = server.pid
    assert not is_alive(second)
    server.stop()  # once more is harmless
    assert not server.is_running()
    assert (tmp_path / KEPT_IN[database]).exists()
    assert not (tmp_path / KEPT_IN[POSTGRESQL] / "postmaster.pid").exists()


def test_a_taken_port_is_an_error_and_not_another_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalServerError, match=f"{port} is taken"):
            start(tmp_path, port)


def test_a_server_that_cannot_start_says_so_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_TEST_DATABASE", SQLITE)
    (tmp_path / KEPT_IN[SQLITE]).write_bytes(b"not a database" * 100)

    with pytest.raises(LocalServerError, match=r"exit code 1(?s:.*)file is not a database"):
        start(tmp_path)


def test_a_database_that_is_unknown_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_TEST_DATABASE", "oracle")

    with pytest.raises(LocalServerError, match="'oracle'; it must be one of sqlite, postgresql"):
        start(tmp_path)
