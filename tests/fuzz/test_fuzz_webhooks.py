"""Whatever is sent to the receiver: it answers, and wakes only for what people did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.webhook import receiver
from tests.amount import IS_SHORT
from tests.fuzz.mutations import anything, mutated
from tests.fuzz.targets import WAKING, bounded, webhook

N = 150 if IS_SHORT else 800
GOOD = {
    "action": "ANNOTATION_CREATED",
    "project": {"id": 12, "title": "Digits"},
    "task": {"id": 3, "data": {"item_id": "a"}},
    "annotation": {"id": 7, "result": [{"value": {"choices": ["cat"]}}]},
}
NAMES = st.just(b"digits") | st.binary(max_size=12)
ACTIONS = st.sampled_from([*sorted(WAKING), "PROJECT_UPDATED", "annotation_created", "\ud800"])


@settings(max_examples=N, derandomize=True)
@given(name=NAMES, sent=mutated(GOOD, ACTIONS) | anything)
def test_a_changed_webhook_is_answered_and_wakes_only_for_what_people_did(
    name: bytes, sent: Any
) -> None:
    with bounded():
        webhook(name.replace(b"\n", b"") + b"\n" + json.dumps(sent).encode())


@settings(max_examples=N, derandomize=True)
@given(name=NAMES, body=st.binary(max_size=400))
def test_bytes_of_any_kind_are_answered(name: bytes, body: bytes) -> None:
    with bounded():
        webhook(name.replace(b"\n", b"") + b"\n" + body)


@settings(max_examples=N, derandomize=True)
@given(
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=12) | st.none(),
    sent=mutated(GOOD, ACTIONS),
)
def test_without_the_secret_nothing_is_woken_whatever_is_sent(
    secret: str | None, sent: Any
) -> None:
    woken: list[str] = []

    def wake(name: str) -> bool:
        woken.append(name)
        return True

    async def send() -> httpx.Response:
        headers = {} if secret is None else {"X-Assay-Secret": secret.encode("latin-1")}
        transport = httpx.ASGITransport(receiver("the secret", wake))
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            body = json.dumps(sent).encode()
            return await client.post("/hook/digits", content=body, headers=headers)

    assert asyncio.run(send()).status_code == 401
    assert not woken


def test_a_body_that_is_cut_off_wakes_nobody_and_is_no_fault_of_ours() -> None:
    woken: list[str] = []
    parts = iter(
        [
            {"type": "http.request", "body": b'{"action": "TASKS_CREATED"', "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    answers: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return next(parts)

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message)

    def wake(name: str) -> bool:
        woken.append(name)
        return True

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/hook/digits",
        "query_string": b"",
        "headers": [(b"x-assay-secret", b"a-secret")],
    }
    asyncio.run(receiver("a-secret", wake)(scope, receive, send))

    assert answers[0]["status"] == 400
    assert not woken
