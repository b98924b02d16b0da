"""Every way in which Label Studio can fail us becomes one of our errors, with the cure in it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import isclass

import httpx
import label_studio_sdk.errors
import pytest
from label_studio_sdk.core.api_error import ApiError

from connector.border import label_studio_errors
from connector.desk import LabelStudioDesk, connect
from connector.errors import (
    ConnectorError,
    InDoubt,
    NotFound,
    NotLabelStudio,
    Refused,
    Rejected,
    ServerTrouble,
    Unreachable,
)
from connector.project import look_at_server
from connector.settings import LabelStudioSettings
from tests.fakes import SCHEMA

TOKEN = "a" * 40
URL = "http://label-studio.example"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Impostor:
    """A server on loopback that answers every request in the way that a test sets."""

    def __init__(self) -> None:
        self.answer: Answer = lambda request: None
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                outer.requests.append(f"{self.command} {self.path.split('?')[0]}")
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.close_connection = True
                outer.answer(self)

            do_GET = do_POST = do_PATCH = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def impostor() -> Iterator[Impostor]:
    made = Impostor()
    with made.server:
        thread = threading.Thread(target=made.server.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.server.shutdown()
        thread.join()


@pytest.fixture
def desk(impostor: Impostor) -> Iterator[LabelStudioDesk]:
    client = connect(LabelStudioSettings(impostor.url, TOKEN))
    yield LabelStudioDesk(client, impostor.url, 12, SCHEMA, {})
    client._client_wrapper.httpx_client.httpx_client.close()


def says(status: int, body: str, kind: str = "application/json") -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body.encode())))
        request.end_headers()
        request.wfile.write(body.encode())

    return answer


def hangs_up(request: BaseHTTPRequestHandler) -> None:
    request.connection.shutdown(socket.SHUT_RDWR)


def hangs_up_in_the_middle(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b'HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{"task_')
    hangs_up(request)


def talks_nonsense(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"220 smtp.example.com ready\r\n")


HTML = "<!doctype html><title>Log in</title>"
CALLS = {
    "counters": lambda desk: desk.counters(),
    "changes": lambda desk: list(desk.changes(0)),
    "census": lambda desk: desk.census(),
    "read": lambda desk: desk.read([1]),
    "find": lambda desk: desk.find(["a"]),
    "put": lambda desk: desk.put([{"text": "x", "item_id": "a"}]),
    "close": lambda desk: desk.close([1]),
    "reopen": lambda desk: desk.reopen([1]),
    "describe": lambda desk: desk.describe("x"),
    "announce": lambda desk: desk.announce("x"),
}
Call = Callable[[LabelStudioDesk], object]


def calls(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", [CALLS[name] for name in names], ids=names)


every_call = calls(*CALLS)
whose_answer_is_read = calls("counters", "changes", "census", "read", "find", "put")


class TestAnswers:
    """What comes back is no answer to the question."""

    @every_call
    def test_a_wrong_token_is_refused_and_the_setting_named(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(401, '{"detail": "Invalid token."}')

        with pytest.raises(Refused, match=r"401: Invalid token(?s:.*)LABEL_STUDIO_API_KEY"):
            call(desk)

    @every_call
    def test_a_page_of_html_is_not_label_studio(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(200, HTML, "text/html")

        with pytest.raises(NotLabelStudio, match=r"Log in(?s:.*)no proxy or login page"):
            call(desk)

    @whose_answer_is_read
    def test_json_of_something_else_is_not_label_studio(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(200, '["something", "else"]')

        with pytest.raises(NotLabelStudio):
            call(desk)

    @calls("counters", "changes", "census", "read", "find")
    @pytest.mark.parametrize("body", ['{"status": "ok"}', "{}"])
    def test_json_without_tasks_is_not_taken_for_an_empty_project(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call, body: str
    ) -> None:
        impostor.answer = says(200, body)

        with pytest.raises(NotLabelStudio, match="Check the address"):
            call(desk)

    @pytest.mark.parametrize(("status", "is_slow"), [(502, False), (503, False), (504, True)])
    def test_an_import_that_a_proxy_has_no_answer_to_is_in_doubt(
        self, impostor: Impostor, desk: LabelStudioDesk, status: int, is_slow: bool
    ) -> None:
        impostor.answer = says(status, "<html>Gateway Time-out</html>", "text/html")

        with pytest.raises(InDoubt, match=rf"{status}(?s:.*)Gateway") as caught:
            desk.put([{"text": "x", "item_id": "a"}])
        assert caught.value.is_slow == is_slow
        with pytest.raises(ServerTrouble):
            desk.describe("x")

    @calls("put", "describe", "close")
    def test_a_fault_of_its_own_is_said_to_be_one(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(500, '{"detail": "database is locked"}')

        with pytest.raises(ServerTrouble, match=r"500(?s:.*)database is locked"):
            call(desk)

    def test_a_reading_is_tried_twice_and_an_import_once(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(500, HTML, "text/html")

        with pytest.raises(ServerTrouble):
            desk.counters()
        assert len(impostor.requests) == 2
        with pytest.raises(ServerTrouble):
            desk.put([{"text": "x", "item_id": "a"}])
        assert len(impostor.requests) == 3

    def test_a_missing_project_is_not_found(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(404, '{"detail": "No Project matches the given query."}')

        with pytest.raises(NotFound, match=r"knows no project 12"):
            desk.counters()

    def test_a_rejected_import_says_which_field(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        body = {"detail": "Validation error", "validation_errors": {"text": ["missing"]}}
        impostor.answer = says(400, json.dumps(body))

        with pytest.raises(Rejected, match=r'400\): Validation error \{"text": \["missing"\]\}'):
            desk.put([{"item_id": "a"}])

    def test_a_page_that_never_ends_makes_no_endless_message(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(200, "x" * 1_000_000, "text/html")

        with pytest.raises(NotLabelStudio) as caught:
            desk.counters()

        assert len(str(caught.value)) < 600


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

    @pytest.mark.parametrize("answer", [hangs_up, hangs_up_in_the_middle, talks_nonsense])
    def test_a_change_that_may_be_repeated_is_never_in_doubt(
        self, impostor: Impostor, desk: LabelStudioDesk, answer: Answer
    ) -> None:
        impostor.answer = answer

        with pytest.raises(Unreachable) as caught:
            desk.describe("x")

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


def raised_inside(error: Exception, *, writes: bool = False) -> Exception:
    with (
        pytest.raises(Exception) as caught,
        label_studio_errors(URL, "project 12", writes=writes),
    ):
        raise error
    return caught.value


FOREIGN_OF_HTTPX = [
    found
    for found in vars(httpx).values()
    if isclass(found) and issubclass(found, httpx.HTTPError | httpx.InvalidURL)
]
FOREIGN_OF_THE_SDK = [
    getattr(label_studio_sdk.errors, name) for name in label_studio_sdk.errors.__all__
]


class TestTheList:
    """No foreign error gets through; a new one of the SDK or of httpx would show here."""

    @pytest.mark.parametrize("foreign", FOREIGN_OF_HTTPX)
    @pytest.mark.parametrize("writes", [False, True])
    def test_every_error_of_httpx_becomes_ours(
        self, foreign: type[Exception], writes: bool
    ) -> None:
        if foreign is httpx.HTTPStatusError:
            answer = httpx.Response(503, request=httpx.Request("GET", URL))
            error: Exception = httpx.HTTPStatusError("bad", request=answer.request, response=answer)
        else:
            error = foreign("it broke")

        ours = raised_inside(error, writes=writes)

        assert isinstance(ours, ConnectorError)
        assert URL in str(ours)
        assert ours.__cause__ is error

    @pytest.mark.parametrize("foreign", FOREIGN_OF_THE_SDK)
    def test_every_error_of_the_sdk_becomes_ours(self, foreign: type[ApiError]) -> None:
        ours = raised_inside(foreign(body={"detail": "because"}))

        assert isinstance(ours, ConnectorError)
        assert not isinstance(ours, Unreachable)

    @pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ConnectTimeout("x")])
    def test_what_was_never_sent_is_not_in_doubt(self, error: Exception) -> None:
        assert type(raised_inside(error, writes=True)) is Unreachable

    @pytest.mark.parametrize("body", [None, "", {"no": "detail"}, ["a list"], b"bytes", 5])
    @pytest.mark.parametrize("status", [None, 400, 401, 403, 404, 409, 418, 500, 503])
    def test_no_status_and_no_body_is_too_odd(self, status: int | None, body: object) -> None:
        ours = raised_inside(ApiError(status_code=status, body=body))

        assert isinstance(ours, ConnectorError)

    def test_errors_of_our_own_pass(self) -> None:
        assert isinstance(raised_inside(ZeroDivisionError()), ZeroDivisionError)
