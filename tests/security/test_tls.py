"""Certificates of Redis and of Label Studio are verified; a private authority can be named."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from connector.client import connect as connect_label_studio
from connector.errors import ConnectorError, Unreachable
from connector.project import look_at_server
from connector.settings import LabelStudioSettings
from worker.service.embedded import server, socket_of
from worker.service.server import NoServer, check, connect


@dataclass(frozen=True, slots=True)
class Certified:
    """An authority that nobody knows, and a server's context with a certificate of it."""

    authority: str
    context: ssl.SSLContext
    other: ssl.SSLContext  # of the same authority, but for another name


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    authority = trustme.CA()
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    contexts = []
    for name in ("127.0.0.1", "elsewhere.example.org"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        contexts.append(context)
    return Certified(str(path), *contexts)


class Relay:
    """A port with TLS before the embedded server, whose program may be built without."""

    def __init__(self, context: ssl.SSLContext, target: Path) -> None:
        self._context, self._target = context, str(target)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                raw, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with (
            suppress(OSError),
            raw,
            self._context.wrap_socket(raw, server_side=True) as client,
            socket.socket(socket.AF_UNIX) as valkey,
        ):
            valkey.connect(self._target)
            answers = threading.Thread(target=_pass_on, args=(valkey, client), daemon=True)
            answers.start()
            _pass_on(client, valkey)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)


@pytest.fixture
def valkey(tmp_path: Path, certified: Certified) -> Iterator[tuple[str, str]]:
    """Addresses of a server with TLS: one with its name in the certificate, one without."""
    with server(tmp_path / "home", None):
        relays = [
            Relay(context, socket_of(tmp_path / "home"))
            for context in (certified.context, certified.other)
        ]
        first, second = (f"rediss://127.0.0.1:{relay.port}/0" for relay in relays)
        yield first, second
        for relay in relays:
            relay.close()


def test_a_redis_whose_certificate_nobody_vouches_for_is_refused(
    valkey: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with (
        connect(valkey[0], is_patient=False) as db,
        pytest.raises(NoServer, match=r"(?i)certificate verify failed"),
    ):
        check(db, valkey[0])


def test_a_redis_of_an_authority_that_is_named_is_used_under_its_own_name_only(
    valkey: tuple[str, str], certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certified.authority)
    with connect(valkey[0], is_patient=False) as db:
        assert check(db, valkey[0])["policy"] == "noeviction"
        db.set("written", "over TLS")
        assert db.get("written") == "over TLS"
    with (
        connect(valkey[1], is_patient=False) as db,
        pytest.raises(NoServer, match=r"(?i)certificate"),
    ):
        check(db, valkey[1])


@pytest.fixture
def https(certified: Certified) -> Iterator[str]:
    """Something that answers over TLS in Label Studio's place; notes whether a token came."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.socket = certified.context.wrap_socket(
        running.socket, server_side=True, do_handshake_on_connect=False
    )
    running.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"https://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


def test_a_label_studio_whose_certificate_nobody_vouches_for_is_refused(
    https: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(Unreachable, match=r"(?i)certificate") as caught:
        look_at_server(connect_label_studio(LabelStudioSettings(https, "planted-token")), https)
    assert "planted-token" not in str(caught.value)


def test_a_label_studio_of_an_authority_that_is_named_is_talked_to(
    https: str, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certified.authority)
    with pytest.raises(ConnectorError) as caught:  # it is no Label Studio, but it was reached
        look_at_server(connect_label_studio(LabelStudioSettings(https, "planted-token")), https)
    assert not isinstance(caught.value, Unreachable)
