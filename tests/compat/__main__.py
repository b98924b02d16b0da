"""`make compat`: what Assay was tried with, as a table; ends with 1 if anything failed.

`python -m tests.compat [libraries] [pythons] [servers] [label-studio]`; all of them by default.
What is not on this machine and cannot be fetched is left out, and said.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from tests.compat.environments import ROOT, Environment, ensure, pythons, versions
from tests.compat.servers import on_the_path, other_server, version_of, wheels_valkey
from worker.cli.doctor import OLDEST_LABEL_STUDIO

JOBS = (
    "tests/worker/service/test_jobs.py",
    "tests/worker/test_watcher.py",
    "tests/worker/service/test_server.py",
    "tests/worker/service/test_unfit_server.py",
)
# What speaks to the server and to RQ.
OURS = (
    *("tests/contract", *JOBS),
    *(
        "tests/scale/test_cluster.py",
        "tests/scale/test_failover.py",
        "tests/scale/test_sentinel.py",
    ),
)
# What stands on the language and on numpy.
WIDE = (
    *OURS,
    "tests/core/test_known_posteriors.py",
    "tests/worker/turn/test_reclaim.py",
    "tests/compat",
)
LIVE = (
    "tests/contract/test_desk.py",
    "tests/contract/test_desk_answers.py",
    "tests/contract/test_desk_alone.py",
    "tests/live/test_service.py",
)
FIRST_WITH_PERSONAL_TOKENS = (1, 17)
PERSONAL_TOKENS = (
    "tests/contract/test_desk_alone.py::TestLabelStudio::"
    "test_a_personal_access_token_works_as_well_as_a_legacy_one"
)


@dataclass(frozen=True, slots=True)
class Tried:
    """One row: what it was tried with, and how many tests passed, failed and were left out."""

    what: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    @property
    def line(self) -> str:
        skipped = f", {self.skipped} left out" if self.skipped else ""
        counts = f"{self.passed} passed, {self.failed} failed{skipped}"
        return f"| {self.what} | {counts} | {self.seconds:.0f} s |"


def libraries() -> Iterator[Tried]:
    """redis-py and RQ at both ends of what pyproject.toml allows."""
    for end in ("lowest", "newest"):
        made = ensure(Path(sys.executable), versions(end))
        yield _run(_named(made, end), made.python, OURS)


def interpreters() -> Iterator[Tried]:
    """Every other Python that is here, with the newest libraries."""
    for number, program in pythons().items():
        if number != f"{sys.version_info.major}.{sys.version_info.minor}":
            made = ensure(program, versions("newest"))
            yield _run(_named(made, "newest"), made.python, WIDE)


def servers() -> Iterator[Tried]:
    """The wheel's Valkey, and Redis 7 where it can be had."""
    other = other_server()
    if other is None:
        click.echo("No Redis: name one in ASSAY_TEST_SERVER, or run `apt-get update`.", err=True)
    for program in filter(None, (wheels_valkey(), other)):
        with tempfile.TemporaryDirectory() as folder:
            env = {"PATH": on_the_path(program, Path(folder))}
            yield _run(version_of(program), Path(sys.executable), (*OURS, "tests/promises"), env)


def label_studios() -> Iterator[Tried]:
    """The oldest release that works; the newest is what all other live tests run with."""
    oldest = ".".join(map(str, (*OLDEST_LABEL_STUDIO, 0)))
    env = {"ASSAY_LABEL_STUDIO_VERSION": os.environ.get("ASSAY_LABEL_STUDIO_VERSION", oldest)}
    release = env["ASSAY_LABEL_STUDIO_VERSION"]
    chosen, what = LIVE, f"Label Studio {release}"
    if tuple(map(int, release.split(".")[:2])) < FIRST_WITH_PERSONAL_TOKENS:
        chosen, what = (*LIVE, "--deselect", PERSONAL_TOKENS), f"{what}, legacy tokens only"
    yield _run(what, Path(sys.executable), chosen, env, marked="live")


PARTS = {
    "libraries": libraries,
    "pythons": interpreters,
    "servers": servers,
    "label-studio": label_studios,
}


def _named(made: Environment, end: str) -> str:
    kept = ", ".join(f"{name} {number}" for name, number in made.libraries.items())
    return f"Python {made.version}, {kept} ({end} allowed)"


def _run(
    what: str,
    python: Path,
    chosen: tuple[str, ...],
    more: Mapping[str, str] | None = None,
    marked: str = "not live",
) -> Tried:
    """Run tests with an interpreter; what fails is shown."""
    click.echo(f"{what} ...", err=True)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
        done = subprocess.run(
            [*command, "-m", marked, f"--junitxml={result}", *chosen],
            cwd=ROOT,
            env=os.environ | dict(more or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            click.echo(done.stdout, err=True)
        if not result.exists():  # pytest itself could not begin
            return Tried(what, 0, 1, 0, 0.0)
        told = next(ET.parse(result).getroot().iter("testsuite")).attrib
    failed = int(told["failures"]) + int(told["errors"])
    skipped = int(told["skipped"])
    passed = int(told["tests"]) - failed - skipped
    return Tried(what, passed, failed, skipped, float(told["time"]))


def main() -> int:
    """Run the named parts, or all."""
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        click.echo(f"{', '.join(unknown)}: there is {', '.join(PARTS)}.", err=True)
        return 2
    rows = [row for name in chosen for row in PARTS[name]()]
    click.echo("| tried with | tests | time |\n|---|---|---|")
    for row in rows:
        click.echo(row.line)
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
