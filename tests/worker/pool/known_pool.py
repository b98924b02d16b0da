"""Assessments of a pool of which some items were annotated before they began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from worker.assessment import Assessment, assess
from worker.plan import Plan
from worker.plan.project_part import ID, LABEL, PREDICTED, SCORE
from worker.pool import compile_pool

CLASSES = ("cat", "dog", "cow")
RATE = {"cat": 0.95, "dog": 0.8, "cow": 0.6}


def truth_of(rng: np.random.Generator, n: int) -> tuple[list[str], list[float], list[str]]:
    """Predicted classes, scores and true classes of n items."""
    said = [CLASSES[i % 3] for i in range(n)]
    score = rng.uniform(0.4, 1.0, n)
    is_right = rng.random(n) < np.array([RATE[s] for s in said]) + 0.3 * (score - 0.7)
    true = [
        s if right else CLASSES[(CLASSES.index(s) + 1) % 3]
        for s, right in zip(said, is_right, strict=True)
    ]
    return said, score.round(4).tolist(), true


def assessment_of(
    folder: Path,
    said: list[str],
    score: list[float],
    known: list[str | None],
    use: str = "known",
    **parts: Any,
) -> Assessment:
    """An assessment of a project as it was read into a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "project-12-0123456789abcdef.parquet"
    columns = {
        ID: pa.array([str(i + 1) for i in range(len(said))]),
        PREDICTED: pa.array(said),
        SCORE: pa.array(score, pa.float64()),
        LABEL: pa.array(known, pa.string()),
        "text": pa.array([f"text {i}" for i in range(len(said))]),
    }
    pq.write_table(pa.table(columns), path)
    pool = {
        "predictions": path, "project": 12, "existing": use, "id": ID, "predicted": PREDICTED,
        "score": SCORE, "classes": CLASSES, "data": {"text": "text"}, "strata": 3,
        **parts.pop("pool", {}),
    }  # fmt: skip
    values = {"assessment": "full", "question": {"task": "identify"}, **parts, "pool": pool}
    plan = Plan.model_validate(values)
    return assess(plan, compile_pool(plan, folder / "pools"))


def labels_of_the_rest(work: Assessment, true: list[str], share: float) -> dict[str, int]:
    """A tally of the first items of every cell that has unknown ones, as they are offered."""
    tally: dict[str, int] = {}
    for cell in np.flatnonzero(work.pool.cell_open):
        rows = list(work.pool.rows_of(int(cell)))[: int(np.ceil(share * work.pool.cell_size[cell]))]
        for row in rows:
            item = work.pool.item(row)
            key = f"0:{cell}:{item.predicted}:{true[int(item.item_id) - 1]}"
            tally[key] = tally.get(key, 0) + 1
    return tally
