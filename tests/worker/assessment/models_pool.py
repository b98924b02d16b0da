"""A small labelled pool that two or three models predict; made up, with fixed seeds."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.worker.simulate.simulated_pool import header_of
from worker.plan import Plan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLASSES = ("cat", "cow", "dog")
DOG = 2
TWO = {"old": 0.6, "new": 0.85}
COMPARE = {"task": "compare"}


def write_models(
    folder: Path, accuracies: dict[str, float], n: int = 400, seed: int = 1, regions: int = 2
) -> dict[str, str]:
    """Write `<model>.csv` for each model, and return item -> true class.

    A model's errors are its own, most of them "dog"; its scores are higher where it is right, and a
    little too high.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(CLASSES), size=n)
    region = rng.integers(regions, size=n)
    folder.mkdir(parents=True, exist_ok=True)
    for model, accuracy in accuracies.items():
        right = rng.random(n) < accuracy
        other = (truth + rng.integers(1, len(CLASSES), size=n)) % len(CLASSES)
        other = np.where((truth != DOG) & (rng.random(n) < 0.7), DOG, other)
        said = np.where(right, truth, other)
        score = np.clip(rng.normal(np.where(right, 0.85, 0.7), 0.1), 0.26, 0.99)
        columns = [CLASSES[k] for k in said], score, [CLASSES[k] for k in truth], region
        write_model(folder / f"{model}.csv", *columns)
    return {f"i{i}": CLASSES[k] for i, k in enumerate(truth.tolist())}


def write_model(
    path: Path, said: Sequence[str], score: Floats, truth: Sequence[str], region: Ints
) -> None:
    """Write what one model says of items i0, i1, ..., and what is known of them."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "image", "said", "sure", "truth", "region"])
        for i, (name, sure, true) in enumerate(zip(said, score, truth, strict=True)):
            image = f"http://images/{i}.png"
            rows.writerow([f"i{i}", image, name, f"{sure:.4f}", true, f"r{region[i]}"])


def values_of(models: list[str], question: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A plan as plain values."""
    named = [
        {"name": name, "predictions": f"{name}.csv", "predicted": "said", "score": "sure"}
        for name in models
    ]
    pool = {"data": {"image": "image"}, "classes": list(CLASSES)} | parts.pop("pool", {})
    return {
        "assessment": "models", "models": named, "pool": pool, "question": question, **parts,
    }  # fmt: skip


def plan_of(folder: Path, values: dict[str, Any]) -> Plan:
    """The plan, with its files in the folder."""
    return Plan.model_validate(values, context={"folder": folder})


__all__ = [
    "CLASSES",
    "COMPARE",
    "TWO",
    "header_of",
    "plan_of",
    "values_of",
    "write_model",
    "write_models",
]
