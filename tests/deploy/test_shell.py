"""All shell in the project passes shellcheck: files, recipes of make, commands of containers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.machine import NEEDS, needs

ROOT = Path(__file__).parents[2]


def from_files() -> dict[str, str]:
    if not NEEDS["git"].is_there():
        return {}
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {}
    for name in names.split("\0"):
        path = ROOT / name
        if path.is_file() and (head := path.read_bytes()[:60]).startswith(b"#!") and b"sh" in head:
            found[name] = path.read_text(encoding="utf-8")
    return found


def from_compose() -> dict[str, str]:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))["services"]
    found = {}
    for name, service in services.items():
        for key in ("command", "entrypoint"):
            words = service.get(key, [])
            if isinstance(words, list) and words[:2] == ["sh", "-euc"]:
                found[f"compose {name} {key}"] = words[2]
        test = service.get("healthcheck", {}).get("test", [])
        if test[:1] == ["CMD-SHELL"]:
            found[f"compose {name} healthcheck"] = test[1]
    return {name: f"#!/bin/sh\n{text.replace('$$', '$')}\n" for name, text in found.items()}


def from_dockerfile() -> dict[str, str]:
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    runs = re.findall(r"^RUN ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    return {f"Dockerfile RUN {n}": f"#!/bin/sh\n{run}\n" for n, run in enumerate(runs)}


def from_makefile() -> dict[str, str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    recipes = re.findall(r"^\t((?:.*\\\n)*.*)$", text, re.MULTILINE)
    found = {}
    for n, recipe in enumerate(recipes):
        line = re.sub(r"\$\((\w+)\)", r'"${\1:?}"', recipe.lstrip("@-")).replace("$$", "$")
        found[f"Makefile {n}"] = f"#!/bin/sh\n{line}\n"
    return found


def from_pages() -> dict[str, str]:
    text = (ROOT / "deploy" / "operations.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return {f"operations {n}": f"#!/bin/sh\n{block}" for n, block in enumerate(blocks)}


SCRIPTS = from_files() | from_compose() | from_dockerfile() | from_makefile() | from_pages()


@needs("git")
def test_there_is_some_of_each_kind() -> None:
    assert ".ci/run" in SCRIPTS
    for kind in ("compose", "Dockerfile", "Makefile", "operations"):
        assert any(name.startswith(kind) for name in SCRIPTS), kind


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(SCRIPTS[name], encoding="utf-8")
    program = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([program, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
