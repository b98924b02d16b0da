"""Two models of a dozen classes, with more products of classes than a small pool may have cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.worker.assessment.models_pool import plan_of, values_of, write_model
from worker.assessment import Assessment, assess
from worker.plan import Plan
from worker.pool import compile_pool, models_cutting
from worker.pool.truth import read_truth
from worker.simulate.truths import outcomes

N_CLASSES, N_ITEMS = 12, 900
CLASSES = tuple(f"c{k:02d}" for k in range(N_CLASSES))
MODELS = ("old", "new")
IDENTIFY = {"task": "identify"}
ROWS = 60  # so that some products have cells of their own, and some share


@contextmanager
def at_most(cells: int) -> Iterator[None]:
    """Every view has at most so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models_cutting, "MOST_CELLS", cells)
        yield


def write_many(folder: Path, seed: int = 1, n: int = N_ITEMS, regions: int = 40) -> dict[str, str]:
    """Write `old.csv` and `new.csv`, and return item -> true class.

    Each model has an accuracy of its own in every class, from .3 to .95, and mistakes one class
    for any other; the scores tell a little of it.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(N_CLASSES, size=n)
    region = rng.integers(regions, size=n)
    folder.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        right = rng.random(n) < rng.uniform(0.3, 0.95, N_CLASSES)[truth]
        other = (truth + rng.integers(1, N_CLASSES, size=n)) % N_CLASSES
        said = np.where(right, truth, other)
        score = np.clip(rng.normal(np.where(right, 0.8, 0.7), 0.12), 0.1, 0.99)
        columns = [CLASSES[k] for k in said], score, [CLASSES[k] for k in truth], region
        write_model(folder / f"{model}.csv", *columns)
    return {f"i{i}": CLASSES[k] for i, k in enumerate(truth.tolist())}


def plan_of_many(folder: Path, question: dict[str, Any], **parts: Any) -> Plan:
    """The plan of these two models."""
    pool = {"classes": list(CLASSES)} | parts.pop("pool", {})
    return plan_of(folder, values_of(list(MODELS), question, pool=pool, **parts))


def assessed(
    folder: Path,
    question: dict,
    rows: int = ROWS,
    seed: int = 1,
    regions: int = 40,
    **parts: object,
) -> Assessment:
    if not (folder / "old.csv").exists():
        write_many(folder, seed, regions=regions)
    with at_most(rows):
        plan = plan_of_many(folder, question, **parts)
        return assess(plan, compile_pool(plan, folder / "pools"))


def truth_of(work: Assessment) -> np.ndarray:
    return outcomes(work, read_truth(work.plan, work.pool, "truth"))
