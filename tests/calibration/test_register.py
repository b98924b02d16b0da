"""No number is published that nobody tried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.calibration.documents import begun, documents, leaves
from tests.calibration.statistics import NAMES
from worker.findings.published import EXACT, PUBLISHED, is_exact, is_of, row_of, spelled
from worker.web.metrics import _GAUGES

ROOT = Path(__file__).parents[2]
Seen = dict[str, set[str]]
# Shown where a run has them; the assessments here have none.
RARE = ("metrics", "status retired.*")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Document -> the paths of all numbers that it shows, over all tasks and metrics."""
    found: Seen = {"metrics": set(_GAUGES)}
    for _, one in begun(tmp_path_factory.mktemp("documents")):
        for name, document in documents(one):
            found.setdefault(name, set()).update(path.lstrip(".") for path in leaves(document))
    return found


def every(shown: Seen) -> Iterator[tuple[str, str]]:
    return ((name, path) for name, paths in shown.items() for path in sorted(paths))


def test_every_number_that_is_shown_is_in_the_register_or_exact(shown):
    unknown = [
        f"{name}: {path}"
        for name, path in every(shown)
        if row_of(name, path) is None and not is_exact(name, path)
    ]
    assert not unknown, "put each in PUBLISHED, with what tries it, or in EXACT"


def test_no_number_is_both(shown):
    assert not [
        f"{name}: {path}"
        for name, path in every(shown)
        if row_of(name, path) and is_exact(name, path)
    ]


def test_every_row_of_the_register_is_shown_somewhere(shown):
    stale = [
        f"{document}: {pattern}"
        for row in PUBLISHED
        for document in row.documents
        for pattern in row.paths
        if not any(is_of(path, [pattern]) for path in shown[document])
    ]
    assert not stale


def test_every_row_names_what_tries_it_and_that_is_there():
    for row in PUBLISHED:
        assert row.tried_by, row.says
        for name in row.tried_by:
            assert name in NAMES or (ROOT / name).is_file(), f"{row.says}: {name}"


def test_a_new_number_is_not_let_pass():
    for document in ("decision", "report", "status", "notebook", "comparison", "metrics"):
        for path in ("surprise", "groups[].mean_of_something", "overall.sd", "items[].x"):
            assert row_of(document, path) is None
            assert not is_exact(document, path)


def test_braces_and_stars_mean_one_key():
    assert spelled("a.{b,c}.d") == ["a.b.d", "a.c.d"]
    assert is_of("x.y", ["x.*"])
    assert not is_of("x.y.z", ["x.*"])
    assert not is_of("x[].y", ["x.y"])
    assert all(isinstance(paths, str) for _, paths in EXACT)
