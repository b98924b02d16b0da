"""`assay up` on a terminal, for who has a file and nothing else: with a Label Studio of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import httpx
import pytest

from connector.annotator import AnnotatorError, sign_up_at
from connector.local import ADMIN_PASSWORD, ADMIN_TOKEN
from connector.local_install import LABEL_STUDIO_VERSION, release_folder
from connector.own import OwnServer, kept_at, own_server
from tests.live.pools import CLASSES_OF_UP, predictions_of_up
from tests.live.service import eventually
from tests.processes import processes_of, wait_until_gone

pytestmark = [pytest.mark.live, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
NAMES = ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "REDIS_URL", "ASSAY_STATE_URL")
NAMES += ("ASSAY_DASHBOARD_TOKEN", "ASSAY_WEBHOOK_SECRET", "LABEL_STUDIO_SERVERS_FILE")


@dataclass(slots=True)
class Terminal:
    """A command on a terminal of its own in a folder, and all that it wrote there."""

    folder: Path
    process: subprocess.Popen[bytes]
    keys: int  # what is written there is typed
    text: str = ""
    reader: Thread | None = field(default=None, repr=False)

    @property
    def home(self) -> Path:
        return self.folder / ".assay"

    def waits_for(self, pattern: str) -> str:
        """Wait until it says so; return what the group of the pattern matched, or all."""

        def look() -> re.Match[str] | None:
            found = re.search(pattern, self.text)
            assert found or self.process.poll() is None, self.text
            return found

        found = eventually(look)
        return found[found.re.groups and 1]

    def ends(self, number: int) -> int:
        """Signal it; return its exit code."""
        self.process.send_signal(number)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            # Python hears nothing of it in the instant before it waits for a key
            self.process.send_signal(number)
            code = self.process.wait(120)
        assert self.reader is not None
        self.reader.join(60)
        return code


def on_terminal(folder: Path, *arguments: str, **more: str) -> Terminal:
    """Run `assay` with these arguments on a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in NAMES}
    env = kept | {"ASSAY_HOME": str(folder / ".assay"), "PYTHONPATH": str(ROOT)} | more
    command = [sys.executable, "-m", "worker.cli", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    terminal = Terminal(folder, process, ours)

    def read() -> None:
        with suppress(OSError):  # nobody has the terminal any more
            while piece := os.read(ours, 65_536):
                terminal.text += piece.decode(errors="replace")
        os.close(ours)

    terminal.reader = Thread(target=read)
    terminal.reader.start()
    return terminal


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """`assay up` in a folder with predictions; asked whether to run a Label Studio: Enter."""
    folder = tmp_path_factory.mktemp("stranger")
    predictions_of_up(folder / "digits.csv")
    terminal = on_terminal(folder, "up", "digits.csv", "--port", "0", "--every", "1")
    terminal.waits_for(r"Run one\? \[Y/n\]")
    os.write(terminal.keys, b"\n")
    terminal.waits_for("The dashboard is at")
    yield terminal
    if terminal.process.poll() is None:
        terminal.ends(signal.SIGTERM)


@pytest.fixture
def own(up: Terminal) -> OwnServer:
    found = own_server(up.home)
    assert found is not None
    return found


def may_sign_in(server: OwnServer, password: str) -> bool:
    """Whether the administrator gets in by the form of Label Studio with a password."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.get("/user/login/")
        form = {"email": server.email, "password": password}
        form["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
        client.post("/user/login/", data=form, headers={"Referer": server.url})
        return client.get("/api/current-user/whoami").is_success


def answers_to(server: OwnServer, token: str) -> bool:
    headers = {"Authorization": f"Token {token}"}
    path = f"{server.url}/api/current-user/whoami"
    return httpx.get(path, headers=headers, timeout=60).is_success


def label(up: Terminal, n: int, who: str) -> None:
    """Let somebody sign up by the link that was printed, and answer so many tasks."""
    link = up.waits_for(r"Annotators sign up at (\S+)")
    with sign_up_at(link, who, "a-password-of-some-length") as person:
        for _ in range(n):
            task = eventually(lambda: person.next_task(1))
            assert set(task["data"]) == {"item_id", "text"}
            person.submit(task["id"], CLASSES_OF_UP[0], "answer", "text")


def test_from_a_file_to_the_first_task_and_its_labels_are_told(up: Terminal) -> None:
    up.waits_for("Wrote digits.yaml")
    up.waits_for(r"Annotators label in http://127\.0\.0\.1:\d+/projects/1/data")
    label(up, 2, "ada@example.com")
    up.waits_for(r"digits: [12] labels? by 1 annotator\. Not yet: ")
    assert "Traceback" not in up.text


def test_it_has_secrets_of_its_own_that_nobody_else_sees(up: Terminal, own: OwnServer) -> None:
    assert up.waits_for(r"Sign in as admin@example\.com, password (\S+)") == own.password
    assert may_sign_in(own, own.password)
    assert not may_sign_in(own, ADMIN_PASSWORD)
    assert answers_to(own, own.token)
    assert not answers_to(own, ADMIN_TOKEN)
    with pytest.raises(AnnotatorError):  # the link is needed
        sign_up_at(f"{own.url}/user/signup/", "eve@example.com", "a-password-of-some-length")

    dashboard = (up.home / "dashboard-token").read_text().strip()
    secrets = (own.password, own.token, dashboard)
    assert not [line for line in processes_of(up.home) for s in secrets if s in line]
    for path in (kept_at(up.home), up.home / "dashboard-token"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert (up.home / "label-studio").stat().st_mode & 0o777 == 0o700


def test_the_dashboard_shows_nothing_without_its_token_and_the_link_has_it(up: Terminal) -> None:
    link = up.waits_for(r"The dashboard is at (\S+/login\?token=\S+)")
    base, token = link.split("/login?token=")
    assert token == (up.home / "dashboard-token").read_text().strip()
    for path in ("/", "/a/digits", "/metrics"):
        assert httpx.get(base + path, timeout=60).status_code == 401
    page = httpx.get(base, headers={"accept": "text/html"}, timeout=60)
    assert page.headers["location"].startswith("/login")
    bearer = {"authorization": f"Bearer {token}"}
    assert "digits" in httpx.get(base, headers=bearer, timeout=60).text


def test_later_commands_find_it_and_a_second_plan_joins(up: Terminal, own: OwnServer) -> None:
    text = (up.folder / "digits.yaml").read_text().replace("assessment: digits", "assessment: more")
    (up.folder / "more.yaml").write_text(text)
    joined = on_terminal(up.folder, "up", "more.yaml")
    assert joined.process.wait(300) == 0, joined.text
    project = int(joined.waits_for(r"Started more\. Annotators label in \S+/projects/(\d+)"))
    joined.waits_for("The `assay up` that runs takes care of it")
    assert up.process.poll() is None

    alone = on_terminal(up.folder, "up")
    assert alone.process.wait(300) == 1
    alone.waits_for("runs already")

    doctor = on_terminal(up.folder, "doctor")
    doctor.process.wait(300)
    doctor.waits_for(f"Label Studio: {re.escape(LABEL_STUDIO_VERSION)} at {own.url}")
    link = up.waits_for(r"Annotators sign up at (\S+)")
    with sign_up_at(link, "ben@example.com", "a-password-of-some-length") as ben:
        assert eventually(lambda: ben.next_task(project))


def test_killed_it_comes_back_and_at_the_end_it_goes_and_stays_for_the_next_time(
    up: Terminal, own: OwnServer
) -> None:
    (server,) = (line for line in processes_of(up.home) if "bin/label-studio" in line)
    os.kill(int(server.split()[0]), signal.SIGKILL)
    up.waits_for("Label Studio ended; starting it again")
    eventually(lambda: _is_up(own))

    assert up.ends(signal.SIGINT) == 130
    assert "Ended. Nothing is lost" in up.text
    assert not re.search("Traceback|Aborted", up.text)
    assert processes_of(up.home) == []
    (up.home / "up.pids").write_text(f"receiver {os.getpid()}\n")  # as a killed one leaves it

    again = on_terminal(up.folder, "up", "--port", "0")
    again.waits_for("Everything is up")
    assert own_server(up.home) == own, "another address"
    label(again, 1, "eve@example.com")
    assert again.ends(signal.SIGTERM) == 0
    assert processes_of(up.home) == []


def _is_up(own: OwnServer) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{own.url}/health", timeout=60).is_success
    return False


@pytest.mark.parametrize("at", ["Run one", "Installing", "Preparing", "Starting", "Everything is"])
def test_ctrl_c_at_any_moment_ends_it_with_130_and_leaves_nothing_running(
    tmp_path: Path, at: str
) -> None:
    predictions_of_up(tmp_path / "digits.csv")
    more = {}
    if at in ("Installing", "Preparing"):
        cache = tmp_path / "cache"
        more["XDG_CACHE_HOME"] = str(cache)
    if at == "Preparing":  # installed, and never started
        folder = cache / "assay" / release_folder().name
        folder.mkdir(parents=True)
        (folder / "venv").symlink_to(release_folder() / "venv")
    terminal = on_terminal(tmp_path, "up", "digits.csv", "--port", "0", **more)
    terminal.waits_for("Run one")
    if at != "Run one":
        os.write(terminal.keys, b"\n")
    terminal.waits_for(at)
    time.sleep(0.5)  # into the middle of it

    assert terminal.ends(signal.SIGINT) == 130
    assert not re.search("Traceback|Aborted|Exception", terminal.text), terminal.text
    assert "Nothing is lost" in terminal.text
    wait_until_gone(tmp_path)
    if (path := kept_at(tmp_path / ".assay")).exists():
        assert len(json.loads(path.read_text())["urls"]) == 1
