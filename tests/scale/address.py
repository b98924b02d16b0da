"""An address that moves from one server to another, as a Sentinel's or a load balancer's does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.scale.servers import Node

_CHUNK = 65_536


class Address:
    """Passes on bytes between its callers and the server that has the address now."""

    def __init__(self, node: Node) -> None:
        self._node: Node | None = node
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def leave(self) -> None:
        """Cut every connection; nobody answers here until `move_to`."""
        self._node = None
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def move_to(self, node: Node) -> None:
        self._node = node

    def close(self) -> None:
        self.leave()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                caller, _ = self._listener.accept()
                self._begin(caller)

    def _begin(self, caller: socket.socket) -> None:
        try:
            if self._node is None:
                raise ConnectionRefusedError
            server = socket.create_connection((self._node.host, self._node.port))
        except OSError:
            caller.close()
            return
        self._open |= {caller, server}
        for a, b in ((caller, server), (server, caller)):
            threading.Thread(target=self._pass_on, args=(a, b), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


@contextmanager
def address_of(node: Node) -> Iterator[Address]:
    """An address that a server has at first."""
    made = Address(node)
    try:
        yield made
    finally:
        made.close()
