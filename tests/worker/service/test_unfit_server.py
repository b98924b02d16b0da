"""Servers in which judgements could vanish: too old, too forgetful, away, or full."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import OutOfMemoryError

from worker.service.embedded import server
from worker.service.server import NoServer, UnfitServer, check, connect
from worker.store import Claim, Header
from worker.store.valkey import ValkeyLedger

HEADER = (Path(__file__).parents[2] / "assets" / "header-v1.json").read_text()


class TestUnfitServers:
    """A server in which judgements could vanish is refused before anything is kept there."""

    def test_one_that_evicts_keys_is_refused_with_the_cure(self, tmp_path: Path) -> None:
        with server(tmp_path, None) as url, connect(url) as connection:
            connection.config_set("maxmemory-policy", "allkeys-lru")

            with (
                pytest.raises(UnfitServer, match=r"allkeys-lru(?s:.*)noeviction"),
                server(tmp_path, url),
            ):
                pytest.fail("it was taken")

            assert connection.ping()  # an outside server is left alone

    def test_one_that_is_too_old_is_refused_with_the_cure(self, old_server: str) -> None:
        with (
            pytest.raises(UnfitServer, match=r"version 6\.2\.14(?s:.*)Redis 7 or newer"),
            server(Path("unused"), old_server),
        ):
            pytest.fail("it was taken")

    def test_one_that_is_down_is_named_without_its_password(self, tmp_path: Path) -> None:
        url = "redis://:s3cret@127.0.0.1:1/0"

        with (
            connect(url, is_patient=False) as connection,
            pytest.raises(NoServer, match="Check REDIS_URL") as caught,
        ):
            check(connection, url)

        assert "s3cret" not in str(caught.value)
        assert "127.0.0.1:1" in str(caught.value)

    def test_a_full_one_refuses_a_claim_whole(self, tmp_path: Path) -> None:
        header = Header.load(HEADER)
        claims = [Claim(n, f"item {n}", n, 0, 0, {}) for n in range(3)]
        with server(tmp_path, None) as url, connect(url) as connection:
            ledger = ValkeyLedger(connection, header.assessment)
            ledger.begin(header)
            connection.config_set("maxmemory", "1")

            with pytest.raises(OutOfMemoryError):
                ledger.claim(0, claims)
            assert ledger.state().claims == 0
            assert not ledger.state().unsettled

            connection.config_set("maxmemory", "0")
            assert ledger.claim(0, claims)
            assert set(ledger.state().unsettled) == {claim.item for claim in claims}


class _OldServer(socketserver.StreamRequestHandler):
    """Speaks as much of the protocol as a look at a server takes, and says that it is old."""

    def handle(self) -> None:
        while head := self.rfile.readline():
            words = []
            for _ in range(int(head[1:])):
                self.rfile.readline()  # the word's length
                words.append(self.rfile.readline().strip().upper())
            self.wfile.write(self.answer(words[0]))

    def answer(self, command: bytes) -> bytes:
        if command == b"HELLO":
            return b"%1\r\n$5\r\nproto\r\n:3\r\n"
        if command == b"PING":
            return b"+PONG\r\n"
        if command == b"INFO":
            text = b"redis_version:6.2.14\r\naof_enabled:1\r\n"
            return b"$%d\r\n%s\r\n" % (len(text), text)
        if command == b"CONFIG":
            return b"%1\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n"
        return b"+OK\r\n"


@pytest.fixture
def old_server() -> Iterator[str]:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), _OldServer) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"redis://127.0.0.1:{running.server_address[1]}/0"
        running.shutdown()
        thread.join()
