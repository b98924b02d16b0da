"""Label Studio does not answer, or something else does at its address: our errors say which."""

from __future__ import annotations

import socket
import time
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from connector.border import label_studio_errors
from connector.client import connect
from connector.desk import LabelStudioDesk
from connector.errors import InDoubt, NotLabelStudio, Unreachable
from connector.project import look_at_server
from connector.settings import LabelStudioSettings
from tests.connector.impostor import HTML, TOKEN, Answer, Call, Impostor, calls, every_call, says
from tests.fakes import SCHEMA


def hangs_up(request: BaseHTTPRequestHandler) -> None:
    request.connection.shutdown(socket.SHUT_RDWR)


def hangs_up_in_the_middle(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b'HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{"task_')
    hangs_up(request)


def talks_nonsense(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"220 smtp.example.com ready\r\n")


class TestSilence:
    """The answer does not come."""

    @pytest.mark.parametrize("answer", [hangs_up, hangs_up_in_the_middle, talks_nonsense])
    def test_an_import_whose_answer_is_lost_is_in_doubt(
        self, impostor: Impostor, desk: LabelStudioDesk, answer: Answer
    ) -> None:
        impostor.answer = answer

        with pytest.raises(InDoubt, match="did not answer") as caught:
            desk.put([{"text": "x", "item_id": "a"}])

        assert len(impostor.requests) == 1
        assert not caught.value.is_slow

    @calls("describe", "upload")
    @pytest.mark.parametrize("answer", [hangs_up, hangs_up_in_the_middle, talks_nonsense])
    def test_a_change_that_may_be_repeated_is_never_in_doubt(
        self, impostor: Impostor, desk: LabelStudioDesk, answer: Answer, call: Call
    ) -> None:
        impostor.answer = answer

        with pytest.raises(Unreachable) as caught:
            call(desk)

        assert not isinstance(caught.value, InDoubt)

    @pytest.mark.parametrize("writes", [False, True])
    def test_a_slow_answer_leaves_only_an_import_in_doubt(
        self, impostor: Impostor, writes: bool
    ) -> None:
        impostor.answer = lambda request: time.sleep(0.3)

        with (
            pytest.raises(Unreachable, match="ReadTimeout") as caught,
            label_studio_errors(impostor.url, "project 12", writes=writes),
        ):
            httpx.post(impostor.url, timeout=0.1)

        assert isinstance(caught.value, InDoubt) == writes
        assert getattr(caught.value, "is_slow", False) == writes  # it may still be at it

    @every_call
    def test_a_server_that_is_down_is_unreachable_and_nothing_is_in_doubt(
        self, desk: LabelStudioDesk, impostor: Impostor, call: Call
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        client = connect(LabelStudioSettings(f"http://127.0.0.1:{port}", TOKEN))
        down = LabelStudioDesk(client, f"http://127.0.0.1:{port}", 12, SCHEMA, {})
        try:
            with pytest.raises(Unreachable, match=f"{port} did not answer") as caught:
                call(down)
        finally:
            client._client_wrapper.httpx_client.httpx_client.close()

        assert type(caught.value) is Unreachable


class TestLookingAtAServer:
    """What `doctor` and `start` ask first."""

    @pytest.mark.parametrize(("status", "body"), [(200, HTML), (200, "{}"), (200, "[]"), (404, "")])
    def test_something_else_at_the_address_is_not_label_studio(
        self, impostor: Impostor, status: int, body: str
    ) -> None:
        impostor.answer = says(status, body)
        client = connect(LabelStudioSettings(impostor.url, TOKEN))

        with pytest.raises(NotLabelStudio, match="Check the address"):
            look_at_server(client, impostor.url)

    @pytest.mark.parametrize("answer", [hangs_up, talks_nonsense])
    def test_no_answer_is_unreachable(self, impostor: Impostor, answer: Answer) -> None:
        impostor.answer = answer
        client = connect(LabelStudioSettings(impostor.url, TOKEN))

        with pytest.raises(Unreachable):
            look_at_server(client, impostor.url)
