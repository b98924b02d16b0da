"""Whatever dies is started again; at the end nothing is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.processes import wait_until_gone
from worker.service.context import Context
from worker.service.embedded import embedded_url, server
from worker.service.server import connect
from worker.service.supervisor import environment, keep_up
from worker.store.settings import Settings


def wait_for(condition: Callable[[], bool], patience_s: float = 120.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def pids(path: Path) -> dict[str, int]:
    if not path.exists():
        return {}
    lines = [line.rsplit(" ", 1) for line in path.read_text().splitlines()]
    return {name: int(pid) for name, pid in lines if name}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def kept(tmp_path: Path):
    """A watcher and a command that fails at once, kept up on an embedded server."""
    settings = Settings(tmp_path, None, None)
    said: list[str] = []
    stop, path = Event(), tmp_path / "up.pids"
    children = [("watcher", ["watch", "--every", "1"]), ("hopeless", ["no-such-command"])]
    with server(tmp_path, None) as url:
        context = Context(settings, url)
        arguments = (context, environment(settings), children, said.append, stop, path)
        thread = Thread(target=keep_up, args=arguments)
        thread.start()
        try:
            wait_for(lambda: "watcher" in pids(path))
            yield tmp_path, path, said, stop, thread
        finally:
            stop.set()
            thread.join(120)
            context.close()
    assert not thread.is_alive()


def test_a_killed_process_is_replaced(kept):
    _, path, said, *_ = kept
    before = pids(path)["watcher"]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: pids(path).get("watcher", before) != before)
    assert any("watcher ended (-9)" in text for text in said)


def test_the_embedded_server_is_started_again_with_what_it_knew(kept):
    home, _, said, *_ = kept
    with connect(embedded_url(home)) as connection:
        connection.set("kept", "yes")
        os.kill(int(connection.info("server")["process_id"]), signal.SIGKILL)
        wait_for(lambda: any("embedded server" in text for text in said))
        assert connection.get("kept") == "yes"


def test_what_dies_at_once_is_started_ever_more_slowly(kept):
    said = kept[2]
    wait_for(lambda: sum("hopeless ended" in text for text in said) >= 3)
    before = sum("hopeless ended" in text for text in said)
    time.sleep(2)
    assert sum("hopeless ended" in text for text in said) - before <= 2


def test_at_the_end_no_process_and_no_list_of_them_is_left(kept):
    _, path, _, stop, thread = kept
    running = pids(path)["watcher"]
    stop.set()
    thread.join(120)
    assert not is_alive(running)
    assert not path.exists()


def test_when_up_itself_is_killed_its_processes_end_and_it_can_be_started_again(tmp_path):
    env = os.environ | {"ASSAY_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "worker.cli", "up", "--port", "0"]
    path = tmp_path / "up.pids"
    first = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    wait_for(lambda: "worker-1" in pids(path))
    children = list(pids(path).values())
    first.kill()
    first.wait()
    wait_for(lambda: not any(map(is_alive, children)))
    wait_until_gone(tmp_path)  # the embedded server, too

    second = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: "worker-1" in pids(path) and is_alive(pids(path)["worker-1"]))
    finally:
        second.terminate()
        second.wait(120)
    assert second.returncode == 0
