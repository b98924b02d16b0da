"""The image of `deploy/Dockerfile`, built by buildah without a registry and without a container.

Its base is a Debian of mmdebstrap's, in place of Docker's; the packages are those that pip finds
from this machine, since a build in a chroot has none of its certificates and settings.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What python:3.11-slim has, and what makes a machine of it that systemd can start.
DEBIAN, PACKAGES = "bookworm", "python3,python3-venv,python-is-python3,ca-certificates,systemd,dbus"
# Of Python before 3.11.3, as Debian 12 has it, redis wants it; pip asks only for its own Python.
OF_OLD_PYTHON = "async-timeout==5.0.1"
BUILD_TIMEOUT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Image:
    """What was built, and the containers' storage that it is in."""

    store: Path
    container: str

    def run(self, *command: str, user: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in a chroot of the image, as its user, with its variables."""
        options = ["--isolation", "chroot"] + ([] if user is None else ["--user", user])
        return _buildah(self.store, "run", *options, self.container, "--", *command, check=False)

    def config(self, what: str) -> str:
        """One entry of its configuration, as a Go template names it."""
        done = _buildah(self.store, "inspect", "--format", f"{{{{{what}}}}}", self.container)
        return done.stdout.strip()

    def files(self) -> Path:
        """The folder that its files are in; what is changed there is changed in the image."""
        return Path(_buildah(self.store, "mount", self.container).stdout.strip())


@contextmanager
def built(folder: Path) -> Iterator[Image]:
    """Build it in `folder`, and take all that was mounted there away at the end."""
    base, wheels, store = folder / "base.tar", folder / "wheels", folder / "store"
    for home in (wheels, store):
        home.mkdir()
    _done("mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", DEBIAN, base)
    _download(wheels)
    pip = folder / "pip.conf"
    pip.write_text("[global]\nno-index = true\nfind-links = /wheels\n")
    try:
        scratch = _buildah(store, "from", "scratch").stdout.strip()
        _buildah(store, "add", "--quiet", scratch, base, "/")
        _buildah(store, "commit", "--quiet", "--rm", scratch, "localhost/base")
        _buildah(
            store, "bud", "--quiet", "--isolation", "chroot", "--pull-never", "--layers=false",
            "--volume", f"{wheels}:/wheels:ro", "--volume", f"{pip}:/etc/pip.conf:ro",
            "--build-arg", "BASE=localhost/base",
            "--file", ROOT / "deploy" / "Dockerfile", "--tag", "localhost/assay", ROOT,
        )  # fmt: skip
        name = _buildah(store, "from", "--pull-never", "localhost/assay").stdout.strip()
        yield Image(store, name)
    finally:
        _buildah(store, "umount", "--all", check=False)
        _buildah(store, "rm", "--all", check=False)


def _download(wheels: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    _done(
        sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels,
        "--constraint", ROOT / "deploy" / "constraints.txt",
        "--only-binary", ":all:", "--python-version", "3.11", *wanted, OF_OLD_PYTHON,
    )  # fmt: skip


def _buildah(
    store: Path, *arguments: str | Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    storage = ["--root", store / "root", "--runroot", store / "run", "--storage-driver", "vfs"]
    return _done("buildah", *storage, *arguments, check=check)


def _done(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False
    )
    assert not check or done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done
