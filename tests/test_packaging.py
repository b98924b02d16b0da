"""What is shipped, and what must never be in a file that git tracks."""

import hashlib
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.machine import needs

ROOT = Path(__file__).parents[1]
PACKAGES = {"assay", "connector", "worker"}
# Of the text that the Apache Software Foundation publishes.
APACHE_2_0 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    assert version("assay") in path.name
    return path


@pytest.fixture(scope="module")
def files(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    name = f"assay-{version('assay')}.dist-info/METADATA"
    return Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode())


@needs("git")
def test_the_wheel_holds_all_of_the_packages_the_sample_and_nothing_else_at_its_top(files):
    own = {path.relative_to(ROOT).as_posix() for path in tracked()}
    packages = {name for name in own if name.split("/")[0] in PACKAGES}
    sample = {name for name in own if name.startswith("samples/digits/")} | {"samples/README.md"}
    expected = packages | {f"worker/{name}" for name in sample}
    held = {name for name in files if ".dist-info/" not in name}
    assert expected <= held
    assert {name.split("/")[0] for name in held} == PACKAGES


def test_a_source_distribution_builds_the_very_same_wheel(wheel, tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    # by tar: Python has no filter of what it unpacks before 3.11.4, and Debian 12 is older
    subprocess.run(["tar", "-xzf", str(path), "-C", str(tmp_path)], check=True)
    source = tmp_path / path.name.removesuffix(".tar.gz")

    subprocess.run([*build, "--target", "wheel"], cwd=source, check=True, capture_output=True)

    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
    # What the README's own steps name.
    assert (source / "deploy" / "constraints.txt").exists()


def test_the_licence_is_apache_2_0_word_for_word_and_travels_with_the_wheel(wheel, metadata):
    assert metadata["License-Expression"] == "Apache-2.0"
    name = f"assay-{version('assay')}.dist-info/licenses/LICENSE"
    for text in ((ROOT / "LICENSE").read_bytes(), zipfile.ZipFile(wheel).read(name)):
        assert hashlib.sha256(text).hexdigest() == APACHE_2_0


def test_the_metadata_say_what_an_index_shows_of_it(metadata):
    for field in ("Summary", "Author", "Keywords", "Requires-Python"):
        assert metadata[field]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Topic :: Scientific/Engineering :: Artificial Intelligence" in metadata.get_all(
        "Classifier", []
    )
    extras = metadata.get_all("Provides-Extra", [])
    deploying = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in extras if f"| `{extra}` |" not in deploying] == []


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
    files = {"pyproject.toml", "LICENSE", "README.md", "Makefile"}
    assert visible == files | PACKAGES | {"tests", "deploy", "samples"}
