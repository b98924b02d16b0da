"""A small pool of three classes with probabilities, for what each metric asks of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from worker.plan import Plan
from worker.pool import Pool, compile_pool

CLASSES = ("cat", "dog", "cow")
N = 240


def write_predictions(folder: Path) -> Path:
    """Write predictions, as `p.parquet`, with all that any metric may need; return the folder."""
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet([0.6] * 3, N).astype(np.float32)
    table: dict[str, Any] = {f"p_{name}": probabilities[:, k] for k, name in enumerate(CLASSES)}
    table |= {
        "item_id": [f"i{n}" for n in range(N)],
        "region": [("north", "south")[n % 2] for n in range(N)],
        "animal": [CLASSES[int(k)] for k in rng.integers(0, 3, N)],
        "said": [CLASSES[int(k)] for k in probabilities.argmax(axis=1)],
        "sure": probabilities.max(axis=1),
        "text": [f"text {n}" for n in range(N)],
    }
    pq.write_table(pa.table(table), folder / "p.parquet")
    return folder


def plan_of(folder: Path, question: dict[str, Any], **parts: Any) -> Plan:
    pool = {
        "predictions": folder / "p.parquet",
        "probabilities": [f"p_{name}" for name in CLASSES],
        "data": {"text": "text"},
    }
    more = {key: parts.pop(key) for key in ("stop", "prior", "population") if key in parts}
    question = {"task": "estimate"} | question
    return Plan.model_validate(
        {"assessment": "a", "pool": pool | parts, "question": question} | more
    )


def pool_of(folder: Path, question: dict[str, Any], **parts: Any) -> Pool:
    return compile_pool(plan_of(folder, question, **parts), folder / "pools")
