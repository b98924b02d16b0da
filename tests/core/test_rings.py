"""Who may know whom, and that the core is pure."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = sorted((ROOT / "worker" / "core").rglob("*.py"))
CONNECTOR = sorted((ROOT / "connector").rglob("*.py"))
PURE = {"bisect", "collections", "dataclasses", "functools", "hashlib", "itertools", "math"}
PURE |= {"operator", "threading", "typing"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield node.module


def test_there_is_something_to_check():
    assert len(CORE) > 5
    assert CONNECTOR


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_imports_nothing_but_numpy_scipy_itself_and_the_pure_standard_library(path):
    foreign = {
        name
        for name in imported(path)
        if name.split(".")[0] not in PURE | {"numpy", "scipy"}
        and not name.startswith("worker.core.")
    }
    assert not foreign


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_draws_from_no_global_and_no_unseeded_generator(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
            assert node.attr in {"Generator", "default_rng"}
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.random.default_rng":
            assert node.args


@pytest.mark.parametrize("path", CONNECTOR, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_connector_never_imports_the_worker(path):
    assert not {name for name in imported(path) if name.split(".")[0] == "worker"}
