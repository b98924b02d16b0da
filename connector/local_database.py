"""The database of a local Label Studio: a file of SQLite, or a PostgreSQL that runs beside it.

The PostgreSQL is the machine's own (Debian's package `postgresql`), with its data in Label Studio's
data directory, on loopback and with a password of its own.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from connector.local_install import LocalServerError, tail
from connector.supervised import tied

SQLITE, POSTGRESQL = "sqlite", "postgresql"
# What a data directory holds, by the database that Label Studio keeps there.
KEPT_IN = {SQLITE: "label_studio.sqlite3", POSTGRESQL: "postgresql"}

PASSWORD = "postgresql.password"  # noqa: S105 (the name of its file)
LOG = "postgresql.log"
NAME = USER = "postgres"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


@dataclass(slots=True)
class Database:
    """A running PostgreSQL that we started; what Label Studio is told of it."""

    environment: dict[str, str]
    _process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Stop it and wait until it is gone; harmless when it is gone already."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # without waiting for who is connected
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_TIMEOUT_S)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def chosen_database() -> str:
    """Return the database that the environment asks for, to try Assay with it; else SQLite.

    Raises:
        LocalServerError: it names none that we know.
    """
    chosen = os.environ.get("ASSAY_TEST_DATABASE") or SQLITE
    if chosen not in KEPT_IN:
        raise LocalServerError(
            f"ASSAY_TEST_DATABASE is {chosen!r}; it must be one of {', '.join(KEPT_IN)}."
        )
    return chosen


def folder_name(database: str) -> str:
    """Return the cache's name of the migrated data; a PostgreSQL reads its own version only."""
    return "data" if database == SQLITE else f"data-postgresql-{_programs().parent.name}"


def create(data_dir: Path) -> None:
    """Make an empty PostgreSQL in a data directory.

    Raises:
        LocalServerError: there is no PostgreSQL, or it failed; the text holds its output.
    """
    password = data_dir / PASSWORD
    password.touch(mode=0o600)
    password.write_text(secrets.token_hex(16), encoding="ascii")
    command = [str(_programs() / "initdb"), "-D", str(data_dir / KEPT_IN[POSTGRESQL])]
    command += ["-U", USER, "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8"]
    run(unprivileged([*command, "--no-locale", "--no-sync"]))


def launch_database(data_dir: Path, port: int) -> Database | None:
    """Start the PostgreSQL of a data directory and wait until it answers; None if it has none.

    Raises:
        LocalServerError: it ends, or does not answer in time.
    """
    data = data_dir / KEPT_IN[POSTGRESQL]
    if not data.is_dir():
        return None
    # fmt: off
    arguments = [
        str(_programs() / "postgres"), "-D", str(data), "-p", str(port),
        "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
        # Label Studio connects anew for every request: a connection that had compiled a query was
        # seen to take 1 s of CPU time and 109 MB, the others .02 s and 25 MB.
        "-c", "jit=off",
    ]
    # fmt: on
    log = data_dir / LOG
    with log.open("ab") as output:
        process = subprocess.Popen(
            # The kernel forgets whose child it is when the user changes: that comes first.
            unprivileged(tied(arguments)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    environment = {
        "DJANGO_DB": "default",
        "POSTGRE_NAME": NAME,
        "POSTGRE_USER": USER,
        "POSTGRE_PASSWORD": (data_dir / PASSWORD).read_text(encoding="ascii"),
        "POSTGRE_HOST": "127.0.0.1",
        "POSTGRE_PORT": str(port),
    }
    started = Database(environment, process)
    is_ready = [str(_programs() / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    deadline = time.monotonic() + START_TIMEOUT_S
    while subprocess.run(is_ready, check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            started.stop()
            raise LocalServerError(f"PostgreSQL does not start; its log is {log}:\n{tail(log)}")
        time.sleep(0.1)
    return started


def unprivileged(command: Sequence[str]) -> list[str]:
    """Return what to run in place of `command`, as PostgreSQL refuses to be run by root.

    The user of its package then runs it, who may pass through folders that only root may open.
    """
    if os.geteuid() != 0:
        return list(command)
    may_pass = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *may_pass, *command]


def run(command: Sequence[str]) -> None:
    """Run a command to its end.

    Raises:
        LocalServerError: it failed; the text holds its output.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LocalServerError(
            f"`{' '.join(command)}` failed with exit code {done.returncode}:\n"
            f"{done.stdout}{done.stderr}"
        )


def has_postgresql() -> bool:
    """Whether this machine has a PostgreSQL."""
    return bool(_installed())


def _programs() -> Path:
    """The folder of the newest PostgreSQL's programs."""
    if not (installed := _installed()):
        raise LocalServerError(
            "There is no PostgreSQL under /usr/lib/postgresql; `apt-get install postgresql` "
            "installs it."
        )
    return installed[-1]


def _installed() -> list[Path]:
    """The folders of programs of all versions, as Debian lays them out; the newest one last."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return sorted(found, key=lambda bin_: float(bin_.parent.name))
