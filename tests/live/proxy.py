"""An HTTP proxy before Label Studio that can make one import fail in a chosen moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import httpx

# Of one connection only, and not to be passed on.
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-encoding"}

Moment = Literal["before it reaches Label Studio", "before its answer comes back"]


@dataclass(slots=True)
class Trap:
    """Springs at the next import, in the given moment; the import's answer never comes."""

    moment: Moment
    spring: Callable[[], None]
    sprung: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class Proxy:
    """Passes everything on, until a trap is set."""

    url: str = ""
    trap: Trap | None = None
    imports: int = 0  # that reached Label Studio


@contextmanager
def proxy_to(studio: str) -> Iterator[Proxy]:
    """A proxy before the Label Studio of an address, for as long as the block runs."""
    proxy = Proxy()
    client = httpx.Client(base_url=studio, timeout=60, follow_redirects=False)

    class Handler(BaseHTTPRequestHandler):
        def pass_on(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_import = self.command == "POST" and "/import" in self.path
            trap, proxy.trap = (proxy.trap, None) if is_import else (None, proxy.trap)
            if trap is not None and trap.moment == "before it reaches Label Studio":
                return self._give_up(trap)
            headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP_BY_HOP}
            answer = client.request(self.command, self.path, content=content, headers=headers)
            proxy.imports += is_import
            if trap is not None:
                return self._give_up(trap)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP_BY_HOP | {"content-length"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def _give_up(self, trap: Trap) -> None:
            trap.spring()
            trap.sprung.set()
            self.close_connection = True

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = pass_on

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Label Studio is away: the connection is closed without an answer."""

    with client, Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        proxy.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()
