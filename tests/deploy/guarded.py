"""A real server with the users of `deploy/valkey-acl.conf`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from connector.supervised import tied
from tests.live.service import eventually
from tests.processes import free_port
from worker.service.embedded import find_binary
from worker.service.server import connect

DEPLOY = Path(__file__).parents[2] / "deploy"
ACL, COMPOSE = DEPLOY / "valkey-acl.conf", DEPLOY / "compose.yaml"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A server with our users, and one of its own who may do everything."""

    url: str
    admin: str


@contextmanager
def guarded_server(folder: Path, password: str) -> Iterator[Guarded]:
    """Start one as `deploy/compose.yaml` does, with its data and files in `folder`, and end it."""
    service = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["valkey"]
    shell, option, script = service["command"]
    (folder / "password").write_text(password + "\n")
    administrator = "user admin on >all ~* &* +@all\n"
    (folder / "acl.conf").write_text(ACL.read_text(encoding="utf-8") + administrator)
    port = free_port()
    for name, ours in {
        "/run/secrets/redis_password": folder / "password",
        "/etc/valkey-acl.conf": folder / "acl.conf",
        "/tmp/valkey.conf": folder / "valkey.conf",
        "exec valkey-server": f"exec {find_binary().path}",
        "--dir /data": f"--dir {folder} --bind 127.0.0.1 --port {port}",
    }.items():
        assert name in script
        script = script.replace(name, str(ours))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            tied([shell, option, script.replace("$$", "$")]), stdout=log, stderr=log
        )
    try:
        admin = f"redis://admin:all@127.0.0.1:{port}/0"
        with connect(admin) as db:
            eventually(lambda: db.ping())
        yield Guarded(f"redis://assay:{password}@127.0.0.1:{port}/0", admin)
    finally:
        process.terminate()
        process.wait(30)
