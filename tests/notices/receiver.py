"""A real receiver of notices on loopback, which fails as often as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Receiver:
    """What came so far, and what is answered next (200 when nothing is left)."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def told(self) -> list[Any]:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def receiver() -> Iterator[Receiver]:
    got = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            got.headers.append(dict(self.headers))
            got.paths.append(self.path)
            self.send_response(got.answers.pop(0) if got.answers else 200)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        got.url = f"http://127.0.0.1:{server.server_port}"
        yield got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
