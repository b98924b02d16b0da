"""Who may know whom: an import goes down the layers only; and that the core is pure."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Bottom up. What is imported lazily, or for its types only, counts as well.
LAYERS = (
    "connector",
    "worker.errors",
    "worker.nearest",
    "worker.files",
    "worker.formats",
    *(
        f"worker.core.{name}"
        for name in (
            "prior",
            "soft_labels",
            "posterior",
            "reliability",
            "drift",
            "questions",
            "confidence_sequences",
            "stopping",
            "strategies",
            "crowd",
        )
    ),
    "worker.core",
    "worker.evaluator",
    "worker.store",
    "worker.metrics",
    "worker.plan",
    "worker.pool",
    "worker.evaluation",
    "worker.assessment",
    "worker.findings",
    "worker.turn",
    "worker.notices",
    "worker.service",
    "worker.setup",
    "worker.report",
    "worker.simulate",
    "worker.jobs",
    "worker.watcher",
    "worker.web",
    "worker.cli",
    "worker.notebook",
    "worker",
    "assay",
)
TOPS = ("connector", "worker", "assay")
SOURCES = [path for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))]
CORE = [path for path in SOURCES if path.is_relative_to(ROOT / "worker" / "core")]
PURE = {"bisect", "collections", "dataclasses", "functools", "hashlib", "itertools", "math"}
PURE |= {"operator", "threading", "typing", "numpy", "scipy"}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str) -> Iterator[str]:
    """Names of modules; of `from a import b` that of a.b, which is a itself if b is no module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(module: str) -> int:
    """The layer that a module lies in: of names that it begins with the longest."""
    fits = [n for n, name in enumerate(LAYERS) if f"{module}.".startswith(f"{name}.")]
    at = max(fits, key=lambda n: len(LAYERS[n]))
    assert LAYERS[at] != "worker" or module in ("worker", "worker.open"), f"{module} has no layer"
    return at


def upwards(module: str, source: str) -> list[str]:
    """What a module imports from above its own layer."""
    ours = [name for name in imported(source) if name.split(".")[0] in TOPS]
    return [f"{module} imports {name}" for name in ours if layer(name) > layer(module)]


def test_every_layer_holds_something():
    assert {layer(module_of(path)) for path in SOURCES} == set(range(len(LAYERS)))


def test_imports_go_down_the_layers_only():
    assert not [fault for path in SOURCES for fault in upwards(module_of(path), path.read_text())]


@pytest.mark.parametrize(
    "source",
    [
        "import worker.web.app",
        "from worker.web import app",
        "def later():\n    from worker.web.app import made",
        "if TYPE_CHECKING:\n    from worker.web.app import App",
    ],
)
def test_an_import_upwards_is_found_wherever_it_stands(source):
    assert upwards("worker.core.posterior.belief", source)
    assert not upwards("worker.cli.main", source)


def test_the_core_imports_nothing_but_numpy_scipy_itself_and_the_pure_standard_library():
    for path in CORE:
        names = {name for name in imported(path.read_text()) if not name.startswith("worker.core.")}
        assert {name.split(".")[0] for name in names} <= PURE, path


def test_the_core_draws_from_no_global_and_no_unseeded_generator():
    for path in CORE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
                assert node.attr in {"Generator", "default_rng"}, path
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.random.default_rng":
                assert node.args, path
