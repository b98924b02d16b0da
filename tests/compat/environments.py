"""Virtual environments with the libraries at one end of what `pyproject.toml` allows.

They lie in the user's cache folder, one for every interpreter and every pair of versions, so that
they are built once.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from connector.local import cache_folder

ROOT = Path(__file__).parents[2]
# What carries our state and our jobs; everything else stays as in deploy/constraints.txt.
LIBRARIES = ("redis", "rq")
# What the chosen tests import besides Assay's own dependencies.
TOOLS = ("pytest", "hypothesis", "trustme", "scikit-learn")

End = Literal["lowest", "newest"]


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that is ready."""

    python: Path
    version: str  # of Python
    libraries: dict[str, str]


def ranges() -> dict[str, str]:
    """What `pyproject.toml` allows of each of LIBRARIES, e.g. `redis` -> `>=6.4,<9`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {}
    for line in project["dependencies"]:
        named = re.match(r"([A-Za-z0-9_.-]+)(.*)", line)
        if named is not None and named[1] in LIBRARIES:
            found[named[1]] = named[2]
    return found


def versions(end: End) -> dict[str, str]:
    """The versions at one end: the floors as written, or the newest that the index has."""
    allowed = ranges()
    if end == "lowest":
        return {name: re.findall(r">=([0-9.]+)", text)[0] for name, text in allowed.items()}
    wanted = [name + text for name, text in allowed.items()]
    how = ("--dry-run", "--ignore-installed", "--no-deps", "--report", "-")
    plan = json.loads(_pip(Path(sys.executable), *how, *wanted))["install"]
    chosen = {one["metadata"]["name"]: one["metadata"]["version"] for one in plan}
    return {name: chosen[name] for name in allowed}


def pythons() -> dict[str, Path]:
    """Interpreters from 3.11 on, version -> program: on the path, or kept by pyenv."""
    places = [Path(folder) for folder in os.get_exec_path()]
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places += sorted(kept.glob("3.*/bin"))
    found: dict[str, Path] = {}
    for minor in range(11, 16):
        for place in places:
            program = place / f"python3.{minor}"
            # A shim of pyenv is there for versions that are not switched on, and fails.
            if program.exists() and _runs(program):
                found.setdefault(f"3.{minor}", program)
    return found


def ensure(python: Path, libraries: dict[str, str]) -> Environment:
    """Build the environment unless it is there.

    Raises:
        subprocess.CalledProcessError: pip could not install these versions together; its output
            has been shown.
    """
    version = _runs(python)
    assert version, f"{python} does not run"
    pins = [f"{name}=={number}" for name, number in libraries.items()]
    folder = cache_folder() / "compat" / "-".join([f"python-{version}", *pins])
    made = Environment(folder / "bin" / "python", version, libraries)
    if (folder / "complete").exists() and _runs(made.python):
        return made
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True)
    kept = [
        line
        for line in (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line.partition("==")[0] not in LIBRARIES
    ]
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(kept) + "\n", encoding="utf-8")
    _pip(made.python, "--constraint", str(constraints), *pins, *TOOLS, "--editable", str(ROOT))
    (folder / "complete").touch()
    return made


def _pip(python: Path, *arguments: str) -> str:
    command = [python, "-m", "pip", "install", "--quiet", "--no-input", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _runs(python: Path) -> str | None:
    """The interpreter's version, or None if it does not start."""
    command = [python, "-c", "import platform; print(platform.python_version())"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
