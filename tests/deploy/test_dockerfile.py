"""The Dockerfile's steps, run as a script in a folder that stands for the image."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.amount import IS_SHORT

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
BUILD, _ = re.split(r"^FROM (?!.* AS )", TEXT, flags=re.MULTILINE)


def test_no_secret_and_nothing_but_the_code_is_copied_into_it() -> None:
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXT, re.MULTILINE)
    copied = {name for line in sources for name in line.split()}
    assert copied == {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "assay",
        "connector",
        "worker",
        "samples",
        "deploy/constraints.txt",
    }
    assert not re.search(r"^(ARG|ENV).*(TOKEN|SECRET|PASSWORD|KEY)", TEXT, re.MULTILINE)


@pytest.mark.slow
def test_its_steps_end_in_a_program_that_runs(tmp_path: Path) -> None:
    """The short form takes the packages of this environment; the long one installs them."""
    source, opt = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    for line in re.findall(r"^COPY (.+)$", BUILD, re.MULTILINE):
        *names, target = line.split()
        for name in names:
            place = source / target if target != "./" else source / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, place)
    (step,) = re.findall(r"^RUN ((?:.*\\\n)*.*)$", BUILD, re.MULTILINE)
    script = step.replace("/opt/assay", str(opt))
    if IS_SHORT:
        script = script.replace("pip install", "pip install --no-deps --no-build-isolation")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = shutil.which("python3") or "python3"
    if IS_SHORT:
        env["PYTHONPATH"] = sysconfig.get_paths()["purelib"]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python").symlink_to(python)
    env["PATH"] = f"{tools}:{env['PATH']}"

    done = subprocess.run(
        ["sh", "-euc", script], cwd=source, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    home = tmp_path / "home"
    said = subprocess.run(
        [opt / "bin" / "assay", "status"],
        cwd=tmp_path,
        env={
            "ASSAY_HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": env.get("PYTHONPATH", ""),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
