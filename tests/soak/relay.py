"""What stands between Label Studio and us, on both ways, and may lose what passes."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import httpx

Mood = Literal["pass", "drop", "delay", "double", "reorder"]
DELAY_S = 4.0


@dataclass(slots=True)
class Relay:
    """Takes webhooks for the receiver at `target`; what becomes of them depends on the mood."""

    target: str
    rng: random.Random
    url: str = ""
    mood: Mood = "pass"
    heard: int = 0
    lost: int = 0
    _held: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        """One webhook came; Label Studio has its answer already, as from a queue in between."""
        self.heard += 1
        mood = self.mood
        if mood == "drop":
            self.lost += 1
        elif mood == "delay":
            threading.Timer(DELAY_S, self._send, (path, body, headers)).start()
        elif mood == "reorder":
            with self._lock:
                self._held.append((path, body, headers))
                if len(self._held) < 5:
                    return
                held, self._held = self._held, []
            self.rng.shuffle(held)
            for one in held:
                self._send(*one)
        else:
            for _ in range(2 if mood == "double" else 1):
                self._send(path, body, headers)

    def _send(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        # A receiver that is down loses it.
        with suppress(httpx.HTTPError):
            httpx.post(self.target + path, content=body, headers=headers, timeout=5)


@contextmanager
def relay_to(target: str, rng: random.Random) -> Iterator[Relay]:
    """A relay before the receiver at `target`, for as long as the block runs."""
    relay = Relay(target, rng)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kept = {"content-type", "x-assay-secret"}
            headers = {k: v for k, v in self.headers.items() if k.lower() in kept}
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            relay.take(self.path, body, headers)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        relay.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield relay
        finally:
            server.shutdown()
