"""A server that stands in for Label Studio and answers badly, and the calls that meet it."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from connector.desk import LabelStudioDesk

TOKEN = "a" * 40

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


def says(status: int, body: str, kind: str = "application/json") -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body.encode())))
        request.end_headers()
        request.wfile.write(body.encode())

    return answer


HTML = "<!doctype html><title>Log in</title>"
CALLS = {
    "counters": lambda desk: desk.counters(),
    "changes": lambda desk: list(desk.changes(0)),
    "census": lambda desk: desk.census(),
    "read": lambda desk: desk.read([1]),
    "find": lambda desk: desk.find(["a"]),
    "put": lambda desk: desk.put([{"text": "x", "item_id": "a"}]),
    "upload": lambda desk: desk.upload("a.png", b"x"),
    "close": lambda desk: desk.close([1]),
    "reopen": lambda desk: desk.reopen([1]),
    "describe": lambda desk: desk.describe("x"),
    "announce": lambda desk: desk.announce("x"),
}
Call = Callable[[LabelStudioDesk], object]


def calls(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", [CALLS[name] for name in names], ids=names)


every_call = calls(*CALLS)
