"""Installs a pinned Label Studio into a virtual environment of its own, in the cache folder.

Of its own, because Label Studio's pins of redis and rq differ from ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from connector.errors import ConnectorError
from connector.supervised import tied

# Another release is named to try Assay with it; every release has a folder of its own.
LABEL_STUDIO_VERSION = os.environ.get("ASSAY_LABEL_STUDIO_VERSION") or "1.23.2"

Say = Callable[[str], None]


class LocalServerError(ConnectorError):
    """The local Label Studio could not be installed, migrated or started."""


def quiet(_: str) -> None:
    """Say nothing: for callers who show no progress."""


def cache_folder() -> Path:
    """Return the folder for what can be made again: $XDG_CACHE_HOME/assay or ~/.cache/assay."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG rules say that a relative path is to be ignored.
    return (chosen if chosen.is_absolute() else Path.home() / ".cache") / "assay"


def release_folder() -> Path:
    """Return the part of the cache that belongs to the pinned release."""
    return cache_folder() / f"label-studio-{LABEL_STUDIO_VERSION}"


@contextmanager
def locked() -> Iterator[None]:
    """Hold the release's folder for ourselves; the kernel lets go when we die."""
    release_folder().mkdir(parents=True, exist_ok=True)
    with (release_folder() / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ensure_installed(say: Say = quiet) -> Path:
    """Install the pinned release unless it is there; return the path of its command.

    A virtual environment cannot be moved, so it is built in place and a marker is written last;
    one without the marker is what an interrupted run left behind, and is built anew.

    Raises:
        LocalServerError: the installation failed; the text holds the end of its output.
    """
    venv = _venv()
    command = venv / "bin" / "label-studio"
    if is_installed():
        return command
    with locked():
        if is_installed():
            return command
        say(f"Installing Label Studio {LABEL_STUDIO_VERSION} (once, a few minutes) ...")
        shutil.rmtree(venv, ignore_errors=True)
        log = release_folder() / "install.log"
        log.unlink(missing_ok=True)
        _run([sys.executable, "-m", "venv", str(venv)], log)
        # Of its thousands of modules those that are imported are compiled by the first start.
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--no-input", "--no-compile"]
        _run([*pip, f"label-studio=={LABEL_STUDIO_VERSION}"], log)
        (venv / "complete").touch()
    return command


def tail(log: Path, lines: int = 20) -> str:
    """Return the last lines of a log, to be shown in an error."""
    return "\n".join(log.read_text("utf-8", errors="replace").splitlines()[-lines:])


def is_installed() -> bool:
    """Whether the pinned release is there."""
    # A Python that was removed or upgraded leaves a dangling link behind.
    return (_venv() / "complete").exists() and (_venv() / "bin" / "python").exists()


def _venv() -> Path:
    return release_folder() / "venv"


def _run(command: list[str], log: Path) -> None:
    with log.open("ab") as output:
        process = subprocess.Popen(
            tied(command), stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # with what it started
        process.wait()
        raise
    if code:
        raise LocalServerError(
            f"`{' '.join(command)}` failed with exit code {code}. It needs Python 3.10 "
            f"or newer with venv, and a package index that pip can reach; the output is in "
            f"{log}:\n{tail(log)}"
        )
