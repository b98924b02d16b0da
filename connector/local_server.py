"""The process of a local Label Studio: start it, wait until it is ready, stop it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import httpx

from connector.local_database import Database, launch_database
from connector.local_install import (
    LABEL_STUDIO_VERSION,
    LocalServerError,
    release_folder,
    tail,
)
from connector.supervised import tied

# The same for everybody and no secrets: the server listens on loopback only and holds a toy.
ADMIN_EMAIL = "admin@example.com"
ADMIN_PASSWORD = "assay-on-loopback"
ADMIN_TOKEN = "a55a7" * 8

# Whom a first start makes. In the environment, as command lines are for everybody to read.
_ADMIN = {
    "LABEL_STUDIO_USERNAME": ADMIN_EMAIL,
    "LABEL_STUDIO_PASSWORD": ADMIN_PASSWORD,
    "LABEL_STUDIO_USER_TOKEN": ADMIN_TOKEN,
}

LOG = "label-studio.log"
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 10.0
HTTP_TIMEOUT_S = 30.0

# Nothing else of the caller's environment gets through: it could hold the settings of a Label
# Studio in earnest (its database, say), which this one would pick up.
KEPT_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "USER")
SWITCHES = {
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",  # acts in the first start only
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
    "SSRF_PROTECTION_ENABLED": "false",  # or it refuses webhooks to loopback
    "ML_BLOCK_LOCAL_IP": "false",
    "PYTHONUNBUFFERED": "1",  # the port it took is read from its log
}


@dataclass(slots=True)
class LabelStudioServer:
    """A running Label Studio that we started; a context manager that stops it at the end.

    `restart` puts another process behind the same address, so `pid` is the only thing that changes.
    """

    url: str
    data_dir: Path
    token: str = field(default=ADMIN_TOKEN, repr=False)
    _command: Path = field(kw_only=True, repr=False)
    _process: subprocess.Popen[bytes] = field(kw_only=True, repr=False)
    _database: Database | None = field(kw_only=True, repr=False)

    @property
    def pid(self) -> int:
        """The process id of the server, which leads a process group of its own."""
        return self._process.pid

    @property
    def port(self) -> int:
        """The loopback port that it listens on."""
        return int(self.url.rsplit(":", 1)[1])

    def is_running(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop the server and wait until it is gone; harmless when it is gone already."""
        _stop(self._process, self._database)

    def restart(self) -> None:
        """Start it again on the same port and data, stopping it first if it runs.

        Raises:
            LocalServerError: it does not come up, or the port has gone to somebody else.
        """
        self.stop()
        again = launch(self._command, self.data_dir, self.port, token=self.token)
        self._process, self._database = again._process, again._database

    def __enter__(self) -> LabelStudioServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def launch(
    command: Path,
    data_dir: Path,
    port: int,
    timeout_s: float = START_TIMEOUT_S,
    *,
    token: str = ADMIN_TOKEN,
) -> LabelStudioServer:
    """Start the server on a data directory and wait until it answers to our token.

    Args:
        token: that of the administrator. With the toy's, who is made in the first start.

    Raises:
        LocalServerError: it ends, is too slow, takes another port, refuses the token or is another
            release.
    """
    log = data_dir / LOG
    # fmt: off
    arguments = [
        str(command), "start", "--no-browser", "--internal-host", "127.0.0.1", "-p", str(port),
    ]
    # fmt: on
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    kept |= _ADMIN if token == ADMIN_TOKEN else {}
    database = launch_database(data_dir, free_port())
    kept |= database.environment if database else {}
    with log.open("wb") as output:
        process = subprocess.Popen(
            tied(arguments),
            env=kept | SWITCHES | {"LABEL_STUDIO_BASE_DATA_DIR": str(data_dir)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(process, url, token, log, time.monotonic() + timeout_s)
    except BaseException:
        _stop(process, database)
        raise
    return LabelStudioServer(
        url, data_dir, token, _command=command, _process=process, _database=database
    )


def free_port() -> int:
    """Return a loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(
    process: subprocess.Popen[bytes], url: str, token: str, log: Path, deadline: float
) -> None:
    """Wait until the server answers to our token on our port, and is the release we know."""
    while not (answer := _version(url, token, log)):
        if process.poll() is not None:
            raise LocalServerError(
                f"Label Studio ended with exit code {process.returncode} instead of starting; "
                f"its log is {log}:\n{tail(log)}"
            )
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"Label Studio did not answer at {url} in time; its log is {log}:\n{tail(log)}"
            )
        time.sleep(0.2)
    if answer != LABEL_STUDIO_VERSION:
        raise LocalServerError(
            f"{url} is Label Studio {answer}, expected {LABEL_STUDIO_VERSION}. Remove "
            f"{release_folder()} and start again; it is made anew."
        )


def _version(url: str, token: str, log: Path) -> str | None:
    """Return the server's release once it is up and takes our token, else None."""
    said = log.read_text("utf-8")
    if re.search(r"Port \d+ is in use", said):
        # Label Studio moves on to the next free port without a word to the caller.
        raise LocalServerError(f"{url} is taken. Stop what listens there, or choose another port.")
    if "Starting development server at" not in said:
        return None
    with (
        suppress(httpx.TransportError),
        # A proxy from the caller's environment has no way to our loopback.
        httpx.Client(base_url=url, timeout=HTTP_TIMEOUT_S, trust_env=False) as client,
    ):
        headers = {"Authorization": f"Token {token}"}
        if not client.get("/health").is_success:
            return None
        me = client.get("/api/current-user/whoami", headers=headers)
        if me.status_code == httpx.codes.UNAUTHORIZED:
            raise LocalServerError(
                f"Label Studio at {url} refuses the token that we have for it: its administrator "
                "got another one there. Write that one in the place of ours."
            )
        if me.is_success:
            return str(client.get("/api/version").raise_for_status().json()["release"])
    return None


def _stop(process: subprocess.Popen[bytes], database: Database | None) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_S)
    if process.poll() is None:
        # It leads its own group, so this reaches its children and nobody else.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if database is not None:
        database.stop()
