"""The receiver believes nobody, wakes at once and never fails an annotator's request for long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from connector.webhook import LARGEST_BODY, hook_url, receiver

SECRET = "a-secret"
CREATED = {"action": "ANNOTATION_CREATED"}


class Woken:
    """Somebody to wake, who knows the assessment `digits` only."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, assessment: str) -> bool:
        self.names.append(assessment)
        return assessment == "digits"


@pytest.fixture
def woken() -> Woken:
    return Woken()


def sent(
    wake: Callable[[str], bool],
    content: object = CREATED,
    *,
    assessment: str = "digits",
    secret: str | None = SECRET,
    body: bytes | None = None,
    method: str = "POST",
) -> httpx.Response:
    """Send one webhook to a receiver, in process."""
    headers = {} if secret is None else {"X-Assay-Secret": secret}
    content_sent = json.dumps(content).encode() if body is None else body

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(receiver(SECRET, wake))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.request(
                method, f"/hook/{assessment}", content=content_sent, headers=headers
            )

    return asyncio.run(send())


@pytest.mark.parametrize(
    "action",
    [
        "ANNOTATION_CREATED",
        "ANNOTATIONS_CREATED",
        "ANNOTATION_UPDATED",
        "ANNOTATIONS_DELETED",
        "TASKS_CREATED",
        "TASKS_DELETED",
    ],
)
def test_what_people_do_wakes_the_assessment(woken: Woken, action: str) -> None:
    answer = sent(woken, {"action": action, "project": {"id": 12}})

    assert (answer.status_code, answer.json()) == (200, {"woken": "digits"})
    assert woken.names == ["digits"]


@pytest.mark.parametrize("secret", [None, "", "wrong", "A-SECRET", "a-secret2", "a-secre"])
def test_nobody_without_the_secret_wakes_it(woken: Woken, secret: str | None) -> None:
    answer = sent(woken, secret=secret)

    assert answer.status_code == 401
    assert SECRET not in answer.text
    assert woken.names == []


def test_our_own_echo_is_ignored(woken: Woken) -> None:
    answer = sent(woken, {"action": "PROJECT_UPDATED"})

    assert (answer.status_code, answer.json()) == (200, {"ignored": "PROJECT_UPDATED"})
    assert woken.names == []


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        None,
        "ANNOTATION_CREATED",
        {"action": None},
        {"action": ["x"]},
        {"action": {"x": 1}},
        {"action": "x" * 1000},
    ],
    ids=repr,
)
def test_json_that_is_no_action_of_interest_is_ignored(woken: Woken, content: Any) -> None:
    answer = sent(woken, content)

    assert answer.status_code == 200
    assert len(answer.json()["ignored"]) <= 80
    assert woken.names == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"\xff\xfe\x00", b"[" * 60_000], ids=range(5)
)
def test_a_body_that_is_not_json_is_refused(woken: Woken, body: bytes) -> None:
    assert sent(woken, body=body).status_code == 400
    assert woken.names == []


def test_a_body_that_is_too_large_is_refused(woken: Woken) -> None:
    body = b'{"action": "ANNOTATION_CREATED", "x": "%s"}' % (b"x" * LARGEST_BODY)

    assert sent(woken, body=body).status_code == 413
    assert woken.names == []


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"x":', "}")])
@pytest.mark.parametrize(("depth", "status"), [(31, 200), (32, 400), (10_000, 400)])
def test_a_body_that_is_nested_too_deeply_is_refused(
    woken: Woken, opening: str, closing: str, depth: int, status: int
) -> None:
    inner = opening * depth + "1" + closing * depth
    answer = sent(woken, body=f'{{"action": "ANNOTATION_CREATED", "x": {inner}}}'.encode())

    assert answer.status_code == status
    assert len(woken.names) == (status == 200)


def test_brackets_in_a_text_are_no_depth(woken: Woken) -> None:
    text = json.dumps("[" * 100 + '"\\' + "{" * 100)
    body = f'{{"x": {text}, "action": "ANNOTATION_CREATED"}}'.encode()

    assert sent(woken, body=body).status_code == 200


def test_an_unknown_assessment_is_not_found(woken: Woken) -> None:
    answer = sent(woken, assessment="letters")

    assert answer.status_code == 404
    assert "letters" in answer.json()["error"]


def test_a_name_of_an_assessment_arrives_decoded(woken: Woken) -> None:
    sent(woken, assessment="d%C3%A9j%C3%A0%20vu")

    assert woken.names == ["déjà vu"]


def test_a_server_that_is_away_is_no_crash_but_503(caplog: pytest.LogCaptureFixture) -> None:
    def away(assessment: str) -> bool:
        raise ConnectionError("the server is down")

    answer = sent(away)

    assert answer.status_code == 503
    assert "the server is down" not in answer.text
    assert "a webhook for digits could not be passed on" in caplog.text


def test_only_posts_are_hooks(woken: Woken) -> None:
    assert sent(woken, method="GET").status_code == 405
    assert woken.names == []


def test_it_says_that_it_is_up() -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(receiver(SECRET, Woken()))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.get("/healthz")

    assert asyncio.run(ask()).json() == {"status": "up"}


def test_there_is_no_receiver_without_a_secret() -> None:
    with pytest.raises(ValueError, match="needs a secret"):
        receiver("", Woken())


def test_the_address_that_label_studio_is_told() -> None:
    assert (
        hook_url("https://assay.example.com/", "digits") == "https://assay.example.com/hook/digits"
    )
