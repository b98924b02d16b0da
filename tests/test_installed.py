"""The wheel in an empty environment: what the README says works there, far from any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.amount import IS_SHORT
from worker.cli.demo import SAMPLE

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 300.0

pytestmark = pytest.mark.slow  # ASSAY_SLOW installs all packages, from the index


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that holds Assay, and an empty folder to work in."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> str:
        """Run one of the environment's programs to its good end; return what it printed."""
        env = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.folder)}
        if IS_SHORT:  # Assay is the wheel's, the rest is what the tests have
            env["PYTHONPATH"] = sysconfig.get_paths()["purelib"]
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, f"{program} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def place(self, of: str) -> Path:
        """Where Python says that something is; `of` is an expression about `assay` and `demo`."""
        imports = "import assay; from worker.cli import demo"
        return Path(self.run("python", "-c", f"{imports}; print({of})").strip())


def install(folder: Path, *what: str) -> Installed:
    """Make an environment and install into it, with the versions of deploy/constraints.txt."""
    venv, work = folder / "venv", folder / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install", "--quiet"]
    constraints = ["--constraint", ROOT / "deploy" / "constraints.txt"]
    how = ["--no-deps", "--no-index"] if IS_SHORT else constraints
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*pip, *how, *what], env=env, check=True)
    return Installed(venv / "bin", work)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return install(folder, str(wheel))


def test_the_commands_of_the_readme_that_need_no_server_work(installed: Installed) -> None:
    rows = [f"i{n},{'cat' if n % 2 else 'dog'},0.{50 + n % 50},text {n}" for n in range(60)]
    truth = [f"i{n},{'cat' if n % 3 else 'dog'}" for n in range(60)]
    for name, head, lines in (
        ("predictions.csv", "item_id,predicted,score,text", rows),
        ("truth.csv", "item_id,label", truth),
    ):
        (installed.folder / name).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")

    assert version("assay") in installed.run("assay", "--version")
    installed.run("assay", "init", "predictions.csv")
    assert "60" in installed.run("assay", "check", "predictions.yaml")
    assert "confidence" in installed.run("assay", "explain", "stop")
    few = ("--runs", "2", "--processes", "1")
    assert "labels" in installed.run("assay", "plan-labels", "predictions.yaml", *few)
    page = ("--truth", "truth.csv:label", "--report", "page.html")
    installed.run("assay", "simulate", "predictions.yaml", *page, *few)
    assert "<svg" in (installed.folder / "page.html").read_text(encoding="utf-8")
    installed.run("assay", "status")


def test_the_demo_finds_its_sample_and_the_credit_of_its_images(installed: Installed) -> None:
    sample = installed.place("demo.SAMPLE")

    assert sample.is_relative_to(installed.programs.parent)
    assert "1,200" in installed.run("assay", "check", str(sample / "plan.yaml"))
    assert "CC BY 4.0" in (sample.parent / "README.md").read_text(encoding="utf-8")


def test_a_notebook_imports_it_from_where_it_is_installed(installed: Installed) -> None:
    assert installed.place("assay.__file__").is_relative_to(installed.programs.parent)
    assert str(installed.place("assay.__version__")) == version("assay")


def test_a_checkout_has_its_sample_at_the_top() -> None:
    assert SAMPLE == ROOT / "samples" / "digits"
    assert SAMPLE.exists()


@pytest.mark.long  # editables, which it is built with, comes from the index
def test_an_editable_install_is_the_checkout(tmp_path: Path) -> None:
    installed = install(tmp_path, "--editable", str(ROOT))

    assert installed.place("assay.__file__") == ROOT / "assay" / "__init__.py"
    assert installed.place("demo.SAMPLE") == ROOT / "samples" / "digits"
