"""How many connections the receiver has, and for how long one may say nothing.

uvicorn waits for ever for the rest of a request, and takes connections until the process has no
file left; then nobody is answered, and asyncio writes of it thousands of times a second.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# A whole request, its body too, must be here by then; over a slow line it takes a second.
REQUEST_S = 10.0
# Live pages are the only ones that stay: as many readers at least, with what a browser opens.
MOST = 1000
# Taken at once, before any of them is looked at.
BACKLOG = 64
# Files for all else: connections to servers, reports, what was taken at once.
OTHER_FILES = 64 + BACKLOG
LEAST = 16


def most_connections() -> int:
    """How many connections there may be; the limit of the process's open files goes up for them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST
    return max(LEAST, min(MOST, soft - OTHER_FILES))


class Connection(H11Protocol):
    """A connection that ends if its request does not come in time.

    Where there are too many, the one that has waited longest for its request makes room; only if
    all are being answered is the new one turned away.
    """

    most = MOST
    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        others = [c for c in self.connections if isinstance(c, Connection) and c is not self]
        if len(others) >= self.most:
            waiting = (c for c in others if c._due is not None and not c.transport.is_closing())
            min(waiting, key=_due_at, default=self)._give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_asked = self.cycle is not None and not self.cycle.response_complete
        if is_asked and not self.cycle.more_body:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._due = self.loop.call_later(REQUEST_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()


def _due_at(connection: Connection) -> float:
    return connection._due.when() if connection._due is not None else 0.0


def limited() -> type[Connection]:
    """The kind of connection of a server, with as many of them as this process may have."""
    most = most_connections()
    named: dict[str, Any] = {"most": most}
    return type("Connection", (Connection,), named)
