"""The units under a systemd that runs: a machine of the image's files, in namespaces of its own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from connector.supervised import tied
from tests.deploy.guarded import guarded_server
from tests.deploy.image import Image
from tests.live.service import eventually
from tests.machine import needs
from tests.processes import free_port
from tests.web.site import TOKEN
from worker.store.settings import SECRETS

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ("assay-receiver", "assay-watcher", "assay-worker@1")
pytestmark = [pytest.mark.long, needs("image"), needs("nspawn")]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that was started; `leader` is its first process, as we see it."""

    leader: int
    port: int

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of root's on it."""
        words = ["nsenter", f"--target={self.leader}", "--all", "--", *command]
        return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)

    def shows(self, unit: str, what: str) -> str:
        return self.run("systemctl", "show", "--value", f"--property={what}", unit).stdout.strip()

    def is_ready(self) -> bool:
        """Whether receiver, watcher and a worker are there."""
        try:
            found = httpx.get(
                f"http://127.0.0.1:{self.port}/readyz",
                headers={"Authorization": f"Bearer {TOKEN}"},
                timeout=10,
            )
        except httpx.TransportError:
            return False
        return found.status_code == 200


def install(files: Path, redis_url: str, port: int) -> None:
    """Put units, settings and secrets where the operations page says, with its drop-in."""
    etc = files / "etc"
    for unit in (DEPLOY / "systemd").glob("*.service"):
        shutil.copy(unit, etc / "systemd" / "system")
    dropin = etc / "systemd" / "system" / "assay-receiver.service.d"
    dropin.mkdir()
    serve = f"/opt/assay/bin/assay serve --host 127.0.0.1 --port {port}"
    (dropin / "proxy.conf").write_text(
        f"[Service]\nExecStart=\nExecStart={serve} --public-url https://assay.example.org\n"
    )
    secrets = etc / "assay" / "secrets"
    secrets.mkdir(parents=True)
    example = (DEPLOY / "assay.env.example").read_text(encoding="utf-8")
    named = "|".join(SECRETS)
    kept = [line for line in example.splitlines() if not re.match(rf"({named})=", line)]
    (etc / "assay" / "assay.env").write_text("\n".join(kept) + "\n")
    for name, text in {
        "redis_url": redis_url,
        "label_studio_api_key": "a-token-that-nobody-takes",
        "webhook_secret": "only-for-tests",
        "dashboard_token": TOKEN,
        "notify_secret": "only-for-tests",
    }.items():
        (secrets / name).write_text(text + "\n")
        (secrets / name).chmod(0o400)


@contextmanager
def machine(files: Path, port: int, log: Path) -> Iterator[Machine]:
    """Start it, and power it off at the end."""
    command = ["systemd-nspawn", "--register=no", "--keep-unit", "--resolv-conf=off"]
    command += ["--boot", f"--directory={files}"]
    with log.open("wb") as lines:
        process = subprocess.Popen(
            tied(command), stdin=subprocess.DEVNULL, stdout=lines, stderr=lines
        )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        leader = int(eventually(lambda: children.read_text().split())[0])
        found = Machine(leader, port)
        ended = ("running", "degraded")
        eventually(lambda: found.run("systemctl", "is-system-running").stdout.strip() in ended)
        yield found
        found.run("systemctl", "poweroff")
        process.wait(300)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def test_the_units_run_come_back_and_may_do_little(image: Image, tmp_path: Path) -> None:
    port = free_port()
    with guarded_server(tmp_path, "a-password") as valkey:
        install(image.files(), valkey.url, port)
        with machine(image.files(), port, tmp_path / "console.log") as here:
            started = here.run("systemctl", "start", *UNITS)
            assert started.returncode == 0, started.stderr
            eventually(here.is_ready)

            for unit in UNITS:
                assert here.shows(unit, "NRestarts") == "0"
                before = here.shows(unit, "MainPID")
                status = here.run("cat", f"/proc/{before}/status").stdout
                said = dict(re.findall(r"^(\w+):\s+(\S+)", status, re.MULTILINE))
                assert (said["Uid"], said["NoNewPrivs"], said["Seccomp"]) == ("10001", "1", "2")
                assert int(said["CapBnd"], 16) == 0
                here.run("systemctl", "kill", "--signal=KILL", "--kill-whom=main", unit)
                eventually(lambda u=unit, b=before: here.shows(u, "MainPID") not in ("0", b))
            eventually(here.is_ready)

            page = (DEPLOY / "operations.md").read_text(encoding="utf-8")
            (block,) = re.findall(r"^```sh\n(as_assay\(\).*?^})", page, re.MULTILINE | re.DOTALL)
            listed = here.run("bash", "-euc", f"{block}\nas_assay status --json")
            assert listed.returncode == 0, listed.stderr
            json.loads(listed.stdout)

            stopped = here.run("systemctl", "stop", *UNITS)
            assert stopped.returncode == 0, stopped.stderr
            assert {here.shows(unit, "Result") for unit in UNITS} == {"success"}
