"""What is shipped, and what must never be in a file that git tracks."""

import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.machine import needs

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    assert version("assay") in path.name
    return zipfile.ZipFile(path).namelist()


def test_the_wheel_holds_both_packages_and_the_scripts_of_the_ledger(wheel):
    for name in ("connector/desk.py", "worker/turn/loop.py", "worker/core/posterior/summary.py"):
        assert name in wheel
    for script in (ROOT / "worker" / "store").glob("*.lua"):
        assert f"worker/store/{script.name}" in wheel


def test_the_wheel_holds_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"connector", "worker"}


def tracked() -> list[Path]:
    answer = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in answer.stdout.split("\0") if name]


@needs("git")
def test_no_file_names_a_package_registry_or_a_path_of_a_machine():
    forbidden = re.compile(
        r"pypi\." r"org|pythonhosted\." r"org|registry\." r"npmjs|deb\." r"debian|"
        r"(?<![\w.])/(?:root|home|work|Users)" r"/\w"
    )  # fmt: skip
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.name}: {match[0]}" for match in forbidden.finditer(text)]
    assert found == []


@needs("git")
def test_the_top_level_is_what_it_should_be():
    tops = {path.relative_to(ROOT).parts[0] for path in tracked()}
    visible = {top for top in tops if not top.startswith(".")}
    files = {"pyproject.toml", "README.md", "Makefile"}
    assert visible == files | {"connector", "worker", "tests", "deploy", "samples"}
